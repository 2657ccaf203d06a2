import { join } from "node:path";
import type { Page } from "playwright-core";
import { inTheme } from "./admin-world.ts";
import { overflowOf, screenshots, violations, violationsOfColor } from "./browsing.ts";

const widths = [360, 768, 1440];

/** What follows its box, such as a chart, has the new width a moment after it. */
const settled = (page: Page) =>
  page
    .waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, null, {
      timeout: 3_000,
    })
    .catch(() => {});

/** What axe finds in both themes, and where the page is wider than its window; kept as pictures. */
export async function flawsOfLooks(page: Page, name: string): Promise<string[]> {
  const issues: string[] = [];
  for (const scheme of ["light", "dark"] as const) {
    await page.setViewportSize({ width: 1440, height: 1_600 });
    await inTheme(page, scheme);
    const found = scheme === "light" ? violations(page) : violationsOfColor(page);
    issues.push(...(await found).map((issue) => `${scheme} ${issue}`));
    for (const width of scheme === "light" ? widths : [1440]) {
      await page.setViewportSize({ width, height: 900 });
      await settled(page);
      const overflow = await overflowOf(page);
      if (overflow > 0) issues.push(`${width} px wide: ${overflow} px too wide`);
      await page.screenshot({ path: join(screenshots, `admin-${name}-${width}-${scheme}.png`) });
    }
  }
  return issues;
}
