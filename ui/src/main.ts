// Mounts the page, which uses only the public API and holds no credentials.
import { mount } from "svelte";
import App from "./App.svelte";
import "./app.css";
import { startLanguage } from "./lib/language.svelte";
import { followTheme } from "./lib/theme.svelte";

const target = document.getElementById("root");
followTheme();
void startLanguage().then(() => {
  target?.replaceChildren();
  if (target) mount(App, { target });
});
