/** The admin page's goals for first paint, slow networks and processors, saves and many tabs. */
import { brotliCompressSync } from "node:zlib";
import type { BrowserContext, Page } from "playwright-core";
import { launchChromium, wholeChromium } from "../support/browser.ts";
import { measureBaseline } from "./admin-baseline.ts";
import { createMonitors } from "./admin-monitors.ts";
import { open, readLayoutShift, waitsWhileTyping } from "./admin-page.ts";
import { computeQuantile, medianOf } from "./process.ts";

type Browser = ReturnType<typeof launchChromium>;
type World = Awaited<ReturnType<typeof createMonitors>>;

const [few, many] = [77, 1_000];
const tabs = 10;
const viewport = { width: 1440, height: 900 };
/** “Slow 3G” of the browser's tools. */
const slow3g = { latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

export async function benchAdminGoals(rounds = Number(process.env["ADMIN_ROUNDS"] ?? 9)) {
  const browser = launchChromium(wholeChromium);
  try {
    await using small = await createMonitors(few);
    const visited = await rememberVisit(browser, small);
    console.log(`\nadmin: ${few} monitors, medians of ${rounds} rounds`);
    await measurePaints(browser, small.url, visited, rounds);
    await measureScript(small.url);
    await measureSlowNetwork(browser, small.url, visited);
    await measureSaves(browser, small, rounds);
    await measureTabs(browser, small);
    await using large = await createMonitors(many);
    console.log(`\nadmin: ${many} monitors at a quarter of the processor speed`);
    await measureSlowProcessor(browser, large);
  } finally {
    await browser.close();
  }
}

type State = Awaited<ReturnType<BrowserContext["storageState"]>>;

const openContext = (browser: Browser, storageState: State) =>
  browser.newContext({ viewport, storageState });

/** State of a browser in which the person was signed in before, without its cache. */
async function rememberVisit(browser: Browser, { url, storageState }: World): Promise<State> {
  const context = await openContext(browser, storageState);
  await open(await context.newPage(), url);
  const state = await context.storageState();
  await context.close();
  return state;
}

type Paints = { first: number; largest: number };

/** Opens a page in a browser without cache. */
async function readPaints(context: BrowserContext, url: string): Promise<Paints> {
  const page = await context.newPage();
  await open(page, url);
  const paints = await page.evaluate(
    () =>
      new Promise<Paints>((resolve) => {
        new PerformanceObserver((list) => {
          const [first] = performance.getEntriesByName("first-contentful-paint");
          const largest = list.getEntries().at(-1);
          if (first && largest) resolve({ first: first.startTime, largest: largest.startTime });
        }).observe({ type: "largest-contentful-paint", buffered: true });
      }),
  );
  await context.close();
  return paints;
}

async function measurePaints(browser: Browser, url: string, state: State, rounds: number) {
  const page = await (await openContext(browser, state)).newPage();
  await open(page, url);
  await using baseline = await measureBaseline(page, url);
  await page.context().close();
  const [own, floor]: [Paints[], Paints[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    own.push(await readPaints(await openContext(browser, state), url));
    floor.push(await readPaints(await openContext(browser, state), baseline.url));
  }
  for (const [name, key, goal] of [
    ["first paint", "first", 500],
    ["largest paint", "largest", 800],
  ] as const) {
    const [times, floors] = [own, floor].map((all) => all.map((paints) => paints[key]));
    if (times === undefined || floors === undefined) continue;
    const ratio = computeQuantile(times, 0.5) / computeQuantile(floors, 0.5);
    console.log(
      `${name}, nothing cached: ${medianOf(times)} (goal ≤ ${goal}), ${ratio.toFixed(1)} × a static page with the same rows, styles and data: ${medianOf(floors)}`,
    );
  }
}

async function measureScript(url: string) {
  const html = await (await fetch(url)).text();
  const script = /src="([^"]*main-[^"]*)"/.exec(html)?.[1] ?? "";
  const bytes = await (await fetch(url + script)).bytes();
  const size = brotliCompressSync(bytes).length / 1_000;
  console.log(`main script with Brotli: ${size.toFixed(1)} kB (goal ≤ 200)`);
}

async function measureSlowNetwork(browser: Browser, url: string, state: State) {
  const context = await openContext(browser, state);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.emulateNetworkConditions", { offline: false, ...slow3g });
  const rows = await open(page, url);
  const first = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
  );
  console.log(
    `on slow 3G, nothing cached: first paint ${first.toFixed(0)} ms (goal ≤ 5,000), rows ${rows.toFixed(0)} ms`,
  );
  await context.close();
}

/** Saves a monitor's name, and counts what the page reads in the second after the click. */
async function measureSaves(browser: Browser, world: World, rounds: number) {
  const context = await openContext(browser, world.storageState);
  const page = await context.newPage();
  await page.goto(`${world.url}/monitors/${world.first}`);
  const times: number[] = [];
  const reads: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const name = `Renamed ${round}`;
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill(name);
    const seen = page.evaluate(waitForHeading, name);
    let count = 0;
    const onRequest = (request: { method: () => string; url: () => string }) => {
      if (request.method() === "GET" && request.url().includes("/dashboard/")) count++;
    };
    page.on("request", onRequest);
    await page.getByRole("dialog").locator("button[type=submit]").click();
    times.push(await seen);
    await page.waitForTimeout(1_000);
    page.off("request", onRequest);
    reads.push(count);
  }
  console.log(
    `a save is visible after ${medianOf(times)} (goal ≤ 150), and reads at most ${Math.max(...reads)} resources (goal ≤ 3)`,
  );
  await context.close();
}

/** Runs in the page: milliseconds from the next click until the title has this text. */
const waitForHeading = (name: string) =>
  new Promise<number>((resolve) => {
    let clicked = Number.NaN;
    addEventListener("click", ({ timeStamp }) => (clicked = timeStamp), {
      capture: true,
      once: true,
    });
    const observer = new MutationObserver(() => {
      if (document.querySelector("h1")?.textContent !== name) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - clicked)));
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  });

/** Opens tabs of one browser, which share six connections and one stream. */
async function measureTabs(browser: Browser, world: World) {
  const context = await openContext(browser, world.storageState);
  const pages: Page[] = [];
  let last = Number.NaN;
  for (let index = 0; index < tabs; index++) {
    const page = await context.newPage();
    last = await open(page, world.url);
    await page.getByText("Live", { exact: true }).waitFor();
    pages.push(page);
  }
  const from = performance.now();
  await world.ask("PATCH", `/api/v1/monitors/${world.first}`, { name: "Seen everywhere" });
  const saved = performance.now();
  await Promise.all(
    pages.map((page) => page.getByText("Seen everywhere", { exact: true }).first().waitFor()),
  );
  console.log(
    `the last of ${tabs} tabs: first rows after ${last.toFixed(0)} ms; a save of ${(saved - from).toFixed(0)} ms is in all of them ${(performance.now() - saved).toFixed(0)} ms later`,
  );
  await context.close();
}

async function measureSlowProcessor(browser: Browser, world: World) {
  const context = await openContext(browser, world.storageState);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await open(page, world.url);
  const typed = await waitsWhileTyping(page, "service 12 berlin");
  const shift = await readLayoutShift(page);
  console.log(
    `slowest key in the filter to its picture: ${typed.slowest.toFixed(0)} ms (goal ≤ 100), longest task ${typed.longest}; layout shift: ${shift.toFixed(3)} (goal ≤ 0.02)`,
  );
  await context.close();
}
