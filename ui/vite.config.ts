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
  "/values",
  "/ask",
  "/alerts",
  "/collections",
  "/media",
  "/session",
  "/storage",
  "/openapi.json",
  "/docs",
  "/redoc",
];

const service = process.env.SHOTLOG_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  base: "./",
  plugins: [svelte()],
  build: {
    target: "es2022",
    // Nothing is inlined, since the content policy allows files of the service alone. What is not needed at
    // first comes in files of its own: the other pages, languages that not everybody reads, and the charts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    rollupOptions: {
      output: { entryFileNames: "app.js", chunkFileNames: "[name].js", assetFileNames: "app[extname]" },
    },
  },
  // `npm run dev` talks to a service that runs beside it, and that takes writes from its own pages only.
  server: {
    proxy: Object.fromEntries(
      api.map((path) => [path, { target: service, changeOrigin: true, headers: { origin: service } }]),
    ),
  },
});
