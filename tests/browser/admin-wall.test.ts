/** The wall view for TVs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { createAdminWorld, selectPageFaults } from "../support/admin-world.ts";
import {
  describeInChromium,
  measureOverflow,
  storePicture,
  findViolations,
  findColorViolations,
} from "../support/browser.ts";
import { replyWith } from "../support/target.ts";

/**
 * Whether any part of the wall is outside the screen, which can't be scrolled. Waits for its font
 * and its last update.
 */
const listHidden = (page: Page) =>
  page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    return [...document.querySelectorAll(".wall-head, .wall-card, .wall-tile, .wall-incidents")]
      .filter((element) => {
        const { bottom, right, top, left } = element.getBoundingClientRect();
        const [width, height] = [innerWidth + 1, innerHeight + 1];
        return bottom > height || right > width || top < 0 || left < 0 || right - left < 40;
      })
      .map((element) => element.className);
  });

describeInChromium("the wall", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  beforeAll(async () => {
    world = await createAdminWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("is legible from afar, shows down monitors first, and updates automatically", async () => {
    await using open = await world.open(browser, "/wall", { colorScheme: "light" });
    const { page } = open;
    await page.getByRole("heading", { name: "Everything is up" }).waitFor();
    // Dark, regardless of the browser's preference.
    await page.locator("html[data-mantine-color-scheme=dark]").waitFor({ state: "attached" });
    expect(await page.locator(".wall-tile h2").allTextContents()).toEqual([
      "Production",
      "Office",
      "Ungrouped",
    ]);
    world.site.setReply(replyWith(502), "/checkout");
    await world.ask("POST", `/api/v1/monitors/${world.idOf("Checkout")}/check`);
    await page.getByRole("heading", { name: "1 down" }).waitFor();
    const card = page.locator(".wall-card").filter({ hasText: "Checkout" });
    await card.getByText(/Down for/).waitFor();
    await card.getByText(/HTTP 502/).waitFor();
    const monitorId = world.idOf("Checkout");
    const incident = { title: "Checkout fails", severity: "major", monitorId };
    await world.ask("POST", "/api/v1/incidents", incident);
    await page.getByText("Checkout fails").waitFor();
    await page.getByRole("group", { name: "Monitors of Production, one bar each" }).focus();
    await page.keyboard.press("Home");
    const text = page.locator(".pop");
    await text.getByRole("link", { name: "Checkout fails" }).waitFor();
    expect(await text.locator("dt").allTextContents()).toEqual([
      "State",
      "Since",
      "For",
      "Reason",
      "24 hours",
    ]);
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.waitForTimeout(250);
    expect(await findViolations(page)).toEqual([]);
    for (const [width, height] of [
      [360, 780],
      [768, 1024],
      [1440, 900],
      [3840, 2160],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(150);
      expect([width, await measureOverflow(page), await listHidden(page)]).toEqual([width, 0, []]);
      await storePicture(page, `admin-wall-${width}-dark.png`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press("t");
    await page.locator("html[data-mantine-color-scheme=light]").waitFor({ state: "attached" });
    expect(await findColorViolations(page)).toEqual([]);
    await storePicture(page, "admin-wall-1440-light.png");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Monitors", exact: true }).waitFor();
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("wraps long names of groups instead of cutting them", async () => {
    const longNames = [
      "Databases & queues of production",
      "Backups and nightly jobs",
      "Zahlungsverkehr und Rechnungsstellung für Geschäftskunden",
      "Mail",
      "Warehouse",
      "Search",
    ];
    for (const name of longNames) await world.ask("POST", "/api/v1/monitor-groups", { name });
    await using open = await world.open(browser, "/wall", {
      viewport: { width: 1920, height: 1080 },
    });
    const { page } = open;
    await page.getByText("Backups and nightly jobs").waitFor();
    await storePicture(page, "admin-wall-long-names.png");
    await page.evaluate(async () => void (await document.fonts.ready));
    const cut = await page
      .locator(".wall-tile > div, .wall-tile h2 span, .wall-tile p")
      .evaluateAll((all) =>
        all
          .filter(({ scrollHeight, clientHeight, scrollWidth, clientWidth }) => {
            return scrollHeight > clientHeight + 1 || scrollWidth > clientWidth + 1;
          })
          .map(({ textContent }) => textContent),
      );
    expect(cut).toEqual([]);
    // Nine tiles are five and four, without a gap after the last one.
    const [grid, last] = await Promise.all(
      [".wall-tiles", ".wall-tile >> nth=-1"].map((part) => page.locator(part).boundingBox()),
    );
    expect(await page.locator(".wall-tile").count()).toBe(9);
    const rightEdges = [grid, last].map((box) => Math.round((box?.x ?? 0) + (box?.width ?? 0)));
    expect(rightEdges[0]).toBe(rightEdges[1] ?? 0);
  });

  test("fits forty groups completely", async () => {
    const result = Array.from({ length: 38 }, (_, index) =>
      world.ask("POST", "/api/v1/monitor-groups", { name: `Group ${index + 1}` }),
    );
    await Promise.all(result);
    await using open = await world.open(browser, "/wall");
    const { page } = open;
    await page.getByText("Group 38").waitFor();
    expect(await page.locator(".wall-tile").count()).toBe(47);
    expect(await listHidden(page)).toEqual([]);
    expect(open.faults).toEqual([]);
  });

  test("shows that it is stale while the server is stopped, recovers, and reloads after an upgrade", async () => {
    await using open = await world.open(browser, "/wall");
    const { page } = open;
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.context().setOffline(true);
    await page.getByText(/No connection. Last update:/).waitFor();
    // The server returns with another version of the page.
    let loads = 0;
    page.on("load", () => loads++);
    let upgraded = true;
    await page.route("**/wall", async (route) => {
      const isOld = upgraded && route.request().resourceType() === "fetch";
      const response = await route.fetch();
      const text = await response.text();
      if (!isOld) return route.fulfill({ response });
      upgraded = false;
      return route.fulfill({
        response,
        body: text.replace(/main-\w+\.js/, "main-newer.js"),
      });
    });
    const loaded = page.waitForEvent("load");
    await page.context().setOffline(false);
    await page.getByText(/No connection/).waitFor({ state: "detached" });
    await loaded;
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(loads).toBe(1);
  });
});
