/** Alerts on the admin page: list, acknowledging on a phone and from a message, timeline and notes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { defineLookTests } from "../support/admin-looks.ts";
import { owner, startOwnedMachine, visitAs } from "../support/admin-world.ts";
import {
  describeInChromium,
  findViolations,
  measureOverflow,
  storePicture,
  visitPage,
} from "../support/browser.ts";
import type { Json } from "../support/json.ts";
import { parseJsonBody, startTarget } from "../support/target.ts";
import { waitUntil } from "../support/poll.ts";

describeInChromium("alerts", (browser) => {
  let world: Awaited<ReturnType<typeof startOwnedMachine>>;
  let alerts: Json[] = [];
  let inbox: Awaited<ReturnType<typeof startTarget>>;
  const list = async (): Promise<Json[]> => world.ask("GET", "/api/v1/alerts");
  beforeAll(async () => {
    world = await startOwnedMachine();
    inbox = await startTarget();
    const url = inbox.at("/hook");
    await world.ask("POST", "/api/v1/alert-channels", {
      type: "webhook",
      name: "Night shift",
      url,
    });
    for (const [title, severity] of [
      ["Slow checkout", "minor"],
      ["Lost mails", "critical"],
      ["Old outage", "minor"],
    ])
      await world.ask("POST", "/api/v1/incidents", { title, severity });
    while (alerts.length < 3) {
      await Bun.sleep(100);
      alerts = await list();
    }
    const { subject } = alerts.find(({ title }) => title.includes("Old")) as Json;
    await world.ask("PATCH", `/api/v1/incidents/${subject.id}`, { status: "resolved" });
    await waitUntil(async () => (await list()).some(({ status }) => status !== "open"), 100);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await inbox[Symbol.asyncDispose]();
  });

  defineLookTests((path) => world.open(browser, path), {
    alerts: () => ["/alerts", "Problems now"],
    alert: () => [`/alerts/${alerts[0].id}`, "Timeline"],
  });

  test("on a phone, two taps acknowledge an alert, which can be snoozed and noted", async () => {
    await using open = await world.open(browser, "/", { viewport: { width: 390, height: 844 } });
    const { page } = open;
    await page.getByRole("link", { name: "Alerts" }).first().click();
    await page.getByRole("button", { name: "Acknowledge Incident: Slow checkout" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "Slow checkout" });
    await row.getByText(`acknowledged by ${owner.name}`).waitFor();
    await page.getByRole("button", { name: "Snooze Incident: Slow checkout" }).click();
    await page.getByRole("menuitem", { name: "until a time…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Until").fill("in 8 h");
    await dialog.getByRole("button", { name: "Snooze", exact: true }).click();
    await row.getByText("snoozed until").waitFor();
    await row.getByRole("link").click();
    await page.getByLabel("Note").fill("The provider works on it.");
    await page.getByRole("button", { name: "Add note" }).click();
    await page.getByText("The provider works on it.", { exact: true }).last().waitFor();
    const [slow] = (await list()).filter(({ title }) => title.includes("Slow"));
    expect([slow.status, slow.acknowledgments[0].name]).toEqual(["snoozed", owner.name]);
    expect(open.faults).toEqual([]);
  });

  test("equal messages to several channels are one line of the timeline, the newest first", async () => {
    for (const name of ["Chat", "Mail", "Pager"])
      await world.ask("POST", "/api/v1/alert-channels", {
        type: "webhook",
        name,
        url: inbox.at("/hook"),
      });
    await world.ask("POST", "/api/v1/incidents", { title: "Full disk", severity: "minor" });
    const findAlert = async () => (await list()).find(({ title }) => title.includes("Full disk"));
    await waitUntil(async () => (await findAlert()) !== undefined, 100);
    const { id } = (await findAlert()) as Json;
    await using open = await world.open(browser, `/alerts/${id}`);
    const { page } = open;
    const lines = page.locator(".alert-timeline > li");
    const line = lines.filter({ hasText: "Delivered to" });
    await line.getByText("2 more").waitFor();
    await page.locator(".alert-timeline").getByText("Sending").waitFor({ state: "detached" });
    await storePicture(page, "alert-folded.png");
    await line.getByRole("button", { name: "Show all" }).click();
    expect((await line.locator("bdi").allTextContents()).toSorted()).toEqual([
      "Chat",
      "Mail",
      "Night shift",
      "Pager",
    ]);
    expect(await lines.locator("b").allTextContents()).toEqual(["Delivered", "Opened"]);
    expect(open.faults).toEqual([]);
  });

  test("a long timeline shows its newest entries, and all of them on demand and on paper", async () => {
    const [{ id }] = (await list()).filter(({ title }) => title.includes("Lost")) as [Json];
    for (let number = 1; number <= 21; number++)
      await world.ask("POST", `/api/v1/alerts/${id}/notes`, { message: `Note ${number}` });
    await using open = await world.open(browser, `/alerts/${id}`);
    const { page } = open;
    const lines = page.locator(".alert-timeline > li");
    const showAll = page.getByRole("button", { name: /^Show all \d+$/ });
    await showAll.waitFor();
    expect(await lines.count()).toBe(15);
    expect(await lines.first().textContent()).toContain("Note 21");
    await showAll.click();
    await lines.filter({ hasText: "Opened" }).waitFor();
    expect(await showAll.count()).toBe(0);
    await page.reload();
    await showAll.waitFor();
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await lines.filter({ hasText: "Opened" }).waitFor();
    expect(open.faults).toEqual([]);
  });

  test("on a phone, the link of a message and one tap acknowledge an alert without signing in", async () => {
    await waitUntil(() => inbox.asked.length > 0, 100);
    const sent = inbox.asked.flatMap((request) => {
      const { data } = parseJsonBody<Json>(request);
      return (data.alerts ?? [{ data }]) as Json[];
    });
    const { data } = sent.find((one) => one.data.incident.title === "Lost mails") as Json;
    const { pathname } = new URL(data.acknowledgeUrl);
    await using open = await visitPage(browser, `${world.url}${pathname}`, {
      viewport: { width: 390, height: 844 },
    });
    const { page } = open;
    await page.getByText("Nobody has acknowledged it.").waitFor();
    expect([await findViolations(page), await measureOverflow(page)]).toEqual([[], 0]);
    await page.getByRole("button", { name: "Acknowledge" }).click();
    await page.getByText("Acknowledged by Night shift.").waitFor();
    expect(await page.getByRole("button").count()).toBe(0);
    const [lost] = (await list()).filter(({ title }) => title.includes("Lost"));
    expect([lost.status, lost.acknowledgments[0].name]).toEqual(["acknowledged", "Night shift"]);
    expect(open.faults).toEqual([]);
  });

  test("a viewer acknowledges the alert that notified them, and is offered nothing else", async () => {
    await using open = await visitAs(browser, world, "viewer", "/");
    const { page } = open;
    const request = (method: string, path: string, body?: object): Promise<Json> =>
      page.evaluate(
        async ([method, path, body]) => {
          const headers = { "Content-Type": "application/json" };
          const response = await fetch(`/dashboard${path}`, { method, headers, body });
          return (await response.json()).data;
        },
        [method, path, body === undefined ? null : JSON.stringify(body)] as const,
      );
    const contact = { type: "webhook", name: "Phone", url: inbox.at("/phone") };
    const method = await request("POST", "/api/v1/contact-methods", contact);
    const path = `/api/v1/contact-methods/${method.id}`;
    await request("POST", `${path}/code`, {});
    const code = /\b\d{6}\b/.exec(inbox.asked.at(-1)?.body ?? "")?.[0];
    await request("POST", `${path}/verify`, { code });
    const { person } = await request("GET", "/session");
    const drill = await request("POST", `/api/v1/people/${person.id}/drill`, {});
    await page.goto(`${world.url}/alerts/${drill.id}`);
    const buttons = page.locator(".alert-buttons").getByRole("button");
    await buttons.first().waitFor();
    expect(await buttons.allTextContents()).toEqual(["Acknowledge"]);
    await storePicture(page, "alert-viewer.png");
    await buttons.first().click();
    await page.getByText("acknowledged by viewer after").waitFor();
    expect(await buttons.count()).toBe(0);
    await page.goto(`${world.url}/alerts/${alerts[0].id}`);
    await page.getByText("Timeline").waitFor();
    expect(await buttons.count()).toBe(0);
  });

  test("the list is filtered by priority and type, and links are revoked after a confirmation", async () => {
    await using open = await world.open(browser, "/alerts");
    const { page } = open;
    const rows = page.locator(".alert-record b");
    await rows.nth(2).waitFor();
    await page.getByRole("button", { name: "Priority" }).click();
    await page.getByRole("menuitem", { name: "Critical" }).click();
    await rows.nth(1).waitFor({ state: "detached" });
    expect(await rows.allTextContents()).toEqual(["Incident: Lost mails"]);
    await page.getByRole("button", { name: "Type" }).click();
    await page.getByRole("menuitem", { name: "Down" }).click();
    await page.getByText("No alert matches the filters.").waitFor();
    expect(new URL(page.url()).search).toBe("?priority=critical&type=monitor.down");
    await page.getByRole("button", { name: "Show all alerts" }).click();
    await page.getByRole("link", { name: "Lost mails" }).click();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Revoke links" }).click();
    const dialog = page.getByRole("dialog");
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Revoke links" }).click();
    await page.getByText(`Links revoked by ${owner.name}`).waitFor();
    expect(open.faults).toEqual([]);
  });
});
