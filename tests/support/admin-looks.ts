/** Checks the look of admin pages: axe, widths and console errors. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { inTheme, ownFaults } from "./admin-world.ts";
import { overflowOf, keepPicture, violations, violationsOfColor, type visit } from "./browsing.ts";

const widths = [360, 768, 1440];

/** Charts follow the width of their box with a delay. */
const settled = (page: Page) =>
  page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth).catch(() => {});

/** Findings of axe in both themes. */
export async function violationsInThemes(page: Page): Promise<string[]> {
  await inTheme(page, "light");
  const light = await violations(page);
  await inTheme(page, "dark");
  return [...light, ...(await violationsOfColor(page)).map((issue) => `dark ${issue}`)];
}

/** Findings of axe in both themes, and widths at which the page overflows. Stores screenshots. */
export async function flawsOfLooks(page: Page, name: string): Promise<string[]> {
  const issues: string[] = [];
  const keep = (kind: string) => keepPicture(page, `admin-${name}-${kind}.png`);
  await inTheme(page, "light");
  for (const width of widths) {
    // The widest window is tall, so that axe examines the whole page.
    await page.setViewportSize({ width, height: width === 1440 ? 1_600 : 900 });
    await settled(page);
    const overflow = await overflowOf(page);
    if (overflow > 0) issues.push(`${width} px wide: ${overflow} px too wide`);
    if (width !== 768) await keep(`${width}-light`);
  }
  issues.push(...(await violationsInThemes(page)));
  await keep("1440-dark");
  return issues;
}

/** A page, and a text that appears when it has loaded; default: any panel content. */
type Place = readonly [path: string, ready?: string];

/** Defines one test per page: no findings and no console errors. */
export function testLooks(
  open: (path: string) => ReturnType<typeof visit>,
  places: Record<string, () => Place>,
) {
  test.each(Object.keys(places))(
    "%s: axe finds nothing in either theme, and it fits three widths",
    async (name) => {
      const [path, ready] = places[name]?.() ?? [""];
      await using opened = await open(path);
      const { page } = opened;
      await (ready === undefined ? page.locator(".panel:visible") : page.getByText(ready))
        .first()
        .waitFor();
      expect(await flawsOfLooks(page, name)).toEqual([]);
      await opened.shifts();
      expect(ownFaults(opened.faults)).toEqual([]);
    },
  );
}
