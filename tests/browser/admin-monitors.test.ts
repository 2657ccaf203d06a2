/** The Monitors page and the page of a monitor. */
import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { findLookFlaws, defineLookTests, findThemeViolations } from "../support/admin-looks.ts";
import {
  createAdminWorld,
  owner,
  selectPageFaults,
  findRow,
  moveTo,
  sendHeldNow,
  visitAs,
} from "../support/admin-world.ts";
import {
  describeInChromium,
  storePicture,
  measureOverflow,
  findViolations,
} from "../support/browser.ts";
import { waitOutMidnight } from "../support/midnight.ts";
import { hourMs } from "../../src/core/time/clock.ts";
import { replyWith, startTarget } from "../support/target.ts";
import { pollUntil } from "../support/poll.ts";

/** Waits for the next hour if less than a minute of this one is left, because the bars move at its end. */
async function leaveEndOfHour() {
  const hourMs = 3_600_000;
  const leftMs = hourMs - (Date.now() % hourMs);
  if (leftMs < 60_000) await Bun.sleep(leftMs);
}

const readNames = (page: Page) => page.locator(".row-name b").allTextContents();

/** The files of a script that load later, apart from empty ones, which are not requested. */
function listParts(script: string): string[] {
  const web = join(import.meta.dir, "..", "..", "dist", "web");
  const transpiler = new Bun.Transpiler({ loader: "js" });
  const paths = new Set([script]);
  for (const path of paths) {
    const code = Buffer.from(Bun.gunzipSync(readFileSync(join(web, path)))).toString();
    if (code.length <= 1) paths.delete(path);
    for (const found of transpiler.scanImports(code))
      if (found.path.startsWith("/assets/")) paths.add(found.path);
  }
  return [...paths].slice(1);
}

describeInChromium("the Monitors page", (browser) => {
  let world: Awaited<ReturnType<typeof createAdminWorld>>;
  let chat: Awaited<ReturnType<typeof startTarget>>;
  const createChannel = (name: string) =>
    world.ask("POST", "/api/v1/alert-channels", { type: "webhook", name, url: chat.at("/hook") });
  beforeAll(async () => {
    await waitOutMidnight();
    world = await createAdminWorld();
    chat = await startTarget(replyWith(503));
    // The chart of a daily check would show days.
    await world.ask("PATCH", `/api/v1/monitors/${world.idOf("Web shop")}`, {
      interval: 5,
      timeout: 5,
    });
    // One monitor is down, and its alert fails.
    const { id } = await createChannel("Chat");
    await world.ask("PATCH", `/api/v1/monitors/${world.idOf("Blog")}`, { alertChannelIds: [id] });
    await pollUntil(
      () => world.ask("GET", `/api/v1/monitors/${world.idOf("Blog")}`),
      ({ status }) => status === "up",
    );
    world.site.setReply(replyWith(502), "/blog");
    await world.ask("POST", `/api/v1/monitors/${world.idOf("Blog")}/check`);
    await pollUntil(
      () => world.ask("GET", "/problems"),
      ({ channels }) => channels.length === 1,
    );
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await chat[Symbol.asyncDispose]();
  });

  defineLookTests((path) => world.open(browser, path), {
    monitors: () => ["/", "No one reached"],
    monitor: () => [`/monitors/${world.idOf("Web shop")}`, "Recent checks"],
  });

  test("problems are first: down monitors, failed alerts, and the reasons", async () => {
    await using open = await world.open(browser, "/");
    const { page } = open;
    const section = page.getByRole("region", { name: /^Needs attention/ });
    const row = section.getByRole("listitem").filter({ hasText: "Blog" });
    await row.getByText("No one reached").waitFor();
    expect(await row.textContent()).toContain("Chat: The receiver responded with HTTP 503");
    // A busy machine can have problems of its own.
    expect(await page.title()).toMatch(/^\([2-9]\) Monitors – Signalbox$/);
    const navigation = page.getByRole("navigation", { name: "Main" });
    await navigation.getByRole("link", { name: "Alert channels 1 failing" }).waitFor();
    await page.getByText("Chat is failing.").waitFor();
    // On the narrowest phone the reason is fully visible.
    await page.setViewportSize({ width: 280, height: 780 });
    const why = row.locator(".attention-name > span");
    expect(await why.evaluate((text) => text.scrollHeight - text.clientHeight)).toBe(0);
    await page.setViewportSize({ width: 360, height: 780 });
    const onPhone = findRow(page, "Blog");
    const reason = onPhone.locator(".row-name > span");
    expect(await reason.textContent()).toStartWith("HTTP 502 (Bad Gateway), expected");
    expect(
      await reason.evaluate((text) => text.querySelector("em")?.offsetHeight ?? Infinity),
    ).toBeLessThanOrEqual(await reason.evaluate(({ clientHeight }) => clientHeight));
    expect(await onPhone.locator(".row-uptime:visible").textContent()).toEndWith("%");
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.getByRole("button", { name: "Hide", exact: true }).first().click();
    // A closed section stays closed until another channel fails.
    await section.getByRole("button", { name: /^Needs attention/ }).click();
    await page.reload();
    await section.getByRole("button", { name: /^Needs attention 1/ }).waitFor();
    expect(await row.count()).toBe(0);
    expect(await page.getByText("Chat is failing.").count()).toBe(0);
    const { id } = await createChannel("Second chat");
    await world.ask("POST", `/api/v1/alert-channels/${id}/test`);
    await page.getByText("2 alert channels are failing.").waitFor();
    await navigation.getByRole("link", { name: "Alert channels 2 failing" }).waitFor();
    await world.ask("DELETE", `/api/v1/alert-channels/${id}`);
    await page.getByText("2 alert channels are failing.").waitFor({ state: "detached" });
    await section.getByRole("button", { name: /^Needs attention/ }).click();
    await row.hover();
    world.site.setReply(replyWith(200), "/blog");
    await row.getByRole("button", { name: "Check now: Blog" }).click();
    await row.getByText(/^Up after/).waitFor();
    await moveTo(page, "/reports");
    const outage = page.getByRole("region", { name: "Outages" }).getByRole("row", { name: /Blog/ });
    await outage.getByText("expected 200\u2060–\u2060299.").waitFor();
    expect(open.faults).toEqual([]);
  });

  test("a problem's row links to its incident, or its menu does on narrow screens", async () => {
    const checkOf = (name: string) =>
      world.ask("POST", `/api/v1/monitors/${world.idOf(name)}/check`);
    world.site.setReply(replyWith(502), "/nas");
    world.site.setReply(replyWith(502), "/search");
    const { id } = await world.ask("POST", "/api/v1/incidents", {
      title: "Disks are being replaced",
      monitorIds: [world.idOf("NAS")],
    });
    await checkOf("NAS");
    await checkOf("Search");
    await using open = await world.open(browser, "/", { viewport: { width: 1280, height: 900 } });
    const { page } = open;
    const section = page.getByRole("region", { name: /^Needs attention/ });
    const locateRow = (name: string) => section.getByRole("listitem").filter({ hasText: name });
    const incident = locateRow("NAS").getByRole("link", { name: "Incident" });
    const check = locateRow("NAS").getByRole("button", { name: "Check now: NAS" });
    await incident.waitFor();
    await locateRow("Search").waitFor();
    expect(await locateRow("Search").getByRole("link", { name: "Incident" }).count()).toBe(0);
    // Controls that appear on hover move and cover nothing.
    const locateBoxes = () =>
      locateRow("NAS")
        .locator(".attention-actions > *:visible, .attention-who, .attention-since")
        .evaluateAll((all) =>
          all.map((one) => {
            const { left, right, height } = one.getBoundingClientRect();
            return { left, right, height };
          }),
        );
    await page.mouse.move(0, 0);
    const before = await locateBoxes();
    await locateRow("NAS").hover();
    await page.waitForFunction(
      (button) => getComputedStyle(button!).opacity === "1",
      await check.elementHandle(),
    );
    expect(await locateBoxes()).toEqual(before);
    for (const [index, { right }] of before.entries())
      expect(right).toBeLessThanOrEqual(before[index + 1]?.left ?? Infinity);
    expect(
      (await locateRow("NAS").getByRole("button", { name: "Actions for NAS" }).boundingBox())?.x,
    ).toBe(
      (await locateRow("Search").getByRole("button", { name: "Actions for Search" }).boundingBox())
        ?.x,
    );
    await incident.click();
    await page.waitForURL(`**/incidents/${id}`);
    for (const width of [900, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await moveTo(page, "/");
      await locateRow("NAS").getByRole("button", { name: "Actions for NAS" }).click();
      await page.getByRole("menuitem", { name: "Incident" }).waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole("menuitem", { name: "Incident" }).click();
      await page.waitForURL(`**/incidents/${id}`);
    }
    expect(open.faults).toEqual([]);
    for (const path of ["/nas", "/search"]) world.site.setReply(replyWith(200), path);
    await checkOf("NAS");
    await checkOf("Search");
    await world.ask("DELETE", `/api/v1/incidents/${id}`);
  });

  test("a monitor's page shows its latest activity and checks, and all of them on request", async () => {
    const { id, pushUrl } = await world.ask("POST", "/api/v1/monitors", {
      type: "push",
      name: "Night job",
      interval: 86_400,
      retries: 0,
    });
    for (let round = 0; round < 10; round++)
      await fetch(`${pushUrl}?status=${round % 2 === 0 ? "up" : "down"}`);
    await using open = await world.resume(browser, `/monitors/${id}`);
    const { page } = open;
    for (const title of ["Activity", "Recent checks"]) {
      const panel = page.locator(".panel", { has: page.getByRole("heading", { name: title }) });
      const lines = panel.getByRole("listitem");
      await lines.nth(7).waitFor();
      expect([title, await lines.count()]).toEqual([title, 8]);
      await panel.getByRole("button", { name: "Show all" }).press("Enter");
      await lines.nth(9).waitFor();
      expect([title, (await lines.count()) >= 10]).toEqual([title, true]);
      await panel.getByRole("button", { name: "Show less" }).press("Enter");
      await lines.nth(8).waitFor({ state: "detached" });
      expect([title, await lines.count()]).toEqual([title, 8]);
    }
    // One time span in the address applies to figures, chart, activity and checks.
    expect(await page.getByRole("button", { name: "Earlier" }).isDisabled()).toBe(true);
    await moveTo(page, `/monitors/${id}?from=1700000000000&to=1700003600000`);
    await page.getByText("No single checks are stored of this time span.").waitFor();
    await page.getByText("No activity in this time span.").waitFor();
    await page.getByText("No data in this time range.").waitFor();
    await page.getByRole("region", { name: "Figures" }).getByText("not measured").waitFor();
    const day = page.getByLabel("Day", { exact: true });
    await day.fill("today");
    const checks = page.locator(".panel", { has: page.getByRole("heading", { name: "Checks" }) });
    await checks.getByRole("listitem").nth(7).waitFor();
    await page.getByRole("heading", { name: "Today" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: /^since/ }).click();
    await page.getByRole("heading", { name: "Recent checks" }).waitFor();
    expect(new URL(page.url()).search).toBe("?span=24h");
    await world.ask("DELETE", `/api/v1/monitors/${id}`);
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a monitor's page names its failing alert channel and the reason, and no other channel", async () => {
    const { id } = await createChannel("Somebody else's");
    world.site.setReply(replyWith(502), "/blog");
    await world.ask("POST", `/api/v1/monitors/${world.idOf("Blog")}/check`);
    await using open = await world.open(browser, `/monitors/${world.idOf("Blog")}`);
    const { page } = open;
    // The reason is next to the state, and the header has two lines at every width.
    const header = page.locator(".page-header");
    await header.getByText(/HTTP 502/).waitFor();
    for (const width of [390, 768, 1024, 1440, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      const lines = await header
        .locator("h1, .page-reason, .page-below")
        .evaluateAll((all) =>
          all
            .filter((one) => one.getClientRects().length > 0)
            .map((one) => Math.round(one.getBoundingClientRect().bottom / 8)),
        );
      expect([width, new Set(lines).size]).toEqual([width, 2]);
    }
    const before = page.locator(".panel", {
      has: page.getByRole("heading", { name: "What happened before" }),
    });
    await before.getByText(/^You changed the monitor Blog: alert channels$/).waitFor();
    const acknowledge = header.getByRole("button", { name: "Acknowledge" });
    await acknowledge.click();
    await header.getByText("acknowledged by Ada Lovelace").waitFor();
    expect(await acknowledge.count()).toBe(0);
    const panel = page.locator(".panel", {
      has: page.getByRole("heading", { name: "Alerts to", exact: true }),
    });
    const failing = panel.getByRole("listitem").filter({ hasText: "Chat" });
    await failing.getByText("Failing").waitFor();
    expect(await failing.textContent()).toContain("The receiver responded with HTTP 503");
    expect(await panel.getByRole("listitem").count()).toBe(1);
    await panel.getByRole("button", { name: "Edit" }).click();
    const editor = page.getByRole("dialog", { name: "Edit monitor" });
    // Before other thresholds are saved, the editor shows what they would have reported.
    await editor.getByRole("textbox", { name: "Retries" }).fill("9");
    await editor.getByText(/From \d+ stored checks? of 1 day\. It is an estimate/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await world.ask("DELETE", `/api/v1/alert-channels/${id}`);
    world.site.setReply(replyWith(200), "/blog");
    await world.ask("POST", `/api/v1/monitors/${world.idOf("Blog")}/check`);
    expect(open.faults).toEqual([]);
  });

  test("a monitor's outages and uptime start no earlier than the monitor", async () => {
    world.site.setReply(replyWith(502), "/daily");
    const { id } = await world.ask("POST", "/api/v1/monitors", {
      type: "http",
      name: "Daily",
      url: world.site.at("/daily"),
      interval: 86_400,
    });
    for (let checks = 0; checks < 2; checks++)
      await world.ask("POST", `/api/v1/monitors/${id}/check`);
    await using open = await world.resume(browser, `/monitors/${id}`);
    const figures = open.page.getByRole("region", { name: "Figures" });
    await figures.getByText(/^of \d+\s?s\smeasured$/).waitFor();
    expect(await figures.getByRole("definition").allTextContents()).toContainEqual(
      expect.stringMatching(/^\d+\s?s$/),
    );
    await world.ask("DELETE", `/api/v1/monitors/${id}`);
  });

  test("the list shows a past time, without actions, and returns to now", async () => {
    const started = Date.now() - 12 * hourMs;
    await using open = await world.open(browser, "/monitors?type=http");
    const { page } = open;
    await findRow(page, "Blog").waitFor();
    await page.getByRole("button", { name: "Show a past time" }).click();
    const bar = page.getByRole("region", { name: "Past time" });
    await page.getByText("No monitor of today existed then and matches these filters.").waitFor();
    const field = bar.getByRole("combobox", { name: "As of" });
    await field.fill("1 d ago");
    await field.press("Tab");
    await page.waitForURL((url) => Date.parse(url.searchParams.get("at") ?? "") < started);
    await moveTo(page, `/monitors?type=http&at=${new Date().toISOString()}`);
    await findRow(page, "Blog").waitFor();
    expect(await page.getByRole("checkbox").count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await bar.getByRole("button", { name: "Back to now" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe("?type=http");
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("a viewer sees the problems, and no forbidden action", async () => {
    await using open = await visitAs(browser, world, "viewer", "/");
    const { page } = open;
    await page.getByText("Chat is failing.").waitFor();
    expect(await page.getByRole("button", { name: /^(Check now|Create)/ }).count()).toBe(0);
  });

  test("a row's bars describe each hour: by hover, by keys, and by a click in the chart", async () => {
    await leaveEndOfHour();
    await world.ask("POST", `/api/v1/monitors/${world.idOf("Web shop")}/check`);
    await using open = await world.open(browser, "/");
    const { page } = open;
    const bars = page.getByRole("group", { name: /^Web shop, last 24 hours/ });
    const text = page.locator(".pop");
    const dayOf = () => text.locator("h3").textContent();
    await bars.locator(".bar-up").last().waitFor();
    const slow = Promise.withResolvers<void>();
    await page.route("**/timeline?*", (route) => slow.promise.then(() => route.continue()));
    await page.getByRole("link", { name: /^Web shop/ }).focus();
    await page.keyboard.press("Tab");
    await text.getByText(/^Today \d\d:\d\d–\d\d:\d\d$/).waitFor();
    expect(await bars.locator("[data-open]").count()).toBe(1);
    // The bar's own content is shown at once.
    expect(await text.locator("dl").textContent()).toBe(" Up…");
    slow.resolve();
    await text.getByText(/checks? passed$/).waitFor();
    const last = await dayOf();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("Home");
    expect(await dayOf()).not.toBe(last);
    await text.getByText("Nothing was measured.").waitFor();
    await page.keyboard.press("End");
    await text.getByText(/checks? passed$/).waitFor();
    await page.keyboard.press("Escape");
    expect(await text.count()).toBe(0);
    const { width = 0 } = (await bars.boundingBox()) ?? {};
    const position = { x: width - 4, y: 10 };
    await bars.hover({ position });
    await text.getByText(/checks? passed$/).waitFor();
    await bars.click({ position });
    await page.getByRole("button", { name: /^Back to/ }).waitFor();
    const { searchParams } = new URL(page.url());
    expect(Number(searchParams.get("to"))).toBeGreaterThan(Number(searchParams.get("from")));
    expect(await text.count()).toBe(0);
    await open.measureShifts();
    expect(open.faults).toEqual([]);
  });

  test("the latency chart is read by keys, keeps its position during updates, and is also a table", async () => {
    await using open = await world.open(browser, `/monitors/${world.idOf("Web shop")}`);
    const { page } = open;
    const chart = page.getByRole("group", { name: /^Latency chart/ });
    const text = page.locator(".chart-tip");
    await chart.locator("canvas").waitFor();
    await chart.evaluate((element) => {
      const canvas = element.querySelector("canvas");
      if (canvas !== null) canvas.dataset["first"] = "";
    });
    await chart.focus();
    await page.keyboard.press("End");
    await text.getByText(/^Today \d\d:\d\d:\d\d–\d\d:\d\d:\d\d$/).waitFor();
    expect(await text.locator("dt").allTextContents()).toEqual(["Average", "p50", "p95"]);
    expect(await findViolations(page)).toEqual([]);
    // Two checks later the same chart is there, with its cursor.
    for (let more = 0; more < 2; more++) {
      const read = page.waitForResponse((response) => response.url().includes("/timeline?"));
      await world.ask("POST", `/api/v1/monitors/${world.idOf("Web shop")}/check`);
      await read;
    }
    await text.waitFor();
    expect(await chart.locator("canvas[data-first]").count()).toBe(1);
    await page.keyboard.press("Escape");
    expect(await text.count()).toBe(0);
    const p99 = page.getByRole("button", { name: "p99" });
    expect(await p99.getAttribute("aria-pressed")).toBe("false");
    await p99.click();
    await page.getByRole("button", { name: /before$/ }).click();
    // Paper can be narrower than the chart.
    await page.emulateMedia({ media: "print" });
    await page.locator(".chart .u-wrap").evaluate(async (wrap) => {
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
      for (const part of [wrap, ...wrap.children]) (part as HTMLElement).style.width = "3000px";
    });
    expect(await measureOverflow(page)).toBe(0);
    await page.emulateMedia({ media: null });
    await page.reload();
    await chart.locator("canvas").waitFor();
    expect(await p99.getAttribute("aria-pressed")).toBe("true");
    await chart.focus();
    // Zooms out from the last check, after which there is no data.
    await page.keyboard.press("End");
    await page.keyboard.press("+");
    await page.getByRole("button", { name: /^Back to/ }).waitFor();
    const query = await page.evaluate(() => location.search);
    await page.keyboard.press("-");
    await page.waitForFunction((before) => {
      const lengthOf = (search: string) =>
        Number(/to=(\d+)/.exec(search)?.[1]) - Number(/from=(\d+)/.exec(search)?.[1]);
      return lengthOf(location.search) > 1.9 * lengthOf(before);
    }, query);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Back to/ }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Table" }).click();
    await page
      .getByRole("row", { name: /^Today .* Up$/ })
      .first()
      .waitFor();
    expect(await findViolations(page)).toEqual([]);

    // On a phone one finger reads it, and two zoom.
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Table" }).click();
    const plot = page.locator(".chart .u-over");
    await plot.waitFor();
    /** Touches by position in the plot, from 0 to 1. */
    const touch = (type: string, ...places: number[]) =>
      plot.evaluate(
        (element, { type, places }) => {
          const { left, width, top } = element.getBoundingClientRect();
          for (const [pointerId, place] of places.entries()) {
            const at = { clientX: left + place * width, clientY: top + 40 };
            const about = { pointerType: "touch", pointerId, bubbles: true, ...at };
            element.dispatchEvent(new PointerEvent(type, about));
          }
        },
        { type, places },
      );
    await touch("pointerdown", 0.9);
    const title = page.locator(".chart-tip b");
    await title.waitFor();
    const last = await title.textContent();
    await touch("pointermove", 0.1);
    await title.filter({ hasNotText: last ?? "" }).waitFor();
    await touch("pointerup", 0.1);
    expect(await page.getByRole("button", { name: /^Back to/ }).count()).toBe(0);
    await touch("pointerdown", 0.4, 0.6);
    await touch("pointermove", 0.2, 0.8);
    await touch("pointerup", 0.2, 0.8);
    await page.getByRole("button", { name: /^Back to/ }).waitFor();
    expect(open.faults).toEqual([]);
  });

  test("a job's page shows its runs with their output and the next due times, also of an unsaved schedule", async () => {
    const job = { type: "push", name: "Backup", schedule: "30 2 * * *", timeZone: "Europe/Berlin" };
    const { id, pingUrl } = await world.ask("POST", "/api/v1/monitors", job);
    const ping = (path: string, body?: string) =>
      fetch(`${world.url}${new URL(pingUrl).pathname}${path}`, {
        method: "POST",
        keepalive: false,
        ...(body !== undefined && { body }),
      });
    await ping("/start");
    await ping("/3", "The disk is full.");
    await ping("/start");
    await using open = await world.resume(browser, `/monitors/${id}`);
    const { page } = open;
    const runs = page.locator(".panel", { has: page.getByRole("heading", { name: "Runs" }) });
    await runs.getByText(/^Failure with exit status 3 after /).waitFor();
    await runs.getByText(/^Started, running for /).waitFor();
    expect(await runs.getByRole("listitem").count()).toBe(2);
    await runs.getByText("Output").click();
    await runs.getByText("The disk is full.").waitFor();
    const due = page.locator(".panel", { has: page.getByRole("heading", { name: "Next due" }) });
    expect(await due.getByRole("listitem").count()).toBe(3);
    await page.getByText(`${pingUrl}/$?`).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await ping("/0");
    await runs.getByText(/^Success after /).waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).first().click();
    const schedule = page.getByLabel("Schedule", { exact: true });
    await schedule.fill("Mon..Fri 06:15");
    await page.getByText(/^Next due: (\w{3}, \d+ \w+|\w{3} \d+ \w+),? .*06:15/).waitFor();
    await schedule.fill("61 * * * *");
    await page.getByText("The schedule has an invalid minute.").waitFor();
    expect(open.faults).toEqual([]);
    await world.ask("DELETE", `/api/v1/monitors/${id}`);
  });

  test("the screenshot of the last failed check is next to its reason, and can be enlarged", async () => {
    await using open = await world.open(browser, "/");
    const { page } = open;
    const about = { type: "browser", name: "Log-in", url: world.site.at("/login"), paused: true };
    const { id } = await world.ask("POST", "/api/v1/monitors", about);
    const at = Date.now() - 60_000;
    const image = (await page.screenshot({ type: "jpeg", quality: 50 })).toString("base64");
    const database = new Database(join(world.dataDir, "signalbox.db"));
    database.run("PRAGMA busy_timeout = 5000");
    database.run(
      `INSERT INTO heartbeats SELECT key, ?, 2, NULL, 60, 'Step 2: The page does not contain the text.', NULL
       FROM monitor_states WHERE monitor_id = ?`,
      [at, id],
    );
    database.run(
      `INSERT INTO screenshots SELECT organization_id, id, ?, ? FROM monitors WHERE id = ?`,
      [at, image, id],
    );
    database.close();
    await moveTo(page, `/monitors/${id}`);
    const panel = page.locator("section").filter({ hasText: "Last failure" });
    await panel.getByText("Step 2: The page does not contain the text.").waitFor();
    const isSeen = (shown: ReturnType<typeof panel.getByRole>) =>
      shown.evaluate((image: HTMLImageElement) =>
        image.decode().then(() => image.naturalWidth > 0),
      );
    expect(await isSeen(panel.getByRole("img"))).toBe(true);
    expect(await findLookFlaws(page, "screenshot")).toEqual([]);
    await page.setViewportSize({ width: 360, height: 780 });
    await panel.getByRole("button", { name: /^The page on \w+, / }).press("Enter");
    const dialog = page.getByRole("dialog", { name: /^Last failure, / });
    expect(await isSeen(dialog.getByRole("img", { name: /^The page on/ }))).toBe(true);
    expect(await measureOverflow(page)).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await storePicture(page, "admin-screenshot-360-dialog.png");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await world.ask("DELETE", `/api/v1/monitors/${id}`);
    expect(open.faults).toEqual([]);
  });

  test("editors, palette and shortcuts have no axe violations", async () => {
    await using open = await world.open(browser, "/");
    const { page } = open;
    const judge = async () => expect(await findThemeViolations(page)).toEqual([]);
    await page.getByText("Web shop").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
    // Nothing behind an open dialog can have the focus.
    expect(await findViolations(page, "html")).toEqual([]);
    await judge();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("option", { name: /Create group/ }).waitFor();
    await judge();
    await page.getByRole("option", { name: /Create monitor/ }).click();
    await page.getByRole("button", { name: "Assertions" }).waitFor();
    await page.getByLabel("Name", { exact: true }).and(page.locator(":focus")).waitFor();
    await page.getByRole("button", { name: "Assertions" }).click();
    await page.getByRole("button", { name: "Add assertion" }).click();
    await page.getByRole("button", { name: /^Request/ }).click();
    await judge();
    await open.measureShifts();
    expect(open.faults).toEqual([]);
  });

  test("assertions are lines of the editor that follow their source, and show errors in place", async () => {
    const id = world.idOf("Search");
    await using open = await world.resume(browser, `/monitors/${id}`);
    const { page } = open;
    const choose = async (label: string, option: string) => {
      await page.getByRole("combobox", { name: label }).click();
      await page.getByRole("option", { name: option, exact: true }).click();
    };
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("button", { name: "Assertions" }).click();
    for (const _ of [1, 2]) await page.getByRole("button", { name: "Add assertion" }).click();
    await choose("Source of assertion 2", "JSON value");
    await choose("Comparison of assertion 2", "is not");
    await page.getByLabel("JSON path of assertion 2").fill("$.items");
    await page.getByLabel("Value of assertion 2").fill('"200"');
    await choose("Comparison of assertion 1", "matches");
    await page.getByLabel("Value of assertion 1").fill("(fine");
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByText("Must be a regular expression as RE2 has them: missing closing ).")
      .waitFor();
    await page.getByRole("button", { name: "Remove assertion 1" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const { assertions } = await world.ask("GET", `/api/v1/monitors/${id}`);
    expect(assertions).toEqual([
      { source: "json", path: "$.items", op: "notEquals", value: "200" },
    ]);
    await world.ask("PATCH", `/api/v1/monitors/${id}`, { assertions: [] });
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("menus and an empty palette have no axe violations, and keys walk their entries", async () => {
    await using open = await world.open(browser, "/");
    const { page } = open;
    const waitForFocus = (name: string) => page.locator(":focus").getByText(name).waitFor();
    await page.getByRole("button", { name: "Actions for Checkout" }).press("Enter");
    await waitForFocus("Check now");
    await page.keyboard.press("ArrowDown");
    await waitForFocus("Pause");
    expect(await findThemeViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    await page.getByRole("link", { name: /^Checkout/ }).focus();
    await page.keyboard.press("x");
    const bar = page.getByRole("toolbar", { name: "Change the selected monitors" });
    await bar.getByRole("button", { name: "Edit" }).press("Enter");
    await page.getByRole("combobox", { name: "Tags" }).waitFor();
    await page.getByRole("combobox", { name: "Checks" }).click();
    await page.getByRole("option", { name: "Paused until…" }).click();
    await page.getByRole("combobox", { name: "Paused until" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("combobox", { name: "Checks" }).click();
    await page.getByRole("option", { name: "Unchanged" }).click();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("nothing is called so");
    await page.getByText("No results.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(open.faults).toEqual([]);
  });

  test("by keyboard alone, rows are walked and moved, also into the next group, and groups are folded", async () => {
    await using open = await world.resume(browser, "/");
    const { page } = open;
    const readFocused = () => page.locator(":focus").textContent();
    await page.getByRole("link", { name: /^Checkout/ }).focus();
    await page.keyboard.press("ArrowDown");
    expect(await readFocused()).toStartWith("Web shop");
    const readOrder = async () =>
      (await world.ask("GET", "/api/v1/monitor-groups")).map(
        (group: { monitorIds: unknown }) => group.monitorIds,
      );
    const wait = (ids: string[][]) => pollUntil(readOrder, (found) => Bun.deepEquals(found, ids));
    const [checkout, shop, search, router, nas] = [
      "Checkout",
      "Web shop",
      "Search",
      "Router",
      "NAS",
    ].map(world.idOf) as [string, string, string, string, string];
    await page.keyboard.press("Alt+ArrowDown");
    await page.keyboard.press("Alt+ArrowDown");
    await wait([
      [checkout, search],
      [shop, router, nas],
    ]);
    expect(await readFocused()).toStartWith("Web shop");
    expect(await readNames(page)).toEqual([
      "Checkout",
      "Search",
      "Web shop",
      "Router",
      "NAS",
      "Blog",
    ]);
    await page.keyboard.press("Alt+ArrowUp");
    await page.keyboard.press("Alt+ArrowUp");
    await wait([
      [checkout, shop, search],
      [router, nas],
    ]);
    await page.getByRole("button", { name: /^Production/ }).focus();
    await page.keyboard.press("Enter");
    await findRow(page, "Checkout").waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await page.keyboard.press("Alt+ArrowDown");
    await wait([
      [router, nas],
      [checkout, shop, search],
    ]);
    await page.keyboard.press("Alt+ArrowUp");
    await wait([
      [checkout, shop, search],
      [router, nas],
    ]);
    await open.measureShifts();
    expect(open.faults).toEqual([]);
  });

  test("muting a group can be undone by button and by Ctrl+Z", async () => {
    await using open = await world.resume(browser, "/");
    const { page } = open;
    const path = `/api/v1/monitor-groups/${world.office.id}`;
    const waitUntilMuted = (is: boolean) =>
      pollUntil(
        () => world.ask("GET", path),
        (group) => group.muted === is,
      );
    const toast = page.getByText("Muted the group Office");
    for (const takeBack of [
      () => page.getByRole("button", { name: /^Undo/ }).click(),
      () => page.keyboard.press("Control+z"),
    ]) {
      await page.getByRole("button", { name: "Mute Office" }).click();
      await toast.waitFor();
      await page.getByRole("button", { name: "Unmute Office" }).waitFor();
      await waitUntilMuted(true);
      await takeBack();
      await toast.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Mute Office" }).waitFor();
      await waitUntilMuted(false);
    }
    expect(open.faults).toEqual([]);
  });

  test("undo restores a deleted monitor; a deletion that sends something is held", async () => {
    await using open = await world.resume(browser, "/");
    const { page } = open;
    const isStored = async (name: string) => {
      const all: { name: string }[] = await world.ask("GET", "/api/v1/monitors?per_page=100");
      return all.some((one) => one.name === name);
    };
    const remove = async (name: string) => {
      await page.getByRole("button", { name: `Actions for ${name}` }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
    };
    await findRow(page, "NAS").getByRole("img", { name: "Up" }).waitFor();
    await remove("NAS");
    await findRow(page, "NAS").waitFor({ state: "detached" });
    await page.getByText("Deleted NAS").waitFor();
    expect(await isStored("NAS")).toBe(false);
    await page.getByRole("button", { name: /^Undo/ }).click();
    await findRow(page, "NAS").waitFor();
    expect(await isStored("NAS")).toBe(true);
    // Deleting a monitor resolves the incidents that it opened. A person opened this one.
    const body = { title: "Slow", public: false, monitorIds: [world.idOf("Router")] };
    const incident = await world.ask("POST", "/api/v1/incidents", body);
    await remove("Router");
    const held = page.getByRole("region", { name: "Held changes" });
    await held.getByText("Monitor: Router", { exact: true }).waitFor();
    await held.getByText(/^Deleting in \d+ s$/).waitFor();
    expect(await isStored("Router")).toBe(true);
    await held.getByRole("button", { name: "Undo" }).click();
    await held.waitFor({ state: "detached" });
    await world.ask("DELETE", `/api/v1/incidents/${incident.id}`);
  });

  test("typed values survive Escape and a reload, except secrets, until they are discarded", async () => {
    await using open = await world.open(browser, "/");
    const { page } = open;
    const dialog = page.getByRole("dialog", { name: "Create monitor" });
    const create = async () => {
      await page.getByText("Web shop").first().waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("option", { name: /Create monitor/ }).click();
      await dialog.locator("input:focus").waitFor();
    };
    await create();
    await page.keyboard.type("Warehouse");
    await dialog.getByRole("button", { name: /^Authentication/ }).click();
    await dialog.getByLabel("Bearer token").fill("a-secret-token");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByText("What you typed is kept").waitFor();
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain("a-secret");
    await page.reload();
    await create();
    await dialog.getByText("What you typed earlier is back.").waitFor();
    expect(await dialog.getByLabel("Name", { exact: true }).inputValue()).toBe("Warehouse");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Keep editing" }).click();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Discard", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await create();
    expect(await dialog.getByLabel("Name", { exact: true }).inputValue()).toBe("");
    // Nothing was typed, so there is no question.
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("n");
    const address = page.getByLabel("Address to monitor");
    await address.fill("https://half-typed.example");
    await page.reload();
    await page.getByText("Web shop").first().waitFor();
    await page.keyboard.press("n");
    expect(await address.inputValue()).toBe("https://half-typed.example");
    await address.fill("");
    expect(open.faults).toEqual([]);
  });

  test("between phone and desktop the navigation has named icons; on a phone everything is two taps away", async () => {
    await using open = await world.open(browser, "/", { viewport: { width: 768, height: 900 } });
    const { page } = open;
    const navigation = page.getByRole("navigation", { name: "Main" });
    const link = navigation.getByRole("link", { name: /^Alert channels/ });
    expect((await navigation.boundingBox())?.width).toBe(60);
    await link.click();
    await page.getByRole("heading", { name: "Alert channels" }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await navigation.getByRole("link", { name: "Monitors" }).click();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Create group" }).click();
    await page.getByRole("dialog", { name: "Create group" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: /Organization and account/ }).click();
    await page.getByRole("menuitem", { name: "Status pages" }).click();
    await page.getByRole("heading", { name: "Status pages", exact: true }).waitFor();
    // Problems of the appliance are shown there, too.
    const disk = { name: "disk", severity: "error", message: "It is full.", since: "2026-11-25" };
    await page.route("**/dashboard/problems*", (route) =>
      route.fulfill({ json: { data: { channels: [], appliance: [disk] } } }),
    );
    await page.reload();
    const corner = page.getByRole("button", { name: /Organization and account: 1 problem/ });
    const settings = page.getByRole("menuitem", { name: "Settings 1 problem" });
    // The menu has the focus already when it opens for the first time.
    await corner.press("Enter");
    await settings.waitFor();
    await page.locator("[role=menu]:focus").waitFor();
    await page.keyboard.press("Escape");
    await settings.waitFor({ state: "detached" });
    await page.locator(".rail-person:focus").waitFor();
    await corner.click();
    await settings.waitFor();
    await storePicture(page, "admin-problem-390.png");
    expect(open.faults).toEqual([]);
  });

  test("no bar or fixed button covers a focused element", async () => {
    const viewport = { width: 390, height: 600 };
    const [{ id: pageId }] = await world.ask("GET", "/api/v1/status-pages");
    for (const [path, key, ready] of [
      ["/", null, "Web shop"],
      [`/monitors/${world.idOf("Web shop")}`, "e", "Interval"],
      [`/status-pages/${pageId}`, null, "Appearance"],
    ] as const) {
      await using open = await world.resume(browser, path, { viewport });
      const { page } = open;
      if (key !== null) {
        await page.getByRole("heading", { name: "Web shop" }).waitFor();
        await page.keyboard.press(key);
      }
      await page.getByText(ready).first().waitFor();
      const covered: string[] = [];
      for (let stops = 0; stops < 60; stops++) {
        await page.keyboard.press("Tab");
        const under = await page.evaluate(() => {
          const focused = document.activeElement;
          // A preview in a frame is higher than the window.
          if (focused === null || focused.matches("body, iframe")) return null;
          const { x, y, width, height } = focused.getBoundingClientRect();
          const bar = document
            .elementFromPoint(x + width / 2, y + height / 2)
            ?.closest(".rail, .form-buttons");
          const name = focused.getAttribute("aria-label") ?? focused.textContent;
          return bar && !bar.contains(focused) ? name : null;
        });
        if (under !== null) covered.push(under);
      }
      expect([path, covered]).toEqual([path, []]);
    }
  });

  test("on a phone all actions on selected monitors are legible and tappable", async () => {
    const viewport = { width: 390, height: 844 };
    await using open = await world.resume(browser, "/", { viewport });
    const { page } = open;
    await findRow(page, "Checkout").getByRole("button", { name: "Actions for Checkout" }).click();
    await page.getByRole("menuitem", { name: "Select" }).click();
    const bar = page.getByRole("toolbar", { name: "Change the selected monitors" });
    await bar.getByText("1 monitor selected").waitFor();
    const cut = await bar.getByRole("button").evaluateAll((buttons) =>
      buttons
        .filter((button) => {
          const { left, right } = button.getBoundingClientRect();
          const [label] = button.getElementsByClassName("mantine-Button-label");
          const isCut = label !== undefined && label.scrollWidth > label.clientWidth;
          return left < 0 || right > innerWidth || isCut;
        })
        .map((button) => button.ariaLabel ?? button.textContent),
    );
    expect(cut).toEqual([]);
    await bar.getByRole("button", { name: "Clear selection" }).click();
    await bar.waitFor({ state: "detached" });
    expect(open.faults).toEqual([]);
  });

  test("the palette finds groups, addresses, tags and themes; keys work anywhere, and the last action can be undone", async () => {
    const { id } = await world.ask("POST", "/api/v1/incidents", { title: "Slow mails" });
    await using open = await world.open(browser, "/incidents");
    const { page } = open;
    const getOption = (name: string | RegExp) => page.getByRole("option", { name });
    const search = page.getByRole("combobox", { name: "Search and commands" });
    const type = async (text: string) => {
      await page.keyboard.press("Control+k");
      await search.fill(text);
    };
    // Typed text is kept while the commands are loading.
    const loading = Promise.withResolvers<void>();
    await page.route("**/assets/chunk-*.js", (route) =>
      loading.promise.then(() => route.continue()),
    );
    await page.getByRole("button", { name: /^Search/ }).click();
    await page.keyboard.type("resolve ");
    loading.resolve();
    await getOption(/^Resolve /)
      .first()
      .waitFor();
    await page.keyboard.type("slow");
    await getOption("Resolve Slow mails").waitFor();
    expect(await search.inputValue()).toBe("resolve slow");
    await page.keyboard.press("Enter");
    const held = page.getByText("Resolution: Slow mails", { exact: true });
    await held.waitFor();
    await page.keyboard.press("Control+z");
    await held.waitFor({ state: "detached" });
    const { status, updates } = await world.ask("GET", `/api/v1/incidents/${id}`);
    expect([status, updates.length]).toEqual(["investigating", 1]);
    await world.ask("POST", `/api/v1/incidents/${id}/resolve`);
    await type("slow mails");
    await getOption(/^Slow mails Resolved incident · \d\d:\d\d$/).waitFor();
    await page.keyboard.press("Escape");
    await type("prodction");
    await page.getByRole("option", { name: "Production Group", exact: true }).waitFor();
    // Enter opens the named record, and runs an action only by its name.
    expect(await getOption(/./).first().textContent()).toBe("ProductionGroup");
    await page.keyboard.press("Escape");
    await type("/web-shop");
    await getOption(/^Web shop Monitor/).waitFor();
    await page.keyboard.press("Escape");
    await type("pause produ");
    await getOption("Pause Production Group").waitFor();
    await page.keyboard.press("Escape");
    // Every action with a button, and its target.
    for (const [text, name] of [
      ["pause shop", "Pause Web shop Monitor"],
      ["pause shop 8", "Pause Web shop for 8 hours Monitor"],
      ["mute shop", "Mute Web shop Monitor"],
      ["check shop now", "Check Web shop now Monitor"],
      ["mute office", "Mute Office Group"],
      ["sign out", "Sign out"],
      ["docs", "API reference"],
      ["kuma", "Settings: Import"],
      ["lovelace", "Ada Lovelace Person"],
      ["invite", "Invite people"],
    ] as const) {
      await type(text);
      await getOption(name).waitFor();
      await page.keyboard.press("Escape");
    }
    await moveTo(page, `/monitors/${world.idOf("Web shop")}`);
    await page.getByRole("heading", { name: "Web shop" }).waitFor();
    await moveTo(page, "/incidents");
    await page.getByRole("heading", { name: "Incidents", level: 1 }).waitFor();
    await type("");
    await getOption("Web shop Recent · Monitor").waitFor();
    await page.keyboard.press("Escape");
    await type("theme dark");
    await getOption("Theme: Dark").waitFor();
    await page.keyboard.press("Escape");
    await type("tag eu");
    await getOption(/Tag: eu/).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/monitors\?tag=eu/);
    await findRow(page, "Checkout").hover();
    await page.keyboard.press("x");
    await page.getByText("1 monitor selected").waitFor();
    await page.keyboard.press("j");
    await page.locator(":focus", { hasText: "Web shop" }).waitFor();
    await page.keyboard.press("k");
    await page.locator(":focus", { hasText: "Checkout" }).waitFor();
    // With the focus elsewhere, the key returns to the same row at once, without waiting for a check.
    await page.mouse.move(0, 0);
    await page.getByRole("button", { name: "Create group" }).focus();
    const focused = await page.evaluate(async () => {
      dispatchEvent(new KeyboardEvent("keydown", { key: "j" }));
      await new Promise(requestAnimationFrame);
      return document.activeElement?.textContent;
    });
    expect(focused).toContain("Checkout");
    const checkout = findRow(page, "Checkout");
    await page.keyboard.press("p");
    await page.getByText("Paused Checkout").waitFor();
    await checkout.getByRole("img", { name: "Paused" }).waitFor();
    await page.keyboard.press("Control+z");
    await page.getByText("Paused Checkout").waitFor({ state: "detached" });
    await checkout.getByRole("img", { name: "Up", exact: true }).waitFor();
    await page.getByRole("button", { name: "Actions for Checkout" }).click();
    await page.getByRole("menuitem", { name: "Pause until…" }).click();
    await page.getByRole("button", { name: "Pause 1 monitor" }).click();
    await checkout.getByText(/Paused until .*\d\d:\d\d/).waitFor();
    await page.getByRole("button", { name: /^Undo/ }).click();
    await checkout.getByRole("img", { name: "Up", exact: true }).waitFor();
    expect(open.faults).toEqual([]);
  });

  test("without the server pages open, and actions wait for it", async () => {
    await using open = await world.open(browser, "/", { preloads: true });
    const { page } = open;
    await findRow(page, "NAS").waitFor();
    // All parts of the page's script load while the page is idle.
    const parts = listParts((await page.locator("script[type=module]").getAttribute("src")) ?? "");
    await page.waitForFunction((parts) => {
      const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
      return parts.every((part) => loaded.some((name) => name.endsWith(part)));
    }, parts);
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Actions for NAS" }).click();
    await page.getByRole("menuitem", { name: "Pause", exact: true }).click();
    await page.getByText("Will be saved once the connection is back").waitFor();
    await page.getByText(/Reconnecting…/).waitFor();
    await page.getByRole("link", { name: "Incidents", exact: true }).click();
    await page.getByRole("heading", { name: "Incidents", exact: true }).waitFor();
    await page.getByRole("heading", { name: "The incidents could not be loaded" }).waitFor();
    await page.context().setOffline(false);
    await page.getByText(/Reconnecting…/).waitFor({ state: "detached" });
    await page.getByText("could not be loaded").waitFor({ state: "detached" });
    // The server is reachable and fails once.
    const windows = "**/dashboard/api/v1/maintenance-windows*";
    await page.route(windows, (route) => route.fulfill({ status: 500, json: {} }));
    await page.getByRole("link", { name: "Maintenance", exact: true }).click();
    await page.getByRole("heading", { name: "The maintenance could not be loaded" }).waitFor();
    await page.unroute(windows);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "No maintenance scheduled" }).waitFor();
    const path = `/api/v1/monitors/${world.idOf("NAS")}`;
    await pollUntil(
      () => world.ask("GET", path),
      ({ status }) => status === "paused",
    );
    await page
      .getByText("Will be saved once the connection is back")
      .waitFor({ state: "detached" });
    expect(await world.ask("PATCH", path, { paused: false })).toMatchObject({ name: "NAS" });
  });

  test("additions and posts without the server wait for it, and happen once", async () => {
    const incident = await world.ask("POST", "/api/v1/incidents", { title: "Slow printers" });
    const path = `/api/v1/incidents/${incident.id}`;
    const waits = "Will be saved once the connection is back";
    await using open = await world.open(browser, `/incidents/${incident.id}`, { preloads: true });
    const { page } = open;
    const waitForMessage = async () => {
      const message = page.locator(".toast:not([data-seen])", { hasText: waits });
      await message.evaluate((toast) => toast.setAttribute("data-seen", ""));
    };
    await page.getByLabel("Message").fill("We exchange them.");
    await page.context().setOffline(true);
    await page.getByRole("button", { name: /^Post to/ }).click();
    await waitForMessage();
    await page.context().setOffline(false);
    await sendHeldNow(page);
    const updated = await pollUntil(
      () => world.ask("GET", path),
      ({ updates }) => updates.length > 1,
    );
    expect(updated.updates).toMatchObject([{}, { message: "We exchange them." }]);
    // Resolving an older state of the incident would be a conflict.
    await page.getByRole("listitem").filter({ hasText: "We exchange them." }).waitFor();
    await page.getByRole("button", { name: "Resolve" }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Resolve" }).click();
    await waitForMessage();
    await page.context().setOffline(false);
    await page.getByText("Resolution", { exact: true }).waitFor();
    await page.context().setOffline(true);
    await page.keyboard.press("Control+z");
    await waitForMessage();
    await page.keyboard.press("Control+k");
    await page.keyboard.type(world.site.at("/printers"));
    await page.getByRole("option", { name: /^Create monitor: / }).click();
    await waitForMessage();
    await page.context().setOffline(false);
    await page.getByText(/^Created /).waitFor();
    await pollUntil(
      () => world.ask("GET", path),
      ({ status }) => status === "investigating",
    );
    const found = await world.ask("GET", "/api/v1/monitors?q=printers");
    expect(found).toHaveLength(1);
    await world.ask("DELETE", `/api/v1/monitors/${found[0].id}`);
    await world.ask("POST", `${path}/resolve`);
  });

  test("an unknown address gets an error page, and a script the usual error", async () => {
    await using open = await world.open(browser, "/monitor");
    const { page } = open;
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    const response = await fetch(`${world.url}/monitor`);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      404,
      "application/json;charset=utf-8",
    ]);
    for (const [list, title] of [
      ["Monitors", "Monitor"],
      ["Incidents", "Incident"],
      ["Maintenance", "Maintenance"],
      ["Alert channels", "Alert channel"],
      ["Status pages", "Status page"],
    ] as const) {
      const path = `/${list.toLowerCase().replace(" ", "-")}`;
      await moveTo(page, `${path}/${Bun.randomUUIDv7()}`);
      await page.getByRole("heading", { name: title, exact: true }).waitFor();
      await page.getByRole("heading", { name: /could not be loaded$/ }).waitFor();
      expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
      await page.getByRole("navigation", { name: "Breadcrumb" }).getByText(list).click();
      await page.getByRole("heading", { name: list, exact: true }).waitFor();
    }
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("simultaneous changes of two people lead to a choice, and typed values survive the session", async () => {
    const path = `/api/v1/monitors/${world.idOf("Search")}`;
    await using open = await world.open(browser, `/monitors/${world.idOf("Search")}`);
    const { page } = open;
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Name", { exact: true }).fill("Search engine");
    await world.ask("PATCH", path, { description: "Changed by somebody else" });
    await page.context().clearCookies();
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.getByLabel("Password", { exact: true }).fill(owner.password);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog", { name: "Someone else changed this" }).waitFor();
    expect(await world.ask("GET", path)).toMatchObject({ name: "Search" });
    await page.getByRole("button", { name: "Save mine" }).click();
    await page.getByRole("heading", { name: "Search engine" }).waitFor();
    expect(await world.ask("GET", path)).toMatchObject({ name: "Search engine" });
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("no figure of a report is cut or hidden next to the icon rail; on a phone each has its name, and each column sorts", async () => {
    await using open = await world.resume(browser, "/reports", {
      viewport: { width: 768, height: 1024 },
    });
    const { page } = open;
    await page.getByRole("region", { name: "Monitors" }).last().waitFor();
    const cut = () =>
      page.locator(".report-scroll").evaluateAll((tables) =>
        tables.flatMap((table) => {
          const { left, right } = table.getBoundingClientRect();
          return [...table.querySelectorAll("th, td")]
            .filter((cell) => {
              const box = cell.getBoundingClientRect();
              const isOut = box.left < left - 1 || box.right > right + 1;
              return isOut || cell.scrollWidth > cell.clientWidth;
            })
            .map((cell) => cell.textContent);
        }),
      );
    for (const width of [761, 768, 1024, 1100]) {
      await page.setViewportSize({ width, height: 1024 });
      expect([width, await cut()]).toEqual([width, []]);
    }

    // On a phone every figure has its name.
    await page.setViewportSize({ width: 390, height: 844 });
    const table = page.getByRole("region", { name: "Monitors" }).last();
    await table.getByRole("columnheader").first().waitFor();
    const heads = await table.getByRole("columnheader").allTextContents();
    expect(heads.slice(0, 4)).toEqual(["Name", "Days", "Uptime", "Down"]);
    // The heads are one line that scrolls.
    const tops = await table
      .getByRole("columnheader")
      .evaluateAll((found) => new Set(found.map((head) => head.getBoundingClientRect().top)).size);
    expect(tops).toBe(1);
    const row = table.getByRole("row").filter({ hasText: "Web shop" });
    expect(
      await row
        .getByRole("cell")
        .filter({ hasText: /^(None|0|–)$/ })
        .count(),
    ).toBe(0);
    for (const cell of await row.getByRole("cell").all()) {
      const { x = -1, width = 999 } = (await cell.boundingBox()) ?? {};
      expect([x >= 0, x + width <= 390]).toEqual([true, true]);
    }
    const locateNames = () => table.getByRole("rowheader").allTextContents();
    const given = await locateNames();
    await table.getByRole("button", { name: "Name" }).click();
    const sorted = await locateNames();
    expect(sorted.map((name) => name.replace(/since.*/, ""))).toEqual(
      given
        .map((name) => name.replace(/since.*/, ""))
        .sort()
        .reverse(),
    );
    await table
      .getByRole("columnheader", { name: "Name" })
      .and(page.locator("[aria-sort=descending]"))
      .waitFor();
    await table.getByRole("button", { name: "Uptime" }).click();
    expect(await table.locator("[aria-sort]").allTextContents()).toEqual(["Uptime"]);
    const days = page.getByRole("group", { name: /one bar a day/ });
    await days.focus();
    await page.keyboard.press("ArrowLeft");
    const popover = page.locator(".pop").getByRole("heading");
    await popover.waitFor();
    await page.evaluate(() => {
      scrollBy(0, -40);
      return new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame));
    });
    expect(await popover.count()).toBe(1);
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByText("Year", { exact: true }).click();
    const months = page.getByRole("region", { name: /^Months of/ });
    await months.getByRole("rowheader").getByRole("button").last().waitFor();
    expect(await measureOverflow(page)).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await months.getByRole("rowheader").getByRole("button").last().click();
    await table.waitFor();
    expect(new URL(page.url()).searchParams.has("view")).toBe(false);
    expect(open.faults).toEqual([]);
  });
});
