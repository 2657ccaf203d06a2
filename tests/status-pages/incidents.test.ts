import { dayMs } from "../../src/core/time/clock.ts";
import { describe, expect, test } from "bun:test";

import { buildSection, type Visitor, createVisitor, readWords } from "../support/visitor.ts";

/** Titles of the incidents on a page, newest first. */
async function readTitles({ readHtml, restart }: Visitor, slug: string): Promise<string[]> {
  await restart();
  const { incidents } = (await readHtml(`/status/${slug}.json`)).json();
  return incidents.map(({ title }: { title: string }) => title);
}

/** Our default page shows `shown`, a further page `other`; `bare` is on no page. */
async function setUpPages() {
  const visitor = await createVisitor();
  const auto = { autoIncidentSeverity: "major" };
  const createJob = (name: string) => visitor.createJob({ name, ...auto });
  const [shown, other, bare] = [
    await createJob("Shown"),
    await createJob("Other"),
    await createJob("Bare"),
  ];
  await visitor.publish({ sections: [buildSection("Jobs", [shown.id, "Shop"])] });
  await visitor.createPage({ sections: [buildSection("Jobs", [other.id, "Cards"])] });
  return { ...visitor, shown, other, bare };
}

describe("visibility of incidents", () => {
  test("manual incidents are on the default page, and on other pages that show their monitor", async () => {
    await using world = await setUpPages();
    const { createIncident, shown, other, bare, readHtml } = world;
    await createIncident({ title: "For all" });
    await createIncident({ title: "Of shown", monitorId: shown.id });
    await createIncident({ title: "Of other", monitorId: other.id });
    await createIncident({ title: "Of bare", monitorId: bare.id });
    await createIncident({ title: "Private", public: false });
    expect(await readTitles(world, "ours")).toEqual(["Of bare", "Of other", "Of shown", "For all"]);
    expect(await readTitles(world, "payments")).toEqual(["Of other", "For all"]);
    expect(await readTitles(world, "theirs")).toEqual([]);
    const { incidents } = (await readHtml("/status/ours.json")).json();
    const shop = { id: shown.id, name: "Shop", impact: null };
    expect(incidents.map(({ monitor }: { monitor: unknown }) => monitor)).toEqual([
      null,
      null,
      shop,
      null,
    ]);
  });

  test("an incident of several monitors is on pages that show one of them, which name only their own", async () => {
    await using world = await setUpPages();
    const { createIncident, postUpdate, shown, other, bare, readHtml, get, api } = world;
    const ids = [bare.id, other.id, shown.id];
    const { id } = await createIncident({ title: "Of all three", monitorIds: ids });
    await createIncident({ title: "Of bare", monitorIds: [bare.id] });
    expect(await readTitles(world, "ours")).toEqual(["Of bare", "Of all three"]);
    expect(await readTitles(world, "payments")).toEqual(["Of all three"]);
    const cards = { id: other.id, name: "Cards" };
    const { incidents } = (await readHtml("/status/payments.json")).json();
    expect(incidents).toMatchObject([{ monitor: cards, monitors: [cards] }]);
    const { text } = await readHtml(`/status/payments/incidents/${id}`);
    expect(readWords(text, ".aff b")).toEqual(["Cards"]);
    for (const word of ["Bare", "Shown", "Shop", bare.id, shown.id])
      expect([word, text.includes(word)]).toEqual([word, false]);
    await postUpdate(id, { monitorIds: [shown.id, bare.id] });
    expect(await readTitles(world, "payments")).toEqual([]);
    expect((await get(`/status/payments/incidents/${id}`)).status).toBe(404);
    // On both pages, with a different name on each.
    await postUpdate(id, { monitorIds: [other.id, shown.id] });
    const second = { sections: [buildSection("Jobs", [shown.id, "Till"], [other.id, "Cards"])] };
    const [, { id: pageId }] = (await api("GET", "/api/v1/status-pages")).json.data;
    await api("PATCH", `/api/v1/status-pages/${pageId}`, { body: second });
    await world.restart();
    const page = (await readHtml(`/status/payments/incidents/${id}`)).text;
    expect(readWords(page, ".aff b")).toEqual(["Cards", "Till"]);
  });

  test("an automatic incident names no monitor as its cause on a page without that monitor", async () => {
    await using world = await setUpPages();
    const { bare, other, createIncident, postUpdate, readHtml } = world;
    await bare.report({ status: "down" });
    const [{ id }] = (await world.api("GET", "/api/v1/incidents")).json.data;
    await postUpdate(id, { monitorIds: [bare.id, other.id] });
    await createIncident({ title: "Else" });
    expect(await readTitles(world, "payments")).toEqual(["Else", "A service is down"]);
    const { incidents } = (await readHtml("/status/payments.json")).json();
    expect(incidents[1].monitors).toEqual([{ id: other.id, name: "Cards", impact: null }]);
  });

  test("an automatic incident is only on pages with its monitor, under its public name", async () => {
    await using world = await setUpPages();
    for (const job of [world.shown, world.other, world.bare]) await job.report({ status: "down" });
    expect(await readTitles(world, "ours")).toEqual(["Shop is down"]);
    expect(await readTitles(world, "payments")).toEqual(["Cards is down"]);
    await world.shown.report();
    await world.restart();
    const { text } = await world.readHtml("/status/ours");
    expect(text).toContain("Shop is responding again");
    expect(text).not.toContain("Shown");
  });

  test("an incident of a monitor that is on no page stays hidden when the monitor is deleted", async () => {
    await using world = await setUpPages();
    await world.bare.report({ status: "down" });
    const { status } = await world.api("DELETE", `/api/v1/monitors/${world.bare.id}`);
    expect(status).toBe(200);
    expect(await readTitles(world, "ours")).toEqual([]);
    expect(await readTitles(world, "payments")).toEqual([]);
  });

  test("a monitor that was renamed during its incident does not show its old name", async () => {
    await using world = await setUpPages();
    await world.shown.report({ status: "down" });
    await world.changeMonitor(world.shown.id, { name: "Renamed" });
    expect(await readTitles(world, "ours")).toEqual(["Shop is down"]);
  });

  test("an incident that becomes private is removed, also from its own address", async () => {
    await using visitor = await createVisitor();
    const { id } = await visitor.createIncident();
    await visitor.readHtml(`/status/ours/incidents/${id}`);
    await visitor.postUpdate(id, { public: false });
    expect(await readTitles(visitor, "ours")).toEqual([]);
    expect((await visitor.get(`/status/ours/incidents/${id}`)).status).toBe(404);
  });

  test("an open incident is shown, however many open incidents the page does not show", async () => {
    await using world = await setUpPages();
    const { other, bare, ours, database } = world;
    await other.report({ status: "down" });
    const names = database
      .query<{ name: string }, []>("SELECT name FROM pragma_table_info('incidents')")
      .all()
      .map(({ name }) => name);
    const changed: Record<string, string> = { id: "?", monitor_id: "?", monitor_ids: "NULL" };
    const insert = database.prepare(
      `INSERT INTO incidents (${names.join(", ")}) SELECT ${names.map((name) => changed[name] ?? name).join(", ")}
       FROM incidents WHERE organization_id = ? LIMIT 1`,
    );
    for (let count = 0; count < 200; count++)
      insert.run(Bun.randomUUIDv7("hex", world.time.now + 1_000), bare.id, ours.id);
    expect(await readTitles(world, "payments")).toEqual(["Cards is down"]);
  });
});

describe("one incident", () => {
  test("shows its whole timeline, newest first, at a stable address", async () => {
    await using visitor = await createVisitor();
    const { createIncident, postUpdate, readHtml, restart, time } = visitor;
    const { id } = await createIncident({ message: "Looking.", severity: "critical" });
    time.now += 60_000;
    await postUpdate(id, { status: "identified", message: "Found\nit." });
    time.now += 60_000;
    await postUpdate(id, { status: "resolved" });
    const { text } = await readHtml(`/status/ours/incidents/${id}`);
    expect(readWords(text, "title")).toEqual(["Slow answers – Ours"]);
    expect(readWords(text, "li b")).toEqual(["Resolved", "Identified", "Investigating"]);
    expect(readWords(text, "li p")).toEqual(["Incident resolved.", "Found\nit.", "Looking."]);
    expect(readWords(text, ".sev")).toEqual(["Critical"]);
    expect(text).toContain("lasted 2 min");
    time.now += 400 * dayMs;
    await restart();
    await readHtml(`/status/ours/incidents/${id}`);
    expect((await readHtml("/status/ours.json")).json().incidents).toEqual([]);
  });

  test("stays on the page while it is open, and for a week after its last update", async () => {
    await using visitor = await createVisitor();
    const { createIncident, postUpdate, time } = visitor;
    const [open, over] = [
      await createIncident({ title: "Open" }),
      await createIncident({ title: "Over" }),
    ];
    const listPast = async () =>
      readWords((await visitor.readHtml("/status/ours")).text, ".past .row a");
    await postUpdate(over.id, { status: "resolved" });
    time.now += 7 * dayMs;
    expect(await readTitles(visitor, "ours")).toEqual(["Over", "Open"]);
    time.now += 2 * dayMs;
    expect(await readTitles(visitor, "ours")).toEqual(["Open"]);
    await postUpdate(open.id, { status: "resolved" });
    expect(await readTitles(visitor, "ours")).toEqual(["Open"]);
    expect(await listPast()).toEqual(["Open", "Over"]);
    time.now += 9 * dayMs;
    // A correction of the text is not an update.
    await postUpdate(open.id, { title: "Was open" });
    expect(await readTitles(visitor, "ours")).toEqual([]);
    // The list of past incidents is filled with earlier ones.
    expect(await listPast()).toEqual(["Over", "Was open"]);
  });
});

describe("the history", () => {
  const extractLinks = (html: string) =>
    [...html.matchAll(/history\?month=(\d{4}-\d\d)/g)].map(([, month]) => month);

  test("shows a month's incidents by day, and links to the months before and after it", async () => {
    await using visitor = await createVisitor();
    const { createIncident, readHtml, restart, time } = visitor;
    time.now = Date.parse("2026-09-30T23:59:59.999Z");
    await createIncident({ title: "Last of September" });
    time.now = Date.parse("2026-10-01T00:00:00.000Z");
    await createIncident({ title: "First of October" });
    time.now = Date.parse("2026-11-20T10:00:00.000Z");
    await restart();
    const readMonth = async (query: string) => {
      const { text } = await readHtml(`/status/ours/history${query}`);
      return [
        readWords(text, "h1"),
        readWords(text, ".row .day"),
        readWords(text, ".row a"),
        extractLinks(text),
      ];
    };
    expect(await readMonth("")).toEqual([["November 2026"], [], [], ["2026-10"]]);
    expect(await readMonth("?month=2026-10")).toEqual([
      ["October 2026"],
      ["1 Oct"],
      ["First of October"],
      ["2026-09", "2026-11"],
    ]);
    expect(await readMonth("?month=2026-09")).toEqual([
      ["September 2026"],
      ["30 Sept"],
      ["Last of September"],
      ["2026-10"],
    ]);
    expect((await visitor.get("/status/ours/history?month=2026-12")).status).toBe(404);
  });

  test("does not link to months without incidents", async () => {
    await using world = await setUpPages();
    const { createIncident, bare, time, readHtml } = world;
    await createIncident({ title: "Of bare", monitorId: bare.id });
    time.now += 31 * dayMs;
    expect(extractLinks((await readHtml("/status/payments/history")).text)).toEqual([]);
  });
});
