// What the page's code is held to beyond its types: the recommended rules, each exception with its reason.
import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

/** The folders of `src`, in order: a folder imports only from those before it. */
const ROOMS = [
  "browser",
  "i18n",
  "api",
  "state",
  "controls",
  "player",
  "share",
  "jobs",
  "ingest",
  "library",
  "bins",
  "compare",
  "search",
  "ask",
  "alerts",
  "people",
  "video",
  "app",
];
const onlyFromRoomsBefore = ROOMS.slice(0, -1).map((room, place) => ({
  files: [`src/${room}/**`],
  rules: {
    "no-restricted-imports": [
      "error",
      {
        patterns: [
          {
            regex: `^(\\.\\./)+(${ROOMS.slice(place + 1).join("|")})/`,
            message: `src/${room} may only import from folders that precede it in ROOMS (eslint.config.js).`,
          },
        ],
      },
    ],
  },
}));

export default defineConfig(
  globalIgnores(["dist/", "src/api/schema.d.ts"]),
  js.configs.recommended,
  ts.configs.recommended,
  svelte.configs.recommended,
  svelte.configs.prettier,
  { languageOptions: { globals: globals.browser } },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  ...onlyFromRoomsBefore,
  {
    rules: {
      // `const { left, ...others }` is how a field is left out.
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      // Most sets and maps here are made and read within a function; Svelte's own are for what is shown.
      "svelte/prefer-svelte-reactivity": "off",
      // The space at the end of a block is dropped unless it is written as `{" "}`.
      "svelte/no-useless-mustaches": "off",
    },
  },
);
