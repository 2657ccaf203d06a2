/** The layout of the admin page on phones, tablets and wide windows, measured in boxes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { adminPaths } from "../../src/http/responses/admin-page.ts";
import { createAdminWorld, findRow } from "../support/admin-world.ts";
import { describeInChromium, measureOverflow } from "../support/browser.ts";
import { pollUntil } from "../support/journey-world.ts";
import { replyWith } from "../support/target.ts";
import { findSmallTargets } from "../support/touch-targets.ts";

const phone = { width: 390, height: 844 };
const troubled = ["Checkout", "Web shop", "Router", "Blog"];

/** Pages without a session. */
const entrances = ["/sign-in", "/set-up", "/invitation"];

/** Waits until the page has had the same number of elements for 20 frames. Its stream never ends. */
const waitUntilLoaded = (page: Page) =>
  page.evaluate(async () => {
    let [count, since] = [0, 0];
    while (since < 20) {
      await new Promise(requestAnimationFrame);
      const next = document.querySelectorAll("*").length;
      since = next === count ? since + 1 : 0;
      count = next;
    }
  });

describeInChromium("the layout of the admin page", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  const ids: Record<string, string> = {};
  const create = (path: string, body?: object) => world.ask("POST", `/api/v1${path}`, body);

  beforeAll(async () => {
    world = await createAdminWorld();
    const { site, idOf } = world;
    ids["monitors"] = idOf("Checkout");
    for (const name of ["Images", "Sitemap"])
      await create("/monitors", {
        type: "http",
        name,
        url: site.at("/fine"),
        groupId: world.production.id,
      });
    const channels = [];
    for (const [name, path] of [
      ["On-call", "/hook"],
      ["Bereitschaft im Leitstand Süd", "/broken"],
    ])
      channels.push(
        (await create("/alert-channels", { type: "webhook", name, url: site.at(path) })).id,
      );
    ids["alert-channels"] = channels[0];
    site.setReply(replyWith(500), "/broken");
    for (const name of troubled) {
      const path = `/monitors/${idOf(name)}`;
      await world.ask("PATCH", `/api/v1${path}`, { alertChannelIds: channels });
      site.setReply(replyWith(502), `/${name.toLowerCase().replaceAll(" ", "-")}`);
      await create(`${path}/check`);
    }
    const from = new Date(Date.now() + 3_600_000).toISOString();
    const until = new Date(Date.now() + 7_200_000).toISOString();
    ids["maintenance"] = (
      await create("/maintenance-windows", { title: "Upgrade", startsAt: from, endsAt: until })
    ).id;
    ids["incidents"] = (
      await create("/incidents", {
        title: "Card payments are slow for some customers in Germany and Austria",
        message: "We are looking.",
        severity: "major",
        monitorIds: [idOf("Checkout")],
      })
    ).id;
    const past = await create("/incidents", { title: "Search found nothing", message: "Looking." });
    await create(`/incidents/${past.id}/resolve`);
    const listAlerts = () => world.ask("GET", "/api/v1/alerts");
    ids["alerts"] = (await pollUntil(listAlerts, (alerts) => alerts.length > 0))[0].id;
    ids["on-call"] = (await create("/schedules", { name: "Platform" })).id;
    ids["status-pages"] = (await world.ask("GET", "/api/v1/status-pages"))[0].id;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** All pages behind the sign-in, with a record each, and all sections of the settings. */
  async function listPages(page: Page) {
    const sections = await page
      .locator("main a[href^='/settings/']")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
    expect(sections.length).toBeGreaterThan(10);
    const paths = adminPaths
      .filter((path) => !entrances.includes(path) && !path.includes(":section"))
      .map((path) => path.replace(":id", ids[path.split("/")[1] ?? ""] ?? "missing"));
    expect(paths.filter((path) => path.includes("missing"))).toEqual([]);
    const statusPage = `/status-pages/${ids["status-pages"]}`;
    const tabs = [`${statusPage}?tab=subscribers`, `${statusPage}?tab=addresses`];
    return [...paths, ...tabs, "/maintenance?view=calendar", ...sections];
  }

  test("on phones, main actions are 44 px high and all other targets 24 px, on every page", async () => {
    await using opened = await world.open(browser, "/settings", { viewport: phone });
    const { page } = opened;
    await page.getByRole("link", { name: "Organization", exact: true }).waitFor();
    const flaws: string[] = [];
    for (const path of await listPages(page)) {
      await page.goto(`${world.url}${path}`);
      await page.locator(":is(h1, .panel, .wall):visible").first().waitFor();
      await waitUntilLoaded(page);
      flaws.push(...(await findSmallTargets(page)).map((flaw) => `${path}: ${flaw}`));
      if ((await measureOverflow(page)) > 0) flaws.push(`${path} is too wide`);
    }
    expect(flaws).toEqual([]);
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

  test.each([360, 390, 768, 1024, 1440])(
    "%i px wide, each incident in the list has a date, severity and duration",
    async (width) => {
      await using opened = await world.open(browser, "/incidents", {
        viewport: { width, height: 900 },
      });
      const rows = opened.page.locator(".incident-record[data-item]");
      await rows.nth(1).waitFor();
      for (const row of await rows.all()) {
        const texts = [
          row.getByText(/^(Minor|Major|Critical)$/),
          row.locator("time"),
          row.getByText(/^\d+\s(s|min)/),
        ];
        for (const text of texts) expect(await text.isVisible()).toBeTrue();
        const inner = await row.evaluate((one) => [one.scrollWidth, one.clientWidth]);
        expect(inner[0]).toBeLessThanOrEqual(inner[1] ?? 0);
      }
    },
  );

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
    for (const path of ["/incidents", "/settings/profile", `/monitors/${ids["monitors"]}`]) {
      await page.goto(`${world.url}${path}`);
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
