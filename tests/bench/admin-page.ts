/** Measurements inside the admin page: first paint, loaded bytes, scrolling, typing and repaints. */
import type { BrowserContext, Cookie, Page } from "playwright-core";
import { launchStoredProfile } from "../support/browser.ts";
import { computeQuantile } from "./process.ts";

// Measurements inside the page. Functions that Chromium runs use no outer names.

type Watched = { rowsAt: Promise<number> };

/** Runs before the page: records when its first rows are painted. */
export function watchForRows() {
  const rowsAt = Promise.withResolvers<number>();
  Object.assign(globalThis, { rowsAt: rowsAt.promise });
  const observer = new MutationObserver(() => {
    if (document.querySelectorAll(".row-name").length < 5) return;
    observer.disconnect();
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      // The first task after the frame runs after its paint.
      port1.onmessage = () => rowsAt.resolve(performance.mark("rows").startTime);
      port2.postMessage(null);
    });
  });
  observer.observe(document, { childList: true, subtree: true });
}

/** Waits without polling, which would use the page's main thread. */
export const readTimeToRows = (page: Page): Promise<number> =>
  page.evaluate(() => (globalThis as unknown as Watched).rowsAt);

/** Milliseconds from the start of the navigation until the first rows are painted. */
export async function open(page: Page, url: string): Promise<number> {
  await page.addInitScript(watchForRows);
  await page.goto(url, { waitUntil: "commit" });
  return readTimeToRows(page);
}

export async function openInContext(context: BrowserContext, url: string): Promise<number> {
  const page = await context.newPage();
  const ms = await open(page, url);
  await page.close();
  return ms;
}

/** A profile in which Chromium has cached the page's compiled scripts. */
export async function createUsedProfile(
  url: string,
  cookies: readonly Cookie[],
  viewport: { width: number; height: number },
) {
  const profile = await launchStoredProfile(cookies, { viewport });
  for (let time = 0; time < 3; time++) await openInContext(profile.context, url);
  return profile;
}

export type Loaded = { scripts: string[]; script: number; data: number; decoded: number };

/** Bytes that a page without cache has loaded. */
export const measureLoaded = (page: Page): Promise<Loaded> =>
  page.evaluate(() => {
    const entries = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const buildTotal = (pattern: RegExp, size: "encodedBodySize" | "decodedBodySize") =>
      entries.filter(({ name }) => pattern.test(name)).reduce((sum, entry) => sum + entry[size], 0);
    const data = /\/dashboard\/(?!live)/;
    return {
      scripts: entries.map(({ name }) => name).filter((name) => name.endsWith(".js")),
      script: buildTotal(/\.js$/, "encodedBodySize"),
      data: buildTotal(data, "encodedBodySize"),
      decoded: buildTotal(data, "decodedBodySize"),
    };
  });

type LayoutShift = PerformanceEntry & { value: number; hadRecentInput: boolean };

/** Layout shift since the page was opened, except after input. */
export const readLayoutShift = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let sum = 0;
        new PerformanceObserver((list) => {
          for (const { value, hadRecentInput } of list.getEntries() as LayoutShift[])
            if (!hadRecentInput) sum += value;
        }).observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve(sum), 100);
      }),
  );

const summarize = (longest: number) => (longest === 0 ? "under 50 ms" : `${longest.toFixed(0)} ms`);

/** Scrolls through the whole list, a step per frame. */
export async function measureScrolling(page: Page, pixels = 250) {
  const { gaps, longest } = await page.evaluate(async (pixels) => {
    let longest = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
    });
    observer.observe({ type: "longtask" });
    const waitForFrame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
    const gaps: number[] = [];
    let before = await waitForFrame();
    while (scrollY + innerHeight < document.documentElement.scrollHeight - 1) {
      scrollBy({ top: pixels, behavior: "instant" });
      const now = await waitForFrame();
      gaps.push(now - before);
      before = now;
    }
    await waitForFrame();
    observer.disconnect();
    scrollTo({ top: 0, behavior: "instant" });
    return { gaps, longest };
  }, pixels);
  return { pixels, longest: summarize(longest), p99: computeQuantile(gaps, 0.99) };
}

type Typing = { longestTask: number; slowestKey: number };

/** Types into the search field and clears it. */
export async function waitsWhileTyping(page: Page, text: string) {
  await page.evaluate(() => {
    const typing: Typing = { longestTask: 0, slowestKey: 0 };
    Object.assign(globalThis, { typing });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        typing.longestTask = Math.max(typing.longestTask, duration);
    }).observe({ type: "longtask" });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        typing.slowestKey = Math.max(typing.slowestKey, duration);
    }).observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
  });
  await page.getByRole("searchbox", { name: "Filter monitors" }).focus();
  await page.keyboard.type(text, { delay: 90 });
  for (const _ of text) await page.keyboard.press("Backspace", { delay: 40 });
  // The list is filtered shortly after the last key.
  await page.waitForURL((url) => !url.searchParams.has("q"));
  await page.waitForTimeout(300);
  const { longestTask, slowestKey } = await page.evaluate(
    () => (globalThis as unknown as { typing: Typing }).typing,
  );
  return { longest: summarize(longestTask), slowest: slowestKey };
}

/** Number of visible rows and folders whose DOM changes during `act`, and the duration. */
export async function countRepaintedRows(page: Page, act: () => Promise<void>) {
  await page.evaluate(() => {
    const touched = new Set<Element>();
    Object.assign(globalThis, { touched });
    const list = document.querySelector(".monitors-list");
    if (list === null) throw new Error("There is no list.");
    new MutationObserver((records) => {
      for (const { target } of records) {
        const element = target instanceof Element ? target : target.parentElement;
        touched.add(element?.closest("[data-item]") ?? list);
      }
    }).observe(list, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  const from = performance.now();
  await act();
  const ms = performance.now() - from;
  await page.waitForTimeout(1_500);
  const counts = await page.evaluate(() => {
    const { touched } = globalThis as unknown as { touched: Set<Element> };
    const all = [...touched];
    return {
      rows: all.filter((element) => element.matches(".row")).length,
      heads: all.filter((element) => element.matches(".head")).length,
    };
  });
  return { ...counts, ms };
}
