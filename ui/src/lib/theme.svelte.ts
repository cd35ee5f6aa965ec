// Light or dark, as the reader or their system wants it. `public/theme.js` has done the same before the
// first picture; this keeps it up.
import { keep, kept } from "./kept";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** `scheme` is what is shown; what draws by itself reads it to draw anew. */
export const theme = $state<{ chosen: Theme; scheme: "light" | "dark" }>({
  chosen: "system",
  scheme: "light",
});

const system = () => matchMedia("(prefers-color-scheme: dark)");

export function followTheme() {
  const read = () => {
    const before = kept<Theme>("theme", "system");
    theme.chosen = THEMES.includes(before) ? before : "system";
    show();
  };
  read();
  system().addEventListener("change", show);
  // Another tab may have chosen.
  addEventListener("storage", read);
}

export function choose(chosen: Theme) {
  keep("theme", chosen);
  theme.chosen = chosen;
  show();
}

function show() {
  const { chosen } = theme;
  const scheme = chosen === "system" ? (system().matches ? "dark" : "light") : chosen;
  document.documentElement.dataset.scheme = scheme;
  theme.scheme = scheme;
}
