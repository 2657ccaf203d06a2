/** Reloads the page, unless it is reloaded already: a browser without cookies would do it again and again. */
const [navigation] = performance.getEntriesByType("navigation");
if ((navigation as PerformanceNavigationTiming | undefined)?.type !== "reload") location.reload();

export {};
