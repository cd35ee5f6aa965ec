import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

const api = [
  "/health",
  "/schema",
  "/analyzers",
  "/videos",
  "/uploads",
  "/jobs",
  "/query",
  "/intervals",
  "/values",
  "/ask",
  "/alerts",
  "/bins",
  "/collections",
  "/media",
  "/session",
  "/storage",
  "/sample",
  "/inbox",
  "/activity",
  "/people",
  "/openapi.json",
  "/docs",
  "/redoc",
];

/** Smaller scripts are part of the scripts that need them: each has a cost in requests and compression. In bytes. */
const MIN_CHUNK = 2500;

/** Parts that several pages load on demand are one script: together they compress better. */
const SHARED = [
  "controls/Menu.",
  "controls/submission",
  "player/FrameImage.",
  "people/rename.ts",
  "people/RenamePerson.",
  "bins/BinPicker.",
  "video/comments/Comment",
  "video/comments/threads.ts",
].map((path) => `/src/${path}`);

const service = process.env.SHOTLOG_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  base: "./",
  // All components use runes, so that the page needs nothing of the older syntax.
  plugins: [svelte({ compilerOptions: { runes: true, discloseVersion: false } })],
  // The source of the package: what it exports is compiled for browsers without generators, and twice as large.
  resolve: { alias: { "tus-js-client": "tus-js-client/lib/browser/index.js" } },
  build: {
    target: "es2022",
    // Nothing is inlined, because the content policy allows only files of the service. Other pages, languages and charts
    // are separate chunks that load later.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    minify: "terser",
    terserOptions: { module: true, compress: { passes: 3 } },
    cssCodeSplit: false,
    rollupOptions: {
      output: {
        entryFileNames: "app.js",
        chunkFileNames: "[name].js",
        assetFileNames: "app[extname]",
        experimentalMinChunkSize: MIN_CHUNK,
        manualChunks: (id) => (SHARED.some((path) => id.includes(path)) ? "shared" : undefined),
        onlyExplicitManualChunks: true,
      },
    },
  },
  // `npm run dev` proxies a running service, which accepts writes only from its own origin.
  server: {
    proxy: Object.fromEntries(
      api.map((path) => [path, { target: service, changeOrigin: true, headers: { origin: service } }]),
    ),
  },
});
