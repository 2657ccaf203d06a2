/** The layout of the admin page on phones, tablets and wide windows, measured in boxes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { languageCookie } from "../../src/core/admin-languages.ts";
import { findRow, moveTo } from "../support/admin-world.ts";
import { describeInChromium, measureOverflow } from "../support/browser.ts";
import { pollUntil } from "../support/poll.ts";
import { replyAfter } from "../support/target.ts";
import { createLayoutWorld, troubled, waitUntilLoaded } from "../support/layout-world.ts";
import { findSmallTargets } from "../support/touch-targets.ts";

const phone = { width: 390, height: 844 };

/** Texts in the color of the background, on which browsers with forced colors put a box of the same color. */
const findHiddenTexts = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = "Canvas";
    const canvas = getComputedStyle(probe).color;
    probe.remove();
    return [...document.querySelectorAll("body *")]
      .filter((element) => {
        const { color, forcedColorAdjust } = getComputedStyle(element);
        const texts = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
        const isText = texts.some(({ textContent }) => textContent?.trim() !== "");
        return (
          isText && forcedColorAdjust === "auto" && color === canvas && element.checkVisibility()
        );
      })
      .map((element) => `${element.className}: ${element.textContent}`);
  });

/** Boxes whose content runs into the next box, because nothing clips or scrolls it. */
const findSpilledBoxes = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const isSpilled = (element: Element) => {
      const { overflowX, display } = getComputedStyle(element);
      return (
        overflowX === "visible" &&
        display !== "inline" &&
        element.clientWidth > 1 &&
        element.scrollWidth > element.clientWidth + 1
      );
    };
    return [...document.querySelectorAll("main *")]
      .filter((element) => element.closest("svg") === null && element.checkVisibility())
      .filter((element) => isSpilled(element) && ![...element.children].some(isSpilled))
      .map(({ className, textContent }) => `${className}: ${textContent}`);
  });

describeInChromium("the layout of the admin page", (browser) => {
  let world: Awaited<ReturnType<typeof createLayoutWorld>>;

  beforeAll(async () => {
    world = await createLayoutWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("on every page in German, main actions on phones are 44 px high and all other targets 24 px, forced colors hide no text, paper has no buttons, and no text runs into its neighbor", async () => {
    const [startsAt, endsAt] = [0, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
    const running = { title: "Now", startsAt, endsAt, monitorIds: [world.idOf("NAS")] };
    const { id } = await world.ask("POST", "/api/v1/maintenance-windows", running);
    const search = `/api/v1/monitors/${world.idOf("Search")}`;
    world.site.setReply(replyAfter(20), "/search");
    await world.ask("PATCH", search, { degradedAfterMs: 1 });
    await world.ask("POST", `${search}/check`);
    await using opened = await world.open(browser, "/settings");
    const { page } = opened;
    await page.getByRole("link", { name: "Organization", exact: true }).waitFor();
    const paths = await world.listPages(page);
    const { url } = world;
    await page.context().addCookies([{ name: languageCookie, value: "de", url }]);
    await page.reload();
    await page.getByRole("link", { name: "Organisation", exact: true }).waitFor();
    const flaws: string[] = [];
    for (const path of paths) {
      await page.setViewportSize(phone);
      await moveTo(page, path);
      await page.locator(":is(h1, .panel, .wall):visible").first().waitFor();
      await waitUntilLoaded(page);
      flaws.push(...(await findSmallTargets(page)).map((flaw) => `${path}: ${flaw}`));
      if ((await measureOverflow(page)) > 0) flaws.push(`${path} is too wide`);
      await page.emulateMedia({ forcedColors: "active" });
      flaws.push(...(await findHiddenTexts(page)).map((text) => `${path} hides ${text}`));
      await page.emulateMedia({ forcedColors: "none", media: "print" });
      const printed = page.locator(".shell-page main").locator(".mantine-Button-root, .dots");
      if ((await printed.filter({ visible: true }).count()) > 0)
        flaws.push(`${path} prints buttons`);
      await page.emulateMedia({ media: null });
      for (const width of [1024, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await waitUntilLoaded(page);
        const spilled = await findSpilledBoxes(page);
        flaws.push(...spilled.map((box) => `${path} at ${width} px: ${box}`));
      }
    }
    expect(flaws).toEqual([]);
    await world.ask("DELETE", `/api/v1/maintenance-windows/${id}`);
    await world.ask("PATCH", search, { degradedAfterMs: null });
    await world.ask("POST", `${search}/check`);
  });

  test("the HTML shows an outline of the frame until the script has rendered, to people who were signed in", async () => {
    await using opened = await world.open(browser, "/");
    const { page } = opened;
    await findRow(page, "Blog").waitFor();
    const outline = page.locator("#frame-outline");
    expect(await outline.count()).toBe(0);
    const loading = Promise.withResolvers<void>();
    await page.route("**/main-*", (route) => loading.promise.then(() => route.continue()));
    await page.reload({ waitUntil: "commit" });
    await outline.getByText("Signalbox").waitFor();
    loading.resolve();
    await findRow(page, "Blog").waitFor();
    expect(await outline.count()).toBe(0);
    await page.route("**/dashboard/session", (route) => route.fulfill({ status: 500 }));
    await page.reload();
    await page.getByText("Signalbox is not responding").waitFor();
    expect(await outline.count()).toBe(0);
    await page.evaluate(() => localStorage.clear());
    await page.unrouteAll();
    await page.goto(`${world.url}/monitors`, { waitUntil: "commit" });
    expect(await outline.isVisible()).toBe(false);
  });

  test("a menu takes the focus, and returns it to its button, from the first time on", async () => {
    await using opened = await world.open(browser, "/");
    const { page } = opened;
    await page.getByText("Live", { exact: true }).waitFor();
    const blog = findRow(page, "Blog").getByRole("button", { name: "Actions for Blog" });
    for (const button of [page.getByRole("button", { name: "Type", exact: true }), blog]) {
      expect(await button.getAttribute("aria-haspopup")).toBe("menu");
      await button.focus();
      await page.keyboard.press("Enter");
      await page.locator("[role=menu]:focus-within").waitFor();
      await page.keyboard.press("Escape");
      await page.locator("[role=menu]:visible").waitFor({ state: "detached" });
      await pollUntil(() => button.evaluate((element) => element.matches(":focus")), Boolean);
    }
  });

  test("an open menu stays open, with the focus, while the first monitor goes into maintenance", async () => {
    await using opened = await world.open(browser, "/");
    const { page } = opened;
    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Type", exact: true }).press("Enter");
    const menu = page.locator("[role=menu]:focus-within");
    await menu.waitFor();
    const [startsAt, endsAt] = [0, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
    const running = { title: "Now", startsAt, endsAt, monitorIds: [world.idOf("NAS")] };
    const { id } = await world.ask("POST", "/api/v1/maintenance-windows", running);
    await page.locator(".filters").getByText("1 maintenance").waitFor();
    expect(await menu.count()).toBe(1);
    await world.ask("DELETE", `/api/v1/maintenance-windows/${id}`);
  });

  test("on phones, the first screen has all problems with their actions, and a banner of one line", async () => {
    await using opened = await world.open(browser, "/", { viewport: phone });
    const { page } = opened;
    const section = page.getByRole("region", { name: /^Needs attention/ });
    for (const name of troubled) {
      const bar = await page.getByRole("navigation", { name: "Main" }).boundingBox();
      for (const action of [
        section.getByRole("button", { name: `Check now: ${name}` }),
        section.getByRole("link", { name: `Open: ${name}` }),
      ]) {
        const box = await action.boundingBox();
        expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0);
      }
    }
    const banner = page.getByRole("status").filter({ hasText: "is failing" });
    expect((await banner.boundingBox())?.height).toBeLessThanOrEqual(46);
    await section.getByRole("link", { name: "Open: Router" }).click();
    await page.waitForURL(`**/monitors/${world.idOf("Router")}`);
  });

  test("at every width, each incident in the list has a date, severity and duration", async () => {
    await using opened = await world.open(browser, "/incidents");
    const { page } = opened;
    const rows = page.locator(".incident-record[data-item]");
    await rows.nth(1).waitFor();
    for (const width of [360, 390, 768, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      for (const row of await rows.all()) {
        const texts = [
          row.getByText(/^(Minor|Major|Critical)$/),
          row.locator("time"),
          row.getByText(/^\d+\s(s|min)/),
        ];
        for (const text of texts) expect([width, await text.isVisible()]).toEqual([width, true]);
        const excess = await row.evaluate((one) => one.scrollWidth - one.clientWidth);
        expect([width, Math.max(0, excess)]).toEqual([width, 0]);
      }
    }
  });

  test("at 1024 × 768 with four problems, five monitors are visible, and problems have one height", async () => {
    await using opened = await world.open(browser, "/", { viewport: { width: 1024, height: 768 } });
    const { page } = opened;
    await page.getByRole("status").filter({ hasText: "is failing" }).waitFor();
    await findRow(page, "Sitemap").waitFor();
    const heights = await page
      .locator(".attention-row")
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
    expect(heights).toHaveLength(4);
    expect(new Set(heights).size).toBe(1);
    const ends = await page
      .locator(".monitors-list .row")
      .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().bottom));
    expect(ends.filter((end) => end <= 768).length).toBeGreaterThanOrEqual(5);
  });

  test("in wide windows the content is centered, and Monitors shows 30 days", async () => {
    const viewport = { width: 1920, height: 1080 };
    await using opened = await world.open(browser, "/", { viewport });
    const { page } = opened;
    const bars = page.getByRole("group", { name: /^Search, last 30 days, one bar a day/ });
    await bars.waitFor();
    expect(await bars.locator("i").count()).toBe(30);
    for (const path of ["/incidents", "/settings/profile", `/monitors/${world.idOf("Checkout")}`]) {
      await moveTo(page, path);
      await page.locator("h1").waitFor();
      const { left, right, start } = await page.evaluate(() => {
        const main = document.querySelector("main")?.getBoundingClientRect();
        const rail = document.querySelector(".rail")?.getBoundingClientRect();
        return { left: main?.left ?? 0, right: main?.right ?? 0, start: rail?.right ?? 0 };
      });
      expect(right - left).toBeLessThanOrEqual(1_440 + 56);
      expect(Math.abs(left - start - (1_920 - right))).toBeLessThanOrEqual(1);
      const search = page
        .getByRole("navigation", { name: "Main" })
        .getByRole("button", { name: /^Search/ });
      expect((await search.boundingBox())?.x).toBe(10);
    }
  });

  test("a toast covers no button", async () => {
    const viewport = { width: 1024, height: 768 };
    await using opened = await world.open(browser, "/", { viewport });
    const { page } = opened;
    await page.getByRole("button", { name: "Check now: Router" }).click();
    const toast = page.getByText("Checked Router");
    await toast.waitFor();
    const covered = await page.evaluate(() => {
      const box = document.querySelector(".toasts")?.getBoundingClientRect() ?? new DOMRect();
      return [...document.querySelectorAll("button, a.mantine-Button-root")]
        .filter((button) => {
          const { left, right, top, bottom } = button.getBoundingClientRect();
          return left < box.right && right > box.left && top < box.bottom && bottom > box.top;
        })
        .map((button) => button.textContent);
    });
    expect(covered).toEqual([]);
  });
});
