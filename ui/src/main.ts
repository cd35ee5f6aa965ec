// Mounts the page, which uses only the public API and holds no credentials.
import { mount } from "svelte";
import App from "./app/App.svelte";
import "./app/app.css";
import { startLanguage } from "./i18n/language.svelte";
import { followTheme } from "./browser/theme.svelte";

const target = document.getElementById("root");
followTheme();
void startLanguage().then(() => {
  target?.replaceChildren();
  if (target) mount(App, { target });
});
