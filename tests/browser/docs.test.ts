/** The API reference at `/docs`. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  describeInChromium,
  measureOverflow,
  storePicture,
  findViolations,
  visitPage,
} from "../support/browser.ts";
import { createMachine } from "../support/machine.ts";

type Operations = Record<string, { summary: string; tags: string[] }>;

/** Every operation's summary and its address on the page, by tag. */
async function fetchOperations(url: string) {
  const { paths } = await (await fetch(`${url}/api/v1/openapi.json`)).json();
  const operations = Object.entries<Operations>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, tags }]) => {
      const tag = tags[0]?.toLowerCase().replaceAll(" ", "-") ?? "";
      return { tag, summary, hash: `tag/${tag}/${method.toUpperCase()}${path}` };
    }),
  );
  return Map.groupBy(operations, ({ tag }) => tag);
}

describeInChromium("the reference page", (browser) => {
  const box = createMachine();
  let url = "";
  // Its script is large, so one page serves all tests.
  let open: Awaited<ReturnType<typeof visitPage>>;
  beforeAll(async () => {
    ({ url } = await box.serve());
    open = await visitPage(browser, `${url}/docs`);
    await open.page.getByRole("heading", { name: "Signalbox API" }).waitFor();
  });
  afterAll(async () => {
    await open[Symbol.asyncDispose]();
    await box[Symbol.asyncDispose]();
  });

  test("leads back to the admin page, names the items of its lists, and offers no choice of authentication methods", async () => {
    const { page, faults } = open;
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByText("Selected Auth Type").first().waitFor({ state: "attached" });
    expect(await page.getByRole("button", { name: /Selected Auth Type/ }).count()).toBe(0);
    await page
      .getByRole("button", { name: /Shell Curl/ })
      .first()
      .click();
    await page.getByRole("region", { name: "Choices" }).getByRole("listbox").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    const back = page.getByRole("banner").getByRole("link", { name: "Signalbox" });
    expect(await back.getAttribute("href")).toBe("/");
    expect(faults).toEqual([]);
  });

  for (const [colorScheme, widths] of [
    ["light", [390, 1440]],
    // A theme changes only colors.
    ["dark", [1440]],
  ] as const)
    test(`is ${colorScheme} at widths of ${widths.join(" and ")} pixels, without errors or requests to another host`, async () => {
      const { page, faults } = open;
      await page.emulateMedia({ colorScheme });
      await page.locator(`body.${colorScheme}-mode`).waitFor();
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await page.evaluate(async () => void (await document.fonts.ready));
        await storePicture(page, `docs-${colorScheme}-${width}.png`);
        const scrolls = await page
          .getByRole("banner")
          .first()
          .evaluate((bar) => getComputedStyle(bar).position === "static");
        expect([width, scrolls]).toEqual([width, width < 1000]);
        expect([width, await measureOverflow(page)]).toEqual([width, 0]);
      }
      expect(faults).toEqual([]);
    });

  // Last, because each shown operation makes the page longer. Another test checks that every operation has a
  // tag of the document and a summary; the page derives addresses from both.
  test("has an address for each operation, also under a name of several words", async () => {
    const { page, faults } = open;
    await page.setViewportSize({ width: 1440, height: 900 });
    const tags = await fetchOperations(url);
    await page.emulateMedia({ colorScheme: "light" });
    await page.locator("body.light-mode").waitFor();
    for (const tag of ["incidents", "on-call-schedules"]) {
      const operations = tags.get(tag) ?? [];
      expect(operations.length).toBeGreaterThan(3);
      const [first] = operations;
      await page.goto(`${url}/docs#${first?.hash}`);
      await page.getByRole("heading", { name: first?.summary ?? "", exact: true }).waitFor();
      // Examples have the theme of the page.
      const example = page.locator(".request-card").first();
      const backgrounds = await example.evaluate((card) =>
        [card, document.body].map((element) =>
          getComputedStyle(element).getPropertyValue("--scalar-background-1"),
        ),
      );
      expect(backgrounds[0]).toBe(backgrounds[1] ?? "");
      const links = page.locator(`a[href*="#tag/${tag}/"]`);
      const listed = await links.evaluateAll((found) =>
        found.map((link) => ({
          hash: new URL((link as HTMLAnchorElement).href).hash.slice(1),
          text: link.textContent ?? "",
        })),
      );
      for (const { summary, hash } of operations) {
        const text = listed.find((link) => decodeURI(link.hash) === hash)?.text;
        expect([hash, text]).toEqual([hash, expect.stringContaining(summary)]);
      }
    }
    expect(faults).toEqual([]);
  });
});
