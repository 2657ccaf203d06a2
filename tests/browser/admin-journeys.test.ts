/** Journeys across the admin page by role, including forbidden actions. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TOTP } from "otpauth";
import type { Locator, Page } from "playwright-core";
import { owner, selectPageFaults, findRow, sendHeldNow } from "../support/admin-world.ts";
import { describeInChromium, storePicture, findViolations, visitPage } from "../support/browser.ts";
import { createJourneyWorld, requestRefused, signInOnPage } from "../support/journey-world.ts";
import { replyWith, startTarget } from "../support/target.ts";
import { pollUntil } from "../support/poll.ts";

describeInChromium("journeys through the admin page", (browser) => {
  let world: Awaited<ReturnType<typeof createJourneyWorld>>;
  beforeAll(async () => {
    world = await createJourneyWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("a monitor that goes down sends alerts, and its incident is on the public page until it is up", async () => {
    await using shop = await startTarget(replyWith(200));
    await using hook = await startTarget(replyWith(204));
    const { ask, get, url } = world;
    await ask("POST", "/api/v1/alert-channels", {
      type: "webhook",
      name: "On-call",
      url: hook.at("/alerts"),
      default: true,
    });
    const [{ id: pageId, slug }] = await get("/status-pages");
    const sections = [{ name: "Shop", groupId: world.shop, monitors: [] }];
    await ask("PATCH", `/api/v1/status-pages/${pageId}`, { sections });

    await using open = await world.open(browser, "/");
    const { page } = open;
    await page.getByRole("button", { name: "Create monitor" }).click();
    await page.getByRole("button", { name: "More types and options" }).click();
    const editor = page.getByRole("dialog");
    await editor.getByLabel("Name", { exact: true }).fill("Checkout");
    await editor.getByRole("textbox", { name: "URL" }).fill(shop.at("/checkout"));
    await editor.getByRole("combobox", { name: "Group" }).click();
    await page.getByRole("option", { name: "Shop" }).click();
    await editor.getByLabel("Retries").fill("0");
    await editor.getByRole("button", { name: "Alerts" }).click();
    await editor.getByRole("combobox", { name: "Open incidents automatically" }).click();
    await page.getByRole("option", { name: "Critical" }).click();
    await editor.getByRole("button", { name: "Create monitor" }).click();
    const row = findRow(page, "Checkout");
    await row.getByRole("img", { name: "Up", exact: true }).waitFor();

    const checkNow = async () => {
      await row.getByRole("button", { name: "Actions for Checkout" }).click();
      await page.getByRole("menuitem", { name: "Check now" }).click();
    };
    shop.setReply(replyWith(503));
    await checkNow();
    await row.getByRole("img", { name: "Down", exact: true }).waitFor();
    await row.getByText("503").waitFor();
    await hook.waitUntilRequested(1);
    expect(JSON.parse(hook.asked[0]?.body ?? "")).toMatchObject({
      type: "monitor.down",
      data: { monitor: { name: "Checkout" } },
    });

    const [incident] = await get("/incidents?open=true");
    expect(incident).toMatchObject({ origin: "monitor", severity: "critical" });
    const readShown = (path: string) => fetch(`${url}${path}`).then((response) => response.text());
    const pagePath = `/status/${slug}`;
    await pollUntil(
      () => readShown(pagePath),
      (html) => html.includes(incident.title),
    );
    await using visitor = await visitPage(browser, `${url}${pagePath}`);
    await visitor.page.getByText(incident.title).first().waitFor();

    shop.setReply(replyWith(200));
    await checkNow();
    await row.getByRole("img", { name: "Up", exact: true }).waitFor();
    const ended = await pollUntil(
      () => get(`/incidents/${incident.id}`),
      ({ status }) => status === "resolved",
    );
    await pollUntil(
      () => readShown(`/status/${slug}/incidents/${incident.id}`),
      (html) => html.includes("Resolved"),
    );
    await visitor.page.goto(`${url}/status/${slug}/incidents/${incident.id}`);
    await visitor.page.getByText(ended.title).first().waitFor();
    await visitor.page.getByText("Resolved").first().waitFor();
    await Promise.all([open.measureShifts(), visitor.measureShifts()]);
    expect([...open.faults, ...visitor.faults]).toEqual([]);
  });

  test("a group that is paused in the page is paused in REST, and its targets are not checked", async () => {
    const setInterval = async (interval: number) => {
      for (const name of ["Router", "Printer", "Blog"])
        await world.ask("PATCH", `/api/v1/monitors/${world.idOf(name)}`, { interval });
    };
    await setInterval(5);
    await using open = await world.open(browser, "/");
    const { page } = open;
    await page.getByRole("button", { name: "Pause Office" }).click();
    await findRow(page, "Router").getByRole("img", { name: "Paused" }).waitFor();
    const groups: { name: string; paused: boolean }[] = await pollUntil(
      () => world.get("/monitor-groups"),
      (all) => all.some(({ paused }: { paused: boolean }) => paused),
    );
    expect(groups).toMatchObject([
      { name: "Shop", paused: false },
      { name: "Office", paused: true },
    ]);
    const buildCounts = () => ["/router", "/printer"].map(world.countChecks);
    // Another monitor with the same interval: by its next check all running ones are over.
    const check = async (path: string) => {
      const before = world.countChecks(path);
      while (world.countChecks(path) === before)
        await world.site.waitUntilRequested(world.site.asked.length + 1);
    };
    await check("/blog");
    const before = buildCounts();
    await check("/blog");
    expect(buildCounts()).toEqual(before);
    await page.getByRole("button", { name: "Resume Office" }).click();
    await findRow(page, "Router").getByRole("img", { name: "Up", exact: true }).waitFor();
    expect(world.countChecks("/router")).toBeGreaterThan(before[0] ?? 0);
    // Each check is rendered by every open page.
    await setInterval(86_400);
  });

  test("moves and bulk changes are undone as a whole, including channels from a group", async () => {
    const createChannel = async (name: string) =>
      (
        await world.ask("POST", "/api/v1/alert-channels", {
          type: "webhook",
          name,
          url: world.site.at("/hook"),
        })
      ).id as string;
    const [chat, onCall] = [await createChannel("Chat"), await createChannel("On call")];
    await world.ask("PATCH", `/api/v1/monitor-groups/${world.shop}`, { alertChannelIds: [chat] });
    await world.ask("PATCH", `/api/v1/monitor-groups/${world.office}`, {
      alertChannelIds: [onCall],
    });
    const buildMonitor = (name: string) => world.get(`/monitors/${world.idOf(name)}`);
    await world.ask("PATCH", `/api/v1/monitors/${world.idOf("Router")}`, { alertChannelIds: [] });
    await world.ask("PATCH", `/api/v1/monitors/${world.idOf("Blog")}`, {
      alertChannelIds: [onCall],
    });
    const readState = async () => {
      const monitors = await Promise.all(["Router", "Printer", "Blog"].map(buildMonitor));
      return JSON.stringify([
        monitors.map(({ groupId, paused, muted, tags, alertChannelIds }) => {
          return { groupId, paused, muted, tags, alertChannelIds };
        }),
        (await world.get("/monitor-groups")).map((group: { id: string; monitorIds: string[] }) => [
          group.id,
          group.monitorIds,
        ]),
      ]);
    };
    const before = await readState();
    await using open = await world.open(browser, "/");
    const { page } = open;
    const menu = page.getByRole("menu");
    const undo = async (message: string) => {
      await page.locator(".toast:not([data-seen])", { hasText: message }).waitFor();
      await menu.waitFor({ state: "detached" });
      expect(await readState()).not.toBe(before);
      await page.keyboard.press("Control+z");
      await pollUntil(readState, (now) => now === before);
      await page.locator(".toast").waitFor({ state: "detached" });
    };

    const link = page.getByRole("link", { name: /^Router/ });
    await link.focus();
    await page.keyboard.press("Alt+ArrowDown");
    const first = page.locator(".toast", { hasText: "Moved Router" });
    await first.evaluate((toast) => toast.setAttribute("data-seen", ""));
    // Consecutive keys are one move.
    await page.keyboard.press("Alt+ArrowDown");
    await undo("Moved Router");
    await link.focus();
    await page.keyboard.press("Alt+ArrowUp");
    await pollUntil(
      () => buildMonitor("Router"),
      ({ alertChannelIds }) => String(alertChannelIds) === chat,
    );
    await undo("Moved Router");
    await page.getByRole("button", { name: /^Office/ }).focus();
    await page.keyboard.press("Alt+ArrowUp");
    await undo("Moved the group Office");

    for (const name of ["Router", "Blog"]) {
      await page.getByRole("link", { name: new RegExp(`^${name}`) }).focus();
      await page.keyboard.press("x");
    }
    const bar = page.getByRole("toolbar", { name: "Change the selected monitors" });
    const dialog = page.getByRole("dialog");
    const choose = async (field: string, option: string) => {
      await dialog.getByRole("combobox", { name: field }).click();
      await page.getByRole("option", { name: option, exact: true }).click();
    };
    for (const [button, verb, field, option] of [
      ["Edit", "Change", "Group", "Shop"],
      ["Pause", "Pause", "", ""],
      ["Mute", "Mute", "", ""],
      ["Edit", "Change", "Alerts to", "On call"],
    ] as const) {
      await bar.getByRole("button", { name: button }).click();
      if (field !== "") await choose(field, option);
      await dialog.getByRole("button", { name: new RegExp(`^${verb} \\d`) }).click();
      await undo("Changed");
      for (const name of ["Router", "Blog"])
        await findRow(page, name).getByRole("checkbox").check();
    }
    expect(selectPageFaults(open.faults)).toEqual([]);
    for (const id of [chat, onCall]) await world.ask("DELETE", `/api/v1/alert-channels/${id}`);
  });

  test("the first page's data is requested once, while its script still loads", async () => {
    await using open = await world.open(browser, "/monitors");
    const { page } = open;
    const heading = page.getByRole("heading", { name: "Monitors", exact: true });
    await heading.waitFor();
    const requests: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (/^\/dashboard\/(session|overview)$/.test(pathname)) requests.push(pathname);
    });
    await page.reload();
    await heading.waitFor();
    expect(requests).toEqual(["/dashboard/session", "/dashboard/overview"]);
  });

  test("by keyboard alone, a person signs in, creates a monitor and opens its page", async () => {
    await using open = await visitPage(browser, world.url);
    const { page } = open;
    await page.getByLabel("E-mail").waitFor();
    await page.keyboard.type(owner.email);
    await page.keyboard.press("Tab");
    await page.keyboard.type(owner.password);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Monitors", exact: true }).waitFor();
    await findRow(page, "Blog").waitFor();
    await page.keyboard.press("n");
    await page.getByLabel("Address to monitor").waitFor();
    // Tab also moves back into the open field.
    await page.getByRole("button", { name: "Create group" }).focus();
    await page.keyboard.press("n");
    await page.keyboard.type(world.site.at("/keyboard"));
    await page.keyboard.press("Enter");
    const row = page.getByRole("listitem").filter({ hasText: "/keyboard" });
    await row.getByRole("img", { name: "Up", exact: true }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("keyboard");
    await page
      .getByRole("option", { name: /\/keyboard/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /\/keyboard/ }).waitFor();
    await open.measureShifts();
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("viewers and members are offered only allowed actions, and the server rejects the others", async () => {
    const [viewer, member] = [
      await world.createPerson("viewer"),
      await world.createPerson("member"),
    ];
    await using open = await visitPage(browser, world.url);
    const { page } = open;
    await signInOnPage(page, viewer);
    await findRow(page, "Router").waitFor();
    for (const name of [/Create monitor/, /Create group/, /^Pause/, /^Mute/])
      expect(await page.getByRole("button", { name }).count()).toBe(0);
    expect(await page.getByRole("checkbox").count()).toBe(0);
    await page.getByRole("button", { name: "Actions for Router" }).click();
    await page.getByRole("menuitem").first().waitFor();
    expect(
      await page.getByRole("menuitem", { name: /pause|mute|edit|delete|check/i }).count(),
    ).toBe(0);
    await page.keyboard.press("Escape");
    await page.keyboard.press("n");
    expect(await page.getByLabel("Address to monitor").count()).toBe(0);
    const router = `/api/v1/monitors/${world.idOf("Router")}`;
    const refused: [method: string, path: string, body?: object][] = [
      ["POST", "/api/v1/monitors", { type: "push", name: "Sneaky" }],
      ["PATCH", router, { paused: true }],
      ["DELETE", router],
      ["POST", `${router}/check`],
      ["POST", `/monitor-groups/${world.office}/pause`],
      ["POST", "/api/v1/monitors/bulk", { monitorIds: [world.idOf("Router")], delete: true }],
    ];
    for (const [method, path, body] of refused)
      expect([path, await requestRefused(page, method, path, body)]).toEqual([
        path,
        "403 FORBIDDEN",
      ]);

    await using other = await visitPage(browser, world.url);
    await signInOnPage(other.page, member);
    await findRow(other.page, "Router").waitFor();
    expect(await other.page.getByRole("button", { name: "Create monitor" }).count()).toBe(1);
    const admins: [method: string, path: string, body?: object][] = [
      ["PATCH", "/api/v1/settings", {}],
      ["PATCH", "/organization", { name: "Mine" }],
      ["GET", "/api-keys"],
      ["POST", "/invitations", { email: "friend@acme.example", role: "owner" }],
      ["GET", "/audit-log"],
    ];
    for (const [method, path, body] of admins)
      expect([path, await requestRefused(other.page, method, path, body)]).toEqual([
        path,
        "403 FORBIDDEN",
      ]);
  });

  test("many monitors are tagged, moved and muted at once, as in REST", async () => {
    await using open = await world.open(browser, "/");
    const { page } = open;
    for (const name of ["Router", "Blog"]) {
      await page.getByRole("link", { name: new RegExp(`^${name}`) }).focus();
      await page.keyboard.press("x");
    }
    const bar = page.getByRole("toolbar", { name: "Change the selected monitors" });
    await bar.getByText("2 monitors selected").waitFor();
    await bar.getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: "Group" }).click();
    await page.getByRole("option", { name: "Shop" }).click();
    await dialog.getByRole("combobox", { name: "Tags" }).fill("critical");
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Change 2 monitors" }).click();
    await page.getByText("Changed 2 monitors").first().waitFor();
    for (const name of ["Router", "Blog"]) await findRow(page, name).getByRole("checkbox").check();
    await bar.getByRole("button", { name: "More" }).click();
    const mute = page.getByRole("menuitem", { name: "Unmute", exact: true });
    await mute.waitFor();
    // The bar and its menu are fixed: they do not scroll, and no message covers them.
    const [before, after, scrolled] = await mute.evaluate((item) => {
      const readTop = () => item.getBoundingClientRect().top;
      document.body.style.paddingBottom = "100vh";
      const tops = [readTop(), (scrollTo(0, document.documentElement.scrollHeight), readTop())];
      return [...tops, scrollY];
    });
    expect(scrolled).toBeGreaterThan(0);
    expect(after).toBe(before);
    await page.keyboard.press("Escape");
    await bar.getByRole("button", { name: "Mute" }).click();
    await dialog.getByRole("button", { name: "Mute 2 monitors" }).click();
    for (const name of ["Router", "Blog"])
      await pollUntil(
        () => world.get(`/monitors/${world.idOf(name)}`),
        ({ tags, groupId, muted }) =>
          String(tags) === "critical" && groupId === world.shop && muted === true,
      );
    expect(await world.get(`/monitors/${world.idOf("Printer")}`)).toMatchObject({
      tags: [],
      groupId: world.office,
      muted: false,
    });
    await open.measureShifts();
    expect(open.faults).toEqual([]);
  });

  test("20 intervals change with four clicks and a preview, and an incident names the selection", async () => {
    const ids: string[] = [];
    for (let index = 1; index <= 20; index++) {
      const body = { type: "push", name: `Job ${index}`, ...(index === 7 && { interval: 30 }) };
      ids.push((await world.ask("POST", "/api/v1/monitors", body)).id);
    }
    const readIntervals = async (): Promise<number[]> =>
      Promise.all(ids.map(async (id) => (await world.get(`/monitors/${id}`)).interval));
    const before = await readIntervals();
    await using open = await world.open(browser, "/monitors?q=Job");
    const { page } = open;
    const dialog = page.getByRole("dialog");
    const bar = page.getByRole("toolbar", { name: "Change the selected monitors" });
    await findRow(page, "Job 1").getByRole("checkbox").click();
    await bar.getByRole("button", { name: "Select all 20" }).click();
    await bar.getByRole("button", { name: "Edit" }).click();
    await dialog.getByText("Empty fields stay unchanged.").waitFor();
    await page.keyboard.type("30");
    const preview = dialog.getByRole("region", { name: "Preview" });
    await preview.getByText(/^1 min/).waitFor();
    expect(await preview.innerText()).toMatch(
      /19 monitors[^]*Not changed[^]*already so[^]*1 monitor/,
    );
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Change 19 monitors" }).click();
    await page.locator(".toast", { hasText: "Changed 19 monitors" }).waitFor();
    expect(new Set(await readIntervals())).toEqual(new Set([30]));
    await page.keyboard.press("Control+z");
    await pollUntil(readIntervals, (now) => String(now) === String(before));

    for (const name of ["Job 1", "Job 2"]) await findRow(page, name).getByRole("checkbox").check();
    await bar.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Create incident" }).click();
    await dialog.getByText("Job 1", { exact: true }).first().waitFor();
    await dialog.getByText("Job 2", { exact: true }).first().waitFor();
    await page.keyboard.press("Escape");
    await bar.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Hold alerts until…" }).click();
    await dialog.getByText("Job 2", { exact: true }).waitFor();
    await dialog.getByText(/not public/).waitFor();
    await page.keyboard.press("Escape");
    await bar.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete 2 monitors" }).click();
    const held = page.getByRole("region", { name: "Held changes" });
    await held.getByText("2 monitors", { exact: true }).waitFor();
    await page.keyboard.press("Control+z");
    await held.waitFor({ state: "detached" });
    expect(selectPageFaults(open.faults)).toEqual([]);
    await world.ask("POST", "/api/v1/monitors/bulk", { monitorIds: ids, delete: true });
  });

  test("frequent tasks take few clicks: a restore 4, an old value 3, weekly maintenance 6, an incident 6", async () => {
    const ids: string[] = [];
    for (const name of ["Till A", "Till B", "Till C", "Old till"]) {
      const body = { type: "push", name, interval: 60 };
      ids.push((await world.ask("POST", "/api/v1/monitors", body)).id);
    }
    const [first = "", , , old = ""] = ids;
    await world.ask("PATCH", `/api/v1/monitors/${first}`, { interval: 300 });
    await world.ask("DELETE", `/api/v1/monitors/${old}`);
    await using open = await world.open(browser, "/");
    const { page } = open;
    const dialog = page.getByRole("dialog");
    const main = page.getByRole("main");
    const rail = page.getByRole("navigation", { name: "Main" });
    let clicks = 0;
    const click = async (target: Locator) => {
      clicks++;
      await target.click();
    };
    const locateButton = (name: string | RegExp, within: Page | Locator = page) =>
      within.getByRole("button", { name });

    await click(findRow(page, "Till A").getByRole("link").first());
    await click(locateButton("More actions", main));
    await click(page.getByRole("menuitem", { name: "History" }));
    await main.getByText(/5 min, was 1 min/).waitFor();
    expect(clicks).toBeLessThanOrEqual(3);

    clicks = 0;
    await click(rail.getByRole("link", { name: "Settings" }));
    await click(main.getByRole("link", { name: "Recently deleted" }));
    await click(locateButton("Restore Old till"));
    await pollUntil(
      () => world.get("/monitors?per_page=100"),
      (all) => all.some(({ id }: { id: string }) => id === old),
    );
    expect(clicks).toBeLessThanOrEqual(4);

    const choose = async (label: string, typed: string[]) => {
      await click(dialog.getByRole("combobox", { name: label }));
      for (const name of typed) {
        await page.keyboard.type(name);
        await page.keyboard.press("Enter");
      }
    };
    clicks = 0;
    await click(rail.getByRole("link", { name: "Maintenance" }));
    await click(locateButton("Schedule maintenance"));
    await dialog.getByRole("textbox", { name: "Title" }).waitFor();
    await page.keyboard.type("Patch night");
    await click(dialog.getByRole("combobox", { name: "Repeats" }));
    await click(page.getByRole("option", { name: "Weekly" }));
    await choose("Monitors", ["Till A"]);
    await click(locateButton(/^Schedule/, dialog));
    await dialog.waitFor({ state: "detached" });
    expect(clicks).toBeLessThanOrEqual(6);
    await sendHeldNow(page);
    const [window] = await world.get("/maintenance-windows");
    expect(window).toMatchObject({ title: "Patch night", monitorIds: [first] });
    expect(window.rrule).toContain("FREQ=WEEKLY");

    clicks = 0;
    await click(rail.getByRole("link", { name: "Incidents" }));
    await click(locateButton("Create incident"));
    await dialog.getByRole("textbox", { name: "Title" }).waitFor();
    await page.keyboard.type("Tills are slow");
    await choose("Affected monitors", ["Till A", "Till B", "Till C"]);
    await click(dialog.getByRole("textbox", { name: "Message" }));
    await page.keyboard.type("Paying takes a minute.");
    await click(locateButton(/^Post/, dialog));
    await locateButton("Send now").waitFor();
    expect(clicks).toBeLessThanOrEqual(6);
    const [{ slug }] = await world.get("/status-pages");
    const readPublic = async () => (await fetch(`${world.url}/status/${slug}`)).text();
    expect(await readPublic()).not.toContain("Tills are slow");
    await sendHeldNow(page);
    await pollUntil(readPublic, (text) => text.includes("Tills are slow"));
    expect(selectPageFaults(open.faults)).toEqual([]);
    await world.ask("POST", "/api/v1/monitors/bulk", { monitorIds: ids, delete: true });
  });

  test("two-factor requires a code before it opens anything", async () => {
    const admin = await world.createPerson("admin");
    const call = (path: string, body: object, cookie = "") =>
      fetch(`${world.url}/dashboard${path}`, {
        keepalive: false,
        method: "POST",
        headers: { Origin: world.url, Cookie: cookie, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    const signedIn = await call("/sign-in", admin);
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const begun = (await (
      await call("/two-factor", { password: admin.password }, cookie)
    ).json()) as {
      data: { secret: string };
    };
    const codes = new TOTP({ secret: begun.data.secret });
    const first = { code: codes.generate() };
    expect((await call("/two-factor/confirm", first, cookie)).status).toBe(200);

    await using open = await visitPage(browser, world.url);
    const { page } = open;
    await signInOnPage(page, admin);
    await page.getByLabel("Code").fill(first.code);
    await page.keyboard.press("Enter");
    // A used code is rejected.
    await page
      .getByLabel("Code")
      .and(page.locator("[aria-invalid=true]"))
      .or(page.getByRole("alert"))
      .first()
      .waitFor();
    expect(await requestRefused(page, "GET", "/overview")).toBe("401 UNAUTHORIZED");
    await page.getByLabel("Code").fill(codes.generate({ timestamp: Date.now() + 30_000 }));
    await page.keyboard.press("Enter");
    await findRow(page, "Printer").waitFor();
    await open.measureShifts();

    // Another person with the password tries codes: the open page shows it.
    const waiting = (await call("/sign-in", admin)).headers.get("set-cookie")?.split(";")[0];
    const guessed = await call("/sign-in/code", { code: "000000" }, waiting);
    expect(guessed.status).toBe(401);
    const banner = page.getByRole("status").filter({ hasText: "two-factor" });
    await banner
      .getByText("1 wrong two-factor code was entered after your correct password")
      .waitFor();
    await banner.getByText("from 127.0.0.1").waitFor();
    await call("/sign-in/code", { code: "000000" }, waiting);
    await banner.getByText("2 wrong two-factor codes were entered").waitFor();
    expect(await banner.innerText()).toMatch(/the first .+, the last .+ from 127\.0\.0\.1\./);
    // The banner remains until the person dismisses it.
    await page.reload();
    await banner.waitFor();
    expect((await call("/profile/wrong-codes/acknowledge", {}, waiting)).status).toBe(401);
    expect((await call("/profile/wrong-codes/acknowledge", {})).status).toBe(401);
    await page.reload();
    await banner.waitFor();
    await storePicture(page, "admin-wrong-codes-1440.png");
    expect(await findViolations(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    await storePicture(page, "admin-wrong-codes-360.png");
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.getByText("wrong two-factor code").waitFor({ state: "detached" });
    expect(selectPageFaults(open.faults)).toEqual([]);
  });

  test("while the server is stopped the page shows it, and continues once the server is back", async () => {
    await using open = await world.open(browser, "/");
    const { page } = open;
    await page.getByText("Live", { exact: true }).waitFor();
    world.site.setReply(replyWith(502), "/blog");
    await world.rest("POST", `/api/v1/monitors/${world.idOf("Blog")}/check`);
    // An outage below one second has no duration.
    const attention = page.getByRole("region", { name: /^Needs attention/ });
    await attention.getByText(/^for \d+\s(s|min)/).waitFor();
    await world.stop();
    await page.getByText("The connection to Signalbox is lost").waitFor();
    await page.getByText(/^Stale since \d\d:\d\d$/).waitFor();
    await page
      .getByText(/^at least /)
      .first()
      .waitFor();
    await findRow(page, "Printer").waitFor();
    await world.box.serve({ flags: ["--rate-limit", "0"], port: world.port });
    await world.rest("PATCH", `/api/v1/monitors/${world.idOf("Printer")}`, { name: "Plotter" });
    await findRow(page, "Plotter").waitFor();
    await page.getByText("The connection to Signalbox is lost").waitFor({ state: "detached" });
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await page.getByText(/^at least /).count()).toBe(0);
    expect(await findRow(page, "Printer").count()).toBe(0);
  });
});
