// What the page's code is held to beyond its types: the recommended rules, each exception with its reason.
import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

export default defineConfig(
  globalIgnores(["dist/", "src/lib/schema.d.ts"]),
  js.configs.recommended,
  ts.configs.recommended,
  svelte.configs.recommended,
  svelte.configs.prettier,
  { languageOptions: { globals: globals.browser } },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
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
