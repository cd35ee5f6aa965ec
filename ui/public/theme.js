// Sets the chosen colour scheme, or the system's, before the first paint, which the page's own script would
// miss. `src/browser/theme.svelte.ts` takes over from here.
(() => {
  let chosen = null;
  try {
    chosen = JSON.parse(localStorage.getItem("shotlog.theme"));
  } catch {
    // Without storage, the system's scheme applies.
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = chosen === "light" || chosen === "dark" ? chosen : dark ? "dark" : "light";
  document.documentElement.dataset.scheme = scheme;
})();
