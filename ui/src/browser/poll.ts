/** Other users change what is loaded, too. */
const INTERVAL = 60_000;

/** Loads something now, and every minute and on return while the page is visible. */
export function poll(load: () => unknown) {
  const reload = () => !document.hidden && load();
  load();
  setInterval(reload, INTERVAL);
  document.addEventListener("visibilitychange", reload);
}
