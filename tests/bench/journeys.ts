import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Request } from "playwright-core";
import { adminPaths } from "../../src/http/responses/admin-page.ts";
import { ownFaults } from "../support/admin-world.ts";
import {
  launchChromium,
  overflowOf,
  screenshots,
  violations,
  violationsOfColor,
  watchThePage,
} from "../support/browsing.ts";
import {
  flawsOfTexts,
  layerOf,
  lostKeys,
  type Opener,
  openersOf,
  topLayer,
} from "../support/openers.ts";
import { showcase } from "../support/showcase.ts";

const allWidths = [390, 768, 1024, 1440];
const deepest = 3;
/** How the API reference goes on from there is its maker's. */
const deepestInReference = 1;
const shiftGoal = 0.02;
const pictures = join(screenshots, "journeys");

type World = Awaited<ReturnType<typeof showcase>>;
/** A page as it is after clicking these. */
type State = { path: string; clicks: readonly Opener[] };

/**
 * Looks at the page as a stern visitor: every route, and on it everything that any button, menu or bar opens,
 * and what those open, at each width in both themes; nobody lists what there is. `journeys 390 /incidents` narrows it.
 * A width that was broken off goes on with the page at which it was; without `dist/screenshots/journeys`, anew.
 */
export async function journeysSuite(only: readonly string[]) {
  const widths = allWidths.filter((width) => only.includes(String(width)));
  const paths = only.filter((one) => one.startsWith("/"));
  mkdirSync(pictures, { recursive: true });
  await using world = await showcase();
  await world.untilTroubled();
  const browser = launchChromium();
  const flaws = new Map<string, string>();
  try {
    for (const width of widths.length > 0 ? widths : allWidths) {
      const context = await browser.newContext({
        viewport: { width, height: width < 760 ? 844 : 900 },
        hasTouch: width < 760,
        reducedMotion: "reduce",
        permissions: ["clipboard-read", "clipboard-write"],
        storageState: world.storageState,
      });
      const progress = progressOf(width, paths.length === 0);
      const report = (flaw: string, where: string) => {
        progress.flaws.set(flaw, where);
        if (flaws.has(flaw)) return;
        flaws.set(flaw, where);
        console.log(`  ${where}: ${flaw}`);
      };
      for (const [flaw, where] of progress.flaws) report(flaw, where);
      const crawler = await crawl(context, world, width, progress, report);
      await crawler(paths);
      await context.close();
    }
  } finally {
    await browser.close();
  }
  console.log(`journeys: ${flaws.size} flaws`);
  if (flaws.size > 0) process.exitCode = 1;
}

type Progress = ReturnType<typeof progressOf>;

/** What a run at this width has been through; that of all pages is kept after each until all are done. */
function progressOf(width: number, isWhole: boolean) {
  const file = join(pictures, `progress-${width}.json`);
  const kept = isWhole && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const progress = {
    done: new Set<string>(kept.done),
    openersSeen: new Set<string>(kept.openersSeen),
    layersSeen: new Set<string>(kept.layersSeen),
    flaws: new Map<string, string>(kept.flaws),
  };
  return {
    ...progress,
    keep: () =>
      isWhole &&
      writeFileSync(
        file,
        JSON.stringify(
          Object.fromEntries(Object.entries(progress).map(([name, seen]) => [name, [...seen]])),
        ),
      ),
    end: () => isWhole && rmSync(file, { force: true }),
  };
}

async function crawl(
  context: BrowserContext,
  world: World,
  width: number,
  { done, openersSeen, layersSeen, ...progress }: Progress,
  report: (flaw: string, where: string) => void,
) {
  // What would change the world waits for ever: each state is seen as it would be at first.
  let held = 0;
  await context.route("**/*", (route) => {
    const request = route.request();
    if (request.method() === "GET" || /preview|\/look$/.test(request.url()))
      return route.fallback();
    held++;
  });
  await context.addInitScript(watchThePage);
  await context.addInitScript(() =>
    addEventListener("pagehide", (event) => event.stopImmediatePropagation(), true),
  );
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  let faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });

  const loading = new Set<Request>();
  page.on("request", (request) => {
    if (request.method() === "GET" && !request.url().includes("/dashboard/live"))
      loading.add(request);
  });
  const loaded = (request: Request) => void loading.delete(request);
  page.on("requestfinished", loaded);
  page.on("requestfailed", loaded);

  const known = new Set<string>();

  /** Until everything that was asked for has come and is drawn. */
  const settle = async () => {
    for (let quiet = 0, tries = 0; quiet < 2 && tries < 60; tries++) {
      await page.waitForTimeout(60);
      // What came from the browser's cache is not asked for, but has to be run, too.
      await page.evaluate(
        () => new Promise<unknown>((idle) => requestIdleCallback(idle, { timeout: 2_000 })),
      );
      quiet = loading.size === 0 ? quiet + 1 : 0;
    }
    await page.evaluate(() => document.fonts.ready);
  };

  async function go({ path, clicks }: State): Promise<boolean> {
    held = 0;
    loading.clear();
    await page.goto(`${world.url}${path}`);
    await settle();
    for (const click of clicks) if (!(await press(click))) return false;
    return true;
  }

  async function press({ key }: Opener): Promise<boolean> {
    await openersOf(page);
    const target = page.locator(`[data-opener=${JSON.stringify(key)}]`).first();
    if ((await target.count()) === 0) return false;
    try {
      if (key.includes("DIV.bars")) await page.keyboard.press("Shift").then(() => target.focus());
      else await target.click({ timeout: 3_000 });
    } catch {
      return false;
    }
    await settle();
    return true;
  }

  async function inspect({ path, clicks }: State, layer: string | null) {
    const name = [
      path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27,}/g, "id"),
      ...clicks.map(({ label }) => label),
    ]
      .join(" ")
      .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 90);
    const where = `${width} ${name}`;
    const say = (flaw: string) => report(flaw, where);
    const within = layer === null ? undefined : `[${topLayer}]`;
    if (clicks.length === 0) {
      const shift = await page.evaluate(() =>
        (globalThis as unknown as { layoutShift: () => number }).layoutShift(),
      );
      if (shift > shiftGoal) say(`shifts by ${shift.toFixed(3)}`);
    }
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await page.waitForTimeout(120);
      const found =
        theme === "light"
          ? await violations(page, width === 1440 ? undefined : within)
          : await violationsOfColor(page, within);
      for (const issue of found)
        say(`axe ${theme} ${issue.replaceAll(/id="[^"]*"/g, "").slice(0, 400)}`);
      await page.screenshot({
        path: join(pictures, `${name || "monitors"}-${width}-${theme}.png`),
        fullPage: layer === null,
      });
    }
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    const overflow = await overflowOf(page);
    if (overflow > 0) say(`${overflow} px too wide`);
    // How the reference lays its own texts out is its maker's.
    if (path !== "/docs") for (const flaw of await flawsOfTexts(page)) say(flaw);
    // Nobody types into a dialog while a menu of it is open: that takes the focus.
    const isTypedIn = layer === null || layer.startsWith("dialog ");
    const typed =
      isTypedIn && (width === 1440 || width === 390)
        ? await lostKeys(page, layer === null ? "main" : "[role=dialog]")
        : { fields: 0, lost: [] };
    for (const lost of typed.lost) say(lost);
    for (const fault of ownFaults(faults)) say(`console: ${fault}`);
    faults = [];
    return typed.fields > 0;
  }

  /** Pages of the same route that links lead to. */
  async function linked(): Promise<string[]> {
    const hrefs = await page.evaluate(() =>
      [...document.querySelectorAll("a[href^='/']")].map((link) => link.getAttribute("href") ?? ""),
    );
    return hrefs.filter((href) => templateOf(href) !== null);
  }

  return async (only: readonly string[]) => {
    const starts = startsOf(world).filter(
      (path) => only.length === 0 || only.some((one) => path.startsWith(one)),
    );
    for (const path of starts) known.add(templateOf(path) ?? path);
    const queue: State[] = [];
    let count = 0;
    async function explore(state: State) {
      if (!(await go(state))) return;
      const { path, clicks } = state;
      const here = page.url();
      const layer = await layerOf(page);
      if (clicks.length === 0) {
        count++;
        if (only.length === 0)
          for (const href of await linked()) {
            const template = templateOf(href) ?? href;
            if (known.has(template)) continue;
            known.add(template);
            queue.push({ path: href, clicks: [] });
          }
        if (await inspect(state, layer)) await go(state);
      }
      for (const opener of await openersOf(page)) {
        if (openersSeen.has(opener.key)) continue;
        openersSeen.add(opener.key);
        const before = new Set((await openersOf(page)).map(({ key }) => key));
        held = 0;
        if (await press(opener)) {
          const now = await layerOf(page);
          const opened = now === layer ? null : now;
          const fresh = (await openersOf(page)).filter(
            ({ key }) => !before.has(key) && !openersSeen.has(key),
          );
          const next = { path, clicks: [...clicks, opener] };
          const signature = opened ?? `${layer ?? path} after ${opener.label}`;
          const isNew = !layersSeen.has(signature) && (opened !== null || fresh.length > 0);
          if (isNew && new URL(page.url()).pathname === new URL(here).pathname) {
            layersSeen.add(signature);
            // What folds or changes on the page itself was looked at with it.
            if (now !== null) {
              count++;
              await inspect(next, now);
            }
            const most = path === "/docs" ? deepestInReference : deepest;
            if (fresh.length > 0 && next.clicks.length < most) queue.unshift(next);
          }
          if (opened !== null) await page.keyboard.press("Escape");
          await page.waitForTimeout(60);
          const after = await openersOf(page);
          const isRestored =
            held === 0 &&
            page.url() === here &&
            after.length === before.size &&
            (await layerOf(page)) === layer;
          if (isRestored) continue;
        }
        await go(state);
      }
    }

    for (const [number, path] of starts.entries()) {
      const page = `${number} ${templateOf(path) ?? ""}`;
      if (done.has(page)) continue;
      queue.push({ path, clicks: [] });
      for (let state = queue.shift(); state !== undefined; state = queue.shift())
        await explore(state).catch((error: Error) =>
          report(
            error.message,
            [width, state.path, ...state.clicks.map(({ label }) => label)].join(" "),
          ),
        );
      done.add(page);
      progress.keep();
    }
    progress.end();
    console.log(`${width}: ${count} states, ${layersSeen.size} of them with something open`);
    for (const one of [...layersSeen].sort()) console.log(`    ${one.slice(0, 120)}`);
  };
}

/** The route of an address, and what its query names; null for one that is not the admin page's. */
function templateOf(href: string): string | null {
  const url = new URL(href, "http://localhost");
  const route = adminPaths.find((path) =>
    new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`).test(url.pathname),
  );
  if (route === undefined) return null;
  const shown = route.includes(":section") ? url.pathname : route;
  return `${shown}?${[...url.searchParams.keys()].sort().join("&")}`;
}

/** Every route, with what stands for its parameters. */
function startsOf(world: World): string[] {
  const paths = adminPaths.flatMap((path) => {
    if (path === "/settings/:section" || path === "/set-up") return [];
    if (path === "/invitation")
      return [
        new URL(world.invitation, world.url).pathname + new URL(world.invitation, world.url).hash,
      ];
    const [, noun] = /^\/([a-z-]+)\/:id$/.exec(path) ?? [];
    if (noun === undefined) return [path];
    const id = world.records[noun as keyof World["records"]];
    if (id === undefined) throw new Error(`The showcase has no record for ${path}.`);
    return [`/${noun}/${id}`];
  });
  return [
    ...paths,
    `/incidents/${world.pastIncident}`,
    `/monitors/${world.managedMonitor}`,
    `/nothing/here`,
    `/status/${world.slug}`,
    `/status/${world.slug}/history`,
    "/docs",
  ];
}
