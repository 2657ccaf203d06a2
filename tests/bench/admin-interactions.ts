import type { Page } from "playwright-core";
import { findRow } from "../support/admin-world.ts";
import { readTimeToRows, watchForRows } from "./admin-page.ts";
import { traceMainThread } from "./main-thread.ts";

type Slow = { name: string; startTime: number; duration: number };

/** Runs before the page: records input delay of clicks and keys, and layout shifts. */
function watchInteractions() {
  const watched = { slow: [] as Slow[], shift: 0 };
  Object.assign(globalThis, { watched });
  type Timing = PerformanceEventTiming & { interactionId: number };
  new PerformanceObserver((list) => {
    for (const { name, startTime, duration, interactionId } of list.getEntries() as Timing[])
      if (interactionId > 0) watched.slow.push({ name, startTime, duration });
  }).observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
  type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean };
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries() as Shift[])
      if (!hadRecentInput) watched.shift += value;
  }).observe({ type: "layout-shift", buffered: true });
}

type Watched = { slow: Slow[]; shift: number };

/** Interactions with a page of many monitors, by name. */
const steps: Record<string, (page: Page, name: string) => Promise<unknown>> = {
  async filter(page, name) {
    await page.getByRole("searchbox", { name: "Filter monitors" }).click();
    await page.keyboard.type(name.slice(0, 9), { delay: 60 });
    await page.waitForURL(/[?&]q=/);
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => !url.searchParams.has("q"));
  },
  async "narrow to a state"(page) {
    const chip = page.locator(".filters .chip").filter({ hasText: /\bup$/ });
    await chip.click();
    await page.waitForURL(/status=up/);
    await chip.click();
    await page.waitForURL((url) => !url.searchParams.has("status"));
  },
  async "select rows"(page) {
    const boxes = page.locator(".row-check");
    await boxes.nth(1).click();
    await boxes.nth(8).click({ modifiers: ["Shift"] });
    await page.getByRole("toolbar").waitFor();
    await page.getByRole("button", { name: "Clear selection" }).click();
    await page.getByRole("toolbar").waitFor({ state: "detached" });
  },
  async "find in the palette"(page, name) {
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("combobox", { name: "Search and commands" }).waitFor();
    await page.keyboard.type(name.slice(0, 9), { delay: 60 });
    await page.getByRole("option", { name }).first().waitFor();
    await page.keyboard.press("Escape");
    await page
      .getByRole("combobox", { name: "Search and commands" })
      .waitFor({ state: "detached" });
  },
  async "open a monitor"(page, name) {
    await findRow(page, name).getByRole("link", { name }).click();
    await page.getByRole("region", { name: "Figures" }).waitFor();
  },
  async "choose a range"(page) {
    const ranges = page.getByRole("navigation", { name: "Time span" }).getByRole("link");
    await ranges.last().click();
    await page.waitForURL(/span=/);
  },
  async "open the editor and type"(page) {
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const field = page.getByRole("dialog").getByLabel("Name", { exact: true });
    await field.click();
    await page.keyboard.type(" again", { delay: 60 });
    for (const _ of " again") await page.keyboard.press("Backspace");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  },
};

/** Runs each interaction once on a fresh page: delay until the next paint, and CPU time. */
export async function measureInteractions(page: Page, url: string, monitor: string) {
  await page.addInitScript(watchForRows);
  await page.addInitScript(watchInteractions);
  const spans = new Map<string, [from: number, to: number]>();
  const { workIn } = await traceMainThread(page, async () => {
    await page.goto(url, { waitUntil: "commit" });
    await readTimeToRows(page);
    await findRow(page, monitor).waitFor();
    const readPageTime = () => page.evaluate(() => performance.now());
    for (const [name, act] of Object.entries(steps)) {
      const from = await readPageTime();
      await act(page, monitor);
      // The browser reports a paint after it was shown.
      await page.waitForTimeout(200);
      spans.set(name, [from, await readPageTime()]);
    }
  });
  const { slow, shift } = await page.evaluate(
    () => (globalThis as unknown as { watched: Watched }).watched,
  );
  const found = [...spans].map(([name, [from, to]]) => {
    const tasksWithin = slow.filter(({ startTime }) => startTime >= from && startTime < to);
    const work = tasksWithin.map(({ startTime, duration }) =>
      workIn(startTime, startTime + duration),
    );
    return {
      name,
      ms: Math.max(0, ...tasksWithin.map(({ duration }) => duration)),
      work: Math.max(0, ...work),
    };
  });
  return { found, shift };
}
