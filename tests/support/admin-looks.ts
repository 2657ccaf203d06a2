/** Checks the look of admin pages: axe, widths and console errors. */
import { afterAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { moveTo, setTheme, selectPageFaults } from "./admin-world.ts";
import {
  measureOverflow,
  storePicture,
  findViolations,
  findColorViolations,
  type visitPage,
} from "./browser.ts";

const widths = [360, 768, 1440];

/** Charts follow the width of their box with a delay. */
const waitUntilSettled = (page: Page) =>
  page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth).catch(() => {});

/** Findings of axe in both themes. */
export async function findThemeViolations(page: Page): Promise<string[]> {
  await setTheme(page, "light");
  const light = await findViolations(page);
  await setTheme(page, "dark");
  return [...light, ...(await findColorViolations(page)).map((issue) => `dark ${issue}`)];
}

/** Findings of axe in both themes, and widths at which the page overflows. Stores screenshots. */
export async function findLookFlaws(page: Page, name: string): Promise<string[]> {
  const issues: string[] = [];
  const storeLookPicture = (kind: string) => storePicture(page, `admin-${name}-${kind}.png`);
  await setTheme(page, "light");
  for (const width of widths) {
    // The widest window is tall, so that axe examines the whole page.
    await page.setViewportSize({ width, height: width === 1440 ? 1_600 : 900 });
    await waitUntilSettled(page);
    const overflow = await measureOverflow(page);
    if (overflow > 0) issues.push(`${width} px wide: ${overflow} px too wide`);
    if (width !== 768) await storeLookPicture(`${width}-light`);
  }
  issues.push(...(await findThemeViolations(page)));
  await storeLookPicture("1440-dark");
  return issues;
}

/** A page, and a text that appears when it has loaded; default: any panel content. */
type PageToTest = readonly [path: string, ready?: string];

/** Defines one test per page: no findings and no console errors. All are shown in one window. */
export function defineLookTests(
  open: (path: string) => ReturnType<typeof visitPage>,
  pages: Record<string, () => PageToTest>,
) {
  describe("the pages", () => {
    let opened: Awaited<ReturnType<typeof visitPage>> | undefined;
    afterAll(() => opened?.[Symbol.asyncDispose]());

    test.each(Object.keys(pages))(
      "%s: axe finds nothing in either theme, and it fits three widths",
      async (name) => {
        const [path, ready] = pages[name]?.() ?? [""];
        if (opened === undefined) opened = await open(path);
        else await moveTo(opened.page, path);
        const { page, faults } = opened;
        await (ready === undefined ? page.locator(".panel:visible") : page.getByText(ready))
          .first()
          .waitFor();
        expect(await findLookFlaws(page, name)).toEqual([]);
        await opened.measureShifts();
        expect(selectPageFaults(faults)).toEqual([]);
      },
    );
  });
}
