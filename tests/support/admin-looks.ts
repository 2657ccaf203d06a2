import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { inTheme, ownFaults } from "./admin-world.ts";
import { overflowOf, keepPicture, violations, violationsOfColor, type visit } from "./browsing.ts";

const widths = [360, 768, 1440];

/** What follows its box, such as a chart, has the new width a moment after it. */
const settled = (page: Page) =>
  page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth).catch(() => {});

/** What axe finds in both themes. */
export async function violationsInThemes(page: Page): Promise<string[]> {
  await inTheme(page, "light");
  const light = await violations(page);
  await inTheme(page, "dark");
  return [...light, ...(await violationsOfColor(page)).map((issue) => `dark ${issue}`)];
}

/** What axe finds in both themes, and where the page is wider than its window; kept as pictures. */
export async function flawsOfLooks(page: Page, name: string): Promise<string[]> {
  const issues: string[] = [];
  const keep = (kind: string) => keepPicture(page, `admin-${name}-${kind}.png`);
  await inTheme(page, "light");
  for (const width of widths) {
    // The widest is tall, so that axe sees all of it.
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

/** A page, and a text that stands on it once it is complete; without one, anything in a panel. */
type Place = readonly [path: string, ready?: string];

/** A test for each of these pages: no flaws of looks, and no complaints. */
export function testLooks(
  open: (path: string) => ReturnType<typeof visit>,
  places: Record<string, () => Place>,
) {
  test.each(Object.keys(places))(
    "%s: axe finds nothing in either theme, it fits three widths and is kept as pictures",
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
