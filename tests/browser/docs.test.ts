import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium } from "playwright-core";
import { machine } from "../support/outside.ts";

const executablePath = "/usr/bin/chromium";
const screenshots = join(import.meta.dir, "..", "..", "dist", "screenshots");
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

type Operations = Record<string, { summary: string; tags: string[] }>;

/** Every operation's summary and the address under which the page shows it. */
async function operationsOf(url: string) {
  const { paths } = await (await fetch(`${url}/api/v1/openapi.json`)).json();
  return Object.entries<Operations>(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { summary, tags }]) => {
      const tag = tags[0]?.toLowerCase().replaceAll(" ", "-");
      return { summary, hash: `tag/${tag}/${method.toUpperCase()}${path}` };
    }),
  );
}

/** Opens the page and collects what it complains about (errors, warnings, blocked content) and asks of other hosts. */
async function visit(browser: Browser, url: string, options: BrowserContextOptions) {
  const page = await browser.newPage(options);
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (!["data:", "blob:"].includes(protocol) && origin !== url) faults.push(request.url());
  });
  await page.goto(`${url}/docs`);
  await page.getByRole("heading", { name: "Signalbox API" }).waitFor();
  return { page, faults };
}

if (existsSync(executablePath))
  describe("the reference page in Chromium", () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath, args });
    });
    afterAll(() => browser.close());

    test("shows every operation of the document under an address of its own", async () => {
      await using box = machine();
      const { url } = await box.serve();
      const { page, faults } = await visit(browser, url, {});
      const operations = await operationsOf(url);
      expect(operations.length).toBeGreaterThan(0);
      for (const { summary, hash } of operations) {
        await page.goto(`${url}/docs#${hash}`);
        await page.getByRole("heading", { name: summary, exact: true }).waitFor();
      }
      expect(faults).toEqual([]);
      await page.close();
    }, 180_000);

    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [390, 1440])
        test(`is ${colorScheme} at ${width} px, without a fault or another host`, async () => {
          await using box = machine();
          const { url } = await box.serve();
          const options = { colorScheme, viewport: { width, height: 900 } };
          const { page, faults } = await visit(browser, url, options);
          await page.waitForLoadState("networkidle");
          await page.screenshot({ path: join(screenshots, `docs-${colorScheme}-${width}.png`) });
          expect(await page.locator(`body.${colorScheme}-mode`).count()).toBe(1);
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          expect(overflow).toBe(0);
          expect(faults).toEqual([]);
          await page.close();
        }, 30_000);
  });
else
  console.warn(
    `\nNOT TESTED: the reference page, because there is no Chromium at ${executablePath}.\n`,
  );
