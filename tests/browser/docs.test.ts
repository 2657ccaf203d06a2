import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { BrowserContextOptions } from "playwright-core";
import {
  type Browser,
  hasChromium,
  launchChromium,
  overflowOf,
  screenshots,
  visit,
} from "../support/browsing.ts";
import { machine } from "../support/outside.ts";

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

/** The page once it has read the document. */
async function opened(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const open = await visit(browser, `${url}/docs`, options);
  await open.page.getByRole("heading", { name: "Signalbox API" }).waitFor();
  return open;
}

if (hasChromium)
  describe("the reference page in Chromium", () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(() => browser.close());

    test("shows every operation of the document under an address of its own", async () => {
      await using box = machine();
      const { url } = await box.serve();
      await using open = await opened(browser, url);
      const { page, faults } = open;
      const operations = await operationsOf(url);
      expect(operations.length).toBeGreaterThan(0);
      for (const { summary, hash } of operations) {
        await page.goto(`${url}/docs#${hash}`);
        await page.getByRole("heading", { name: summary, exact: true }).waitFor();
      }
      expect(faults).toEqual([]);
    }, 180_000);

    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [390, 1440])
        test(`is ${colorScheme} at ${width} px, without a fault or another host`, async () => {
          await using box = machine();
          const { url } = await box.serve();
          const options = { colorScheme, viewport: { width, height: 900 } };
          await using open = await opened(browser, url, options);
          const { page, faults } = open;
          await page.waitForLoadState("networkidle");
          await page.screenshot({ path: join(screenshots, `docs-${colorScheme}-${width}.png`) });
          expect(await page.locator(`body.${colorScheme}-mode`).count()).toBe(1);
          expect(await overflowOf(page)).toBe(0);
          expect(faults).toEqual([]);
        });
  });
else console.warn(`\nNOT TESTED: the reference page, because there is no Chromium.\n`);
