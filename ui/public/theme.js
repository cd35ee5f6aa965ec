// The scheme that the reader has chosen, or that of the system, before anything is drawn: the page's own
// script comes only after the first picture. `src/lib/theme.svelte.ts` goes on from here.
(() => {
  let chosen = null;
  try {
    chosen = JSON.parse(localStorage.getItem("shotlog.theme"));
  } catch {
    // A browser that keeps nothing is asked what the system has.
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = chosen === "light" || chosen === "dark" ? chosen : dark ? "dark" : "light";
  document.documentElement.dataset.scheme = scheme;
})();
