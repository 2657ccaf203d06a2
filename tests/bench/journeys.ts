/** Visits every page of the admin page and the public page in each width and appearance, and lists what is wrong. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { selectPageFaults } from "../support/admin-world.ts";
import {
  findColorViolations,
  findViolations,
  launchChromium,
  measureOverflow,
  screenshots,
} from "../support/browser.ts";
import { createLayoutWorld, waitUntilLoaded } from "../support/layout-world.ts";
import { findSmallTargets } from "../support/touch-targets.ts";

const widths = [390, 768, 1024, 1440, 1920];
const appearances = {
  light: { colorScheme: "light", forcedColors: "none" },
  dark: { colorScheme: "dark", forcedColors: "none" },
  forced: { colorScheme: "dark", forcedColors: "active" },
} as const;
type Appearance = keyof typeof appearances;

/** Largest layout shift of a page that loads at a quarter of the CPU speed. */
const maxShift = 0.02;

export async function benchJourneys() {
  mkdirSync(join(screenshots, "journeys"), { recursive: true });
  await using world = await createLayoutWorld();
  const browser = launchChromium();
  const findings: string[] = [];
  try {
    const { page, faults } = await world.open(browser, "/settings");
    await page.getByRole("link", { name: "Organization", exact: true }).waitFor();
    const paths = await world.listPages(page);
    for (const path of paths)
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${world.url}${path}`);
        await page.locator(":is(h1, .panel, .wall):visible").first().waitFor();
        await waitUntilLoaded(page);
        findings.push(...(await lookAt(page, path, width)));
        findings.push(...selectPageFaults(faults.splice(0)).map((fault) => `${path}: ${fault}`));
      }
    const [status] = await world.ask("GET", "/api/v1/status-pages");
    const publicPaths = ["", "/history", "/subscribe"].map(
      (path) => `/status/${status.slug}${path}`,
    );
    for (const path of publicPaths)
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`${world.url}${path}`);
        findings.push(...(await lookAt(page, path, width)));
      }
    for (const path of [...paths, ...publicPaths])
      findings.push(...(await recordLayoutShifts(path)));
    console.log(
      `journeys: ${paths.length + publicPaths.length} pages, ${widths.length} widths, ${Object.keys(appearances).join(", ")}: ${findings.length} findings (goal 0)`,
    );
    for (const finding of new Set(findings)) console.log(`  ${finding}`);
  } finally {
    await browser.close();
  }

  /** Layout shift of a page that loads at a quarter of the CPU speed. */
  async function recordLayoutShifts(path: string): Promise<string[]> {
    await using opened = await world.open(browser, "/settings");
    const { page } = opened;
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.goto(`${world.url}${path}`);
    await page.locator(":is(h1, .panel, .wall):visible").first().waitFor();
    await waitUntilLoaded(page);
    const sum = await opened.measureShifts();
    await session.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    await session.detach();
    return sum > maxShift ? [`${path}: layout shift ${sum.toFixed(3)}, above ${maxShift}`] : [];
  }
}

/** Findings in each appearance. Axe runs once in a phone and a wide window, because widths between share their rules. */
async function lookAt(page: Page, path: string, width: number): Promise<string[]> {
  const found: string[] = [];
  for (const appearance of Object.keys(appearances) as Appearance[]) {
    await page.emulateMedia({ ...appearances[appearance], reducedMotion: "reduce" });
    await waitUntilLoaded(page);
    const overflow = await measureOverflow(page);
    if (overflow > 0) found.push(`${appearance}: ${overflow} px too wide`);
    if (width === 390 && appearance === "light") found.push(...(await findSmallTargets(page)));
    if (width === 390 || width === 1440) found.push(...(await examine(page, appearance)));
    const name = path.replaceAll(/\W+/g, "-").replace(/^-|-$/g, "") || "monitors";
    await page.screenshot({
      path: join(screenshots, "journeys", `${name}-${width}-${appearance}.png`),
    });
  }
  return found.map((finding) => `${path} at ${width} px, ${finding}`);
}

async function examine(page: Page, appearance: Appearance): Promise<string[]> {
  if (appearance === "forced") return [];
  const found = await (appearance === "light" ? findViolations(page) : findColorViolations(page));
  return found.map((finding) => `${appearance}: ${finding}`);
}
