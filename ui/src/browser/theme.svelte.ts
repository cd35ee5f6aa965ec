// The colour scheme, as chosen or as the system's. `public/theme.js` sets it before the first paint; this
// keeps it up to date.
import { savePreference, loadPreference } from "./preferences";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** `scheme` is the effective scheme; canvases depend on it to redraw. */
export const theme = $state<{ chosen: Theme; scheme: "light" | "dark" }>({
  chosen: "system",
  scheme: "light",
});

const system = () => matchMedia("(prefers-color-scheme: dark)");

export function followTheme() {
  const read = () => {
    const stored = loadPreference<Theme>("theme", "system");
    theme.chosen = THEMES.includes(stored) ? stored : "system";
    applyTheme();
  };
  read();
  system().addEventListener("change", applyTheme);
  // Another tab may have changed it.
  addEventListener("storage", read);
}

export function chooseTheme(chosen: Theme) {
  savePreference("theme", chosen);
  theme.chosen = chosen;
  applyTheme();
}

function applyTheme() {
  const { chosen } = theme;
  const scheme = chosen === "system" ? (system().matches ? "dark" : "light") : chosen;
  document.documentElement.dataset.scheme = scheme;
  theme.scheme = scheme;
}
