/** Reloads the page, unless it was reloaded just now: without cookies, a browser would do it again and again. */
export function reloadOnce() {
  const [navigation] = performance.getEntriesByType("navigation");
  if ((navigation as PerformanceNavigationTiming | undefined)?.type !== "reload") location.reload();
}
