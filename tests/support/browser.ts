/** Chromium for tests: pages, faults, layout shifts and axe. */
import { afterAll, describe } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type axe from "axe-core";
import type { RunOptions } from "axe-core";
import {
  type Browser as Chromium,
  type BrowserContextOptions,
  chromium,
  type Cookie,
  type Page,
  type PageScreenshotOptions,
} from "playwright-core";

/** The full Chromium with windows, used for measurements. */
export const wholeChromium = "/usr/bin/chromium";

/** The headless shell is the same engine without window drawing and needs a third of the CPU time. */
const headlessShell = ["/usr/bin/chromium-headless-shell", wholeChromium].find((path) =>
  existsSync(path),
);
/** A LAN host name of this machine. Unlike on loopback, browsers treat pages there as insecure contexts. */
export const lanName = "signalbox.lan";

const args = [
  `--host-resolver-rules=MAP ${lanName} 127.0.0.1`,
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A page of a test lives for seconds: compiling scripts to optimized code costs more CPU time than it saves. */
const unoptimized = "--js-flags=--single-threaded --no-opt --no-maglev";

const defaultViewport = { width: 1280, height: 720 };

/** Playwright's timeout: long, because busy machines are slow, but below the timeout of a test. */
const timeoutMs = 120_000;

/** Folder of screenshots for people. */
export const screenshots = join(import.meta.dir, "..", "..", "dist", "screenshots");

/** Stores a screenshot, except in a run of all tests (`SCREENSHOTS=no`). */
export async function storePicture(
  page: Page,
  name: string,
  options: Omit<PageScreenshotOptions, "path"> = {},
): Promise<void> {
  if (process.env["SCREENSHOTS"] === "no") return;
  await page.screenshot({ path: join(screenshots, name), ...options });
}

type IdlePage = { page: Page; origin: string; cookies: readonly Cookie[] };

export type Browser = ReturnType<typeof launchChromium>;

/**
 * Starts a browser with the first page. A timeout of a test kills its browser, so the next test
 * gets a new one.
 */
export function launchChromium(executablePath = headlessShell) {
  let browser: Promise<Chromium> | undefined;
  const isMeasured = executablePath === wholeChromium;
  const argsOfTests = isMeasured ? args : [...args, unoptimized];
  const getLivingBrowser = async () => {
    if (executablePath === undefined) throw new Error("There is no Chromium.");
    if (!(await browser)?.isConnected())
      browser = chromium.launch({ executablePath, args: argsOfTests });
    return (await browser) as Chromium;
  };
  let idle: IdlePage[] = [];
  return {
    newPage: async (options?: BrowserContextOptions) => (await getLivingBrowser()).newPage(options),
    newContext: async (options?: BrowserContextOptions) => {
      const context = await (await getLivingBrowser()).newContext(options);
      if (!isMeasured) await context.addInitScript(saveData);
      return context;
    },
    /** A page that an earlier test released at this origin, if possible of the same person. */
    idlePage: (origin: string, cookies: readonly Cookie[]): IdlePage | undefined => {
      const usable = idle.filter((one) => one.origin === origin && !one.page.isClosed());
      const found = usable.find((one) => Bun.deepEquals(one.cookies, cookies)) ?? usable[0];
      idle = idle.filter((one) => one !== found);
      return found;
    },
    releasePage: async ({ page, origin, cookies }: IdlePage) => {
      for (const event of ["pageerror", "console", "request", "load"] as const)
        page.removeAllListeners(event);
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.context().setOffline(false);
      idle.push({ page, origin, cookies });
    },
    closeIdlePages: async () => {
      await Promise.all(idle.splice(0).map(({ page }) => page.close()));
    },
    close: async () => (await browser)?.close(),
  };
}

/** A browser with a profile on disk, where Chromium caches compiled scripts. */
export async function launchStoredProfile(
  cookies: readonly Cookie[],
  options: BrowserContextOptions,
) {
  const directory = mkdtempSync(join(tmpdir(), "signalbox-profile-"));
  const launch = { executablePath: wholeChromium, args, ...options };
  const context = await chromium.launchPersistentContext(directory, launch);
  await context.addCookies(cookies);
  return {
    context,
    async [Symbol.asyncDispose]() {
      await context.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** One browser per test process: a new one would load and compile every script again. */
const sharedChromium = launchChromium();

/** Defines tests in Chromium; skips them with a warning without Chromium. */
export function describeInChromium(name: string, tests: (browser: Browser) => void) {
  if (headlessShell === undefined)
    return console.warn(`\nNOT TESTED: ${name}, because there is no Chromium.\n`);
  describe(`${name} in Chromium`, () => {
    tests(sharedChromium);
    afterAll(sharedChromium.closeIdlePages);
  });
}

export type VisitOptions = Pick<
  BrowserContextOptions,
  "viewport" | "colorScheme" | "reducedMotion"
> & {
  /** Cookies of the browser. */
  cookies?: Cookie[];
  /** Whether the admin page preloads its other scripts, which costs more CPU time than most tests. */
  preloads?: boolean;
  /**
   * Shows the address in a page that the same person has left open, instead of loading it; false if
   * that is not possible.
   */
  resume?: (page: Page) => Promise<boolean>;
};

/**
 * Opens an address in a browser that has only these cookies, and collects the page's errors and its
 * requests to other hosts. Reuses a page of an earlier test, in which the server's script is
 * already compiled.
 */
export async function visitPage(
  browser: Browser,
  address: string,
  {
    viewport = defaultViewport,
    colorScheme,
    reducedMotion,
    cookies = [],
    preloads = false,
    resume,
  }: VisitOptions = {},
  prepare?: (page: Page) => Promise<unknown>,
) {
  const { origin, hash } = new URL(address);
  // A URL that differs only in its fragment would not reload the page.
  const isShared = prepare === undefined && !preloads;
  const mayReuse = isShared && hash === "";
  const reused = mayReuse ? browser.idlePage(origin, cookies) : undefined;
  const isSame = Bun.deepEquals(reused?.cookies, cookies);
  const page = reused?.page ?? (await browser.newPage());
  const context = page.context();
  page.setDefaultTimeout(timeoutMs);
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("request", (request) => {
    const requested = new URL(request.url());
    if (!["data:", "blob:"].includes(requested.protocol) && requested.origin !== origin)
      faults.push(request.url());
  });
  if (reused === undefined) {
    await page.addInitScript(watchThePage);
    if (!preloads) await page.addInitScript(saveData);
  }
  await page.setViewportSize(viewport ?? defaultViewport);
  await page.emulateMedia({
    media: null,
    colorScheme: colorScheme ?? "light",
    reducedMotion: reducedMotion ?? "no-preference",
  });
  await prepare?.(page);
  if (resume !== undefined && isSame && (await resume(page))) faults.length = 0;
  else {
    await context.clearCookies();
    await context.addCookies(cookies);
    if (reused !== undefined) {
      await page.evaluate(() => void (window.name = "reused"));
      // Errors before this point belong to the previous page.
      page.once("framenavigated", () => void (faults.length = 0));
    }
    await page.goto(address, { waitUntil: "load" });
  }
  return {
    page,
    faults,
    /** Cumulative layout shift until now; blocked content is added to the faults. */
    async measureShifts(): Promise<number> {
      const { sum, blocked } = await page.evaluate(async () => {
        await document.fonts.ready;
        // Chromium reports a frame's layout in the next frame.
        for (let frame = 0; frame < 3; frame++)
          await new Promise((resolve) => requestAnimationFrame(resolve));
        const watched = globalThis as unknown as Watched;
        return { sum: watched.layoutShift(), blocked: watched.blocked };
      });
      faults.push(...blocked);
      return sum;
    },
    [Symbol.asyncDispose]: () =>
      isShared ? browser.releasePage({ page, origin, cookies }) : page.close(),
  };
}

type Watched = { layoutShift: () => number; blocked: string[] };

/** Runs in the page before its own scripts. */
function watchThePage() {
  if (window.name === "reused") {
    window.name = "";
    localStorage.clear();
    sessionStorage.clear();
  }
  // Browsers lack these features over plain HTTP on the LAN.
  for (const name of ["randomUUID", "subtle"]) Reflect.deleteProperty(Crypto.prototype, name);
  const watched = globalThis as unknown as Watched;
  let sum = 0;
  const add = (entries: PerformanceEntryList) => {
    for (const entry of entries) sum += (entry as PerformanceEntry & { value: number }).value;
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  watched.layoutShift = () => {
    add(observer.takeRecords());
    return sum;
  };
  watched.blocked = [];
  document.addEventListener("securitypolicyviolation", (event) =>
    watched.blocked.push(`${event.violatedDirective} blocked ${event.blockedURI}`),
  );
}

/** Runs in the page before its own scripts. */
const saveData = () =>
  Object.defineProperty(navigator, "connection", { value: { saveData: true } });

const axeSource = Bun.file(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir)).text();

/**
 * Findings of axe with its default rules: one line per element and rule. While a dialog is open, of
 * what is in front: the page behind it has a test of its own.
 */
export const findViolations = (page: Page, within?: string): Promise<string[]> =>
  runAxe(page, {}, within);

/** Findings of axe for the color rules: themes differ only in colors. */
export const findColorViolations = (page: Page, within?: string): Promise<string[]> =>
  runAxe(
    page,
    { runOnly: ["cat.color"], rules: { "color-contrast-enhanced": { enabled: false } } },
    within,
  );

async function runAxe(page: Page, options: RunOptions, within?: string): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) {
    // Bypasses the page's policy and Playwright's limits for long texts.
    const session = await page.context().newCDPSession(page);
    await session.send("Runtime.evaluate", { expression: await axeSource });
    await session.detach();
  }
  const found = await page.evaluate(
    ([options, within]) => {
      const front = [...document.querySelectorAll("[aria-modal], [role=listbox], [role=menu]")];
      const isCovered = document.querySelector("[aria-modal]") !== null;
      return (globalThis as unknown as { axe: typeof axe }).axe.run(
        within ?? (isCovered ? front : document),
        {
          resultTypes: ["violations"],
          ...options,
        },
      );
    },
    [options, within] as const,
  );
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`),
  );
}

/** Pixels by which the page is wider than its window. */
export const measureOverflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
