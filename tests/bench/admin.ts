import { existsSync } from "node:fs";
import type { BrowserContext, Page } from "playwright-core";
import { owner, findRow } from "../support/admin-world.ts";
import { launchChromium, wholeChromium } from "../support/browser.ts";
import { replyWith } from "../support/target.ts";
import { measureBaseline } from "./admin-baseline.ts";
import { benchAdminGoals } from "./admin-goals.ts";
import { measureInteractions } from "./admin-interactions.ts";
import { measureLargeAdmin } from "./admin-large.ts";
import { createMonitors } from "./admin-monitors.ts";
import {
  measureScrolling,
  type Loaded,
  measureLoaded,
  countRepaintedRows,
  open,
  readTimeToRows,
  createUsedProfile,
  waitsWhileTyping,
  watchForRows,
} from "./admin-page.ts";
import { traceMainThread } from "./main-thread.ts";
import { readCpuSeconds, medianOf, computeQuantile } from "./process.ts";

const rounds = Number(process.env["ADMIN_ROUNDS"] ?? 9);
const monitors = 1_000;

/** Measures the admin page with 1,000 monitors in 40 groups in real Chromium. */
export async function benchAdmin() {
  if (!existsSync(wholeChromium))
    throw new Error("This suite needs Chromium (Debian: apt-get install chromium).");
  await using snapshot = await createMonitors(monitors);
  const browser = launchChromium(wholeChromium);
  try {
    const options = { viewport: { width: 1440, height: 900 } };
    const signedIn = { ...options, storageState: snapshot.storageState };
    console.log(`admin: ${monitors} monitors in 40 groups, medians of ${rounds} rounds\n`);

    const first: number[] = [];
    let loaded: Loaded = { scripts: [], script: 0, data: 0, decoded: 0 };
    for (let round = 0; round < rounds; round++) {
      const context = await browser.newContext(signedIn);
      const page = await context.newPage();
      first.push(await open(page, snapshot.url));
      loaded = await measureLoaded(page);
      await context.close();
    }

    const { cookies } = snapshot.storageState;
    await using profile = await createUsedProfile(snapshot.url, cookies, options.viewport);
    const { context } = profile;
    const page = await context.newPage();
    await open(page, snapshot.url);
    await using baseline = await measureBaseline(page, snapshot.url);
    const [again, baselines]: [Opening[], Opening[]] = [[], []];
    const before = readCpuSeconds(snapshot.child.pid);
    for (let round = 0; round < rounds; round++) {
      again.push(await traceOpening(context, snapshot.url));
      baselines.push(await traceOpening(context, baseline.url));
    }
    const serverMs = ((readCpuSeconds(snapshot.child.pid) - before) * 1_000) / rounds;

    const entering: (Opening & { fromAnswer: number })[] = [];
    for (let round = 0; round < rounds; round++) {
      const stranger = await browser.newContext(options);
      entering.push(await measureSignIn(await stranger.newPage(), snapshot.url));
      await stranger.close();
    }
    const formatKb = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`;
    const msOf = (all: readonly Opening[]) => all.map(({ ms }) => ms);
    const workOf = (all: readonly Opening[]) => all.map(({ work }) => work);
    console.log(
      `from submitting the sign-in form to the first rows: ${medianOf(msOf(entering))} (goal ≤ 300), from its answer: ${medianOf(entering.map(({ fromAnswer }) => fromAnswer))}; processor time of the page's main thread: ${medianOf(workOf(entering))}`,
    );
    console.log(
      `the page opened again: ${medianOf(msOf(again))} (goal ≤ 300), ${formatRatio(msOf(again), msOf(baselines))} × a static page with the same rows, styles and data: ${medianOf(msOf(baselines))}`,
    );
    console.log(
      `processor time of its main thread: ${medianOf(workOf(again))}, ${formatRatio(workOf(again), workOf(baselines))} × that of the static page: ${medianOf(workOf(baselines))}; of the server: ${serverMs.toFixed(0)} ms`,
    );
    console.log(`opened for the first time, nothing kept: ${medianOf(first)}`);
    console.log(
      `data: ${formatKb(loaded.decoded)} (goal ≤ 300), ${formatKb(loaded.data)} of them on the wire`,
    );
    console.log(
      `first script load: ${formatKb(await countGzippedBytes(loaded.scripts))} as gzip (goal ≤ 235), ${formatKb(loaded.script)} as they came`,
    );

    const acts = new Map<string, { ms: number[]; work: number[] }>();
    const shifts: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const one = await context.newPage();
      const { found, shift } = await measureInteractions(one, snapshot.url, "Service 0 of Berlin");
      await one.close();
      shifts.push(shift);
      for (const { name, ms, work } of found) {
        const known = acts.get(name) ?? { ms: [], work: [] };
        acts.set(name, { ms: [...known.ms, ms], work: [...known.work, work] });
      }
    }
    console.log(
      "slowest click or key to its picture (goal ≤ 100), and the work of the main thread in it:",
    );
    for (const [name, { ms, work }] of acts)
      console.log(`  ${name}: ${medianOf(ms)}, processor time ${medianOf(work)}`);
    console.log(`layout shift meanwhile: ${Math.max(...shifts).toFixed(3)} (goal ≤ 0.02)`);

    const scrolled = await measureScrolling(page);
    console.log(
      `scrolling the whole list, ${scrolled.pixels} px a frame: longest task ${scrolled.longest} (goal: none over 50 ms), frames p99 ${scrolled.p99.toFixed(0)} ms`,
    );
    const typed = await waitsWhileTyping(page, "service 12 berlin");
    console.log(
      `typing in the search field: longest task ${typed.longest} (goal: none over 50 ms), slowest key to its picture ${typed.slowest.toFixed(0)} ms`,
    );
    const changed = await countRepaintedRows(page, async () => {
      snapshot.site.setReply(replyWith(502), "/checkout-0-0");
      await snapshot.ask("POST", `/api/v1/monitors/${snapshot.first}/check`);
      await findRow(page, "Service 0 of Berlin")
        .getByRole("img", { name: "Down", exact: true })
        .waitFor();
    });
    console.log(
      `a change of state repaints ${changed.rows} row (goal: 1) and ${changed.heads} folder's summary; ${changed.ms.toFixed(0)} ms after it was asked for`,
    );
    await page.close();
    await benchAdminGoals(rounds);
    await measureLargeAdmin(browser, 10_000);
  } finally {
    await browser.close();
  }
}

const formatRatio = (times: readonly number[], baselines: readonly number[]) =>
  (computeQuantile(times, 0.5) / computeQuantile(baselines, 0.5)).toFixed(1);

/** Duration, and CPU time of the page's main thread. */
type Opening = { ms: number; work: number };

async function traceOpening(context: BrowserContext, url: string): Promise<Opening> {
  const page = await context.newPage();
  const { result: ms, workIn } = await traceMainThread(page, () => open(page, url));
  await page.close();
  return { ms, work: workIn(0, ms) };
}

/** From submitting the form until the first rows are painted. */
async function measureSignIn(page: Page, url: string) {
  await page.addInitScript(watchForRows);
  await page.addInitScript(() =>
    addEventListener("submit", () => performance.mark("submitted"), { capture: true }),
  );
  await page.goto(url);
  await page.getByLabel("E-mail").fill(owner.email);
  await page.getByLabel("Password", { exact: true }).fill(owner.password);
  const { result: rows, workIn } = await traceMainThread(page, async () => {
    await page.keyboard.press("Enter");
    return readTimeToRows(page);
  });
  const { submitted, answered } = await page.evaluate(() => ({
    submitted: performance.getEntriesByName("submitted")[0]?.startTime ?? Number.NaN,
    answered:
      (performance.getEntriesByType("resource") as PerformanceResourceTiming[]).find(({ name }) =>
        name.endsWith("/dashboard/sign-in"),
      )?.responseEnd ?? Number.NaN,
  }));
  return { ms: rows - submitted, fromAnswer: rows - answered, work: workIn(submitted, rows) };
}

/** Transferred bytes of these files with gzip. */
async function countGzippedBytes(urls: readonly string[]): Promise<number> {
  const sizes = urls.map(async (url) => {
    const response = await fetch(url, {
      headers: { "Accept-Encoding": "gzip" },
      decompress: false,
    });
    return (await response.bytes()).length;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
