import { dayMs } from "../../src/core/time/clock.ts";
import { parseXml } from "@rgrove/parse-xml";
import { describe, expect, test } from "bun:test";
import { parseAtomFeed, parseRssFeed } from "feedsmith";

import { escapeTags } from "../../src/core/text/formatting.ts";
import { buildSection, type Visitor, createVisitor } from "../support/visitor.ts";

const page = "http://signalbox.lan:3210/status/ours";

/** Both feeds, well-formed and parsed by a feed reader's parser. */
async function feedsOf({ readHtml: read, restart }: Visitor, slug = "ours") {
  await restart();
  const [rss, atom] = [
    await read(`/status/${slug}/feed.rss`),
    await read(`/status/${slug}/feed.atom`),
  ];
  for (const { text } of [rss, atom]) parseXml(text);
  expect([rss.type, atom.type]).toEqual([
    "application/rss+xml; charset=utf-8",
    "application/atom+xml; charset=utf-8",
  ]);
  for (const { headers } of [rss, atom])
    expect(headers.get("access-control-allow-origin")).toBe("*");
  return { rss: parseRssFeed(rss.text), atom: parseAtomFeed(atom.text) };
}

/** A page with one incident of three updates, a minute apart, and an older one. */
async function story() {
  const made = await createVisitor();
  const { createIncident: incident, postUpdate: post, time } = made;
  const older = await incident({ title: "Slow answers" });
  time.now += 60_000;
  const { id } = await incident({ title: "Card payments fail", message: "Looking." });
  time.now += 60_000;
  await post(id, { status: "identified", message: "A cable.\nNew one is on its way." });
  time.now += 60_000;
  await post(id, { status: "resolved", message: "Changed." });
  return { ...made, id, olderId: older.id };
}

const content =
  '<p><strong>Resolved</strong> (20 Nov 2026, 10:03 UTC):</p><p dir="auto">Changed.</p>' +
  '<p><strong>Identified</strong> (20 Nov 2026, 10:02 UTC):</p><p dir="auto">A cable.<br>New one is on its way.</p>' +
  '<p><strong>Investigating</strong> (20 Nov 2026, 10:01 UTC):</p><p dir="auto">Looking.</p>';

describe("the Atom feed", () => {
  test("has the fields that RFC 4287 requires, and its own address", async () => {
    await using made = await story();
    const { id, slug } = await made.defaultPage();
    const { atom } = await feedsOf(made);
    expect(slug).toBe("ours");
    expect(atom).toMatchObject({
      id: `urn:uuid:${id}`,
      title: { value: "Ours" },
      authors: [{ name: "Ours" }],
      updated: "2026-11-20T10:03:00.000Z",
      links: [{ href: page }, { href: `${page}/feed.atom`, rel: "self" }],
    });
  });

  test("has an entry per incident, newest first, with a stable id and its last update's time", async () => {
    await using made = await story();
    const { atom } = await feedsOf(made);
    expect(atom.entries).toMatchObject([
      {
        id: `urn:uuid:${made.id}`,
        title: { value: "Resolved: Card payments fail" },
        links: [{ href: `${page}/incidents/${made.id}` }],
        published: "2026-11-20T10:01:00.000Z",
        updated: "2026-11-20T10:03:00.000Z",
        content: { type: "html", value: content },
      },
      { id: `urn:uuid:${made.olderId}`, title: { value: "Investigating: Slow answers" } },
    ]);
  });
});

describe("the RSS feed", () => {
  test("has the fields that RSS 2.0 requires, and its own address", async () => {
    await using made = await story();
    const { rss } = await feedsOf(made);
    expect(rss).toMatchObject({
      title: "Ours",
      link: page,
      description: "Incidents of Ours",
      atom: { links: [{ href: `${page}/feed.rss`, rel: "self", type: "application/rss+xml" }] },
    });
    await made.publish({ description: "All about us & ours." });
    expect((await feedsOf(made)).rss.description).toBe("All about us & ours.");
  });

  test("has an item per incident, newest first, with a stable guid", async () => {
    await using made = await story();
    const { rss } = await feedsOf(made);
    expect(rss.items).toMatchObject([
      {
        title: "Resolved: Card payments fail",
        link: `${page}/incidents/${made.id}`,
        guid: { value: made.id, isPermaLink: false },
        pubDate: "Fri, 20 Nov 2026 10:03:00 GMT",
        description: content,
      },
      { guid: { value: made.olderId, isPermaLink: false } },
    ]);
  });
});

test("every link of a feed leads to a page", async () => {
  await using made = await story();
  const { rss, atom } = await feedsOf(made);
  const links = [rss.link, atom.links?.[0]?.href, atom.links?.[1]?.href];
  for (const link of [...links, ...(rss.items ?? []).map((item) => item.link)])
    await made.readHtml(new URL(link ?? "").pathname);
});

test("feeds without incidents are valid", async () => {
  await using made = await createVisitor();
  const { rss, atom } = await feedsOf(made);
  expect([rss.title, rss.items ?? [], atom.title?.value, atom.entries ?? []]).toEqual([
    "Ours",
    [],
    "Ours",
    [],
  ]);
  expect(atom.updated).toBe("2026-11-20T10:00:00.000Z");
});

test("a feed's id stays the same when the page moves to another address", async () => {
  await using made = await story();
  const { atom } = await feedsOf(made);
  await made.publish({ slug: "moved" });
  const { atom: moved } = await feedsOf(made, "moved");
  expect(moved.id).toBe(atom.id as string);
  expect(moved.entries?.map(({ id }) => id)).toEqual(atom.entries?.map(({ id }) => id));
});

test("an incident stays in the feeds for a week after its end, however long it was open", async () => {
  await using made = await createVisitor();
  const { id } = await made.createIncident({ title: "Slow since long" });
  made.time.now += 30 * dayMs;
  await made.postUpdate(id, { status: "resolved" });
  const titles = async () => {
    const { rss, atom } = await feedsOf(made);
    return [rss.items ?? [], atom.entries ?? []].map(([first]) => JSON.stringify(first?.title));
  };
  for (const title of await titles()) expect(title).toContain("Resolved: Slow since long");
  made.time.now += 7 * dayMs;
  for (const title of await titles()) expect(title).toContain("Resolved: Slow since long");
  made.time.now += 2 * dayMs;
  expect(await titles()).toEqual([undefined, undefined] as never);
});

describe("maintenance in the feeds", () => {
  const at = (time: string) => `2026-11-${time}:00:00.000Z`;

  async function planned(fields: object = {}) {
    const made = await createVisitor();
    const { id: monitorId } = await made.monitor({ name: "db-7.internal" });
    await made.publish({ sections: [buildSection("Shop", [monitorId, "Web & shop"])] });
    const body = {
      title: "New <disks>",
      description: "Short gaps.\nSorry & thanks.",
      startsAt: at("22T02"),
      endsAt: at("22T04"),
      monitorIds: [monitorId],
      ...fields,
    };
    const { json } = await made.api("POST", "/api/v1/maintenance-windows", { body });
    /** The entries of both feeds, which are equal. */
    const entries = async () => {
      const { rss, atom } = await feedsOf(made);
      const told = (atom.entries ?? []).map(({ id, title, published, updated, content }) => ({
        id,
        title: title?.value,
        published,
        updated,
        content: content?.value,
      }));
      expect(
        (rss.items ?? []).map(({ guid, title }) => [`urn:uuid:${guid?.value}`, title]),
      ).toEqual(told.map(({ id, title }) => [id, escapeTags(title ?? "")]));
      return told;
    };
    return { ...made, windowId: json.data.id as string, entries };
  }

  test("appears when it is planned, starts and ends, as one entry", async () => {
    await using made = await planned();
    const created = new Date(made.time.now).toISOString();
    const told = {
      id: `urn:uuid:${made.windowId}`,
      title: "Scheduled maintenance: New <disks>",
      published: created,
      updated: created,
      content:
        "<p><strong>Scheduled maintenance</strong> (22 Nov 2026, 02:00–04:00 UTC)</p>" +
        '<p dir="auto">Short gaps.<br>Sorry &amp; thanks.</p>' +
        "<p>Affects: Web &amp; shop</p>",
    };
    expect(await made.entries()).toEqual([told]);
    made.time.now = Date.parse(at("22T03"));
    expect(await made.entries()).toMatchObject([
      { id: told.id, title: "Maintenance in progress: New <disks>", updated: at("22T02") },
    ]);
    made.time.now = Date.parse(at("22T05"));
    expect(await made.entries()).toMatchObject([
      { id: told.id, title: "Maintenance completed: New <disks>", updated: at("22T04") },
    ]);
    made.time.now += 9 * dayMs;
    expect(await made.entries()).toEqual([]);
  });

  test("has an entry with a stable id for each occurrence", async () => {
    await using made = await planned({ rrule: "FREQ=WEEKLY" });
    const before = await made.entries();
    expect(before).toHaveLength(3);
    expect(new Set(before.map(({ id }) => id)).size).toBe(3);
    made.time.now += 7 * dayMs;
    const after = await made.entries();
    const titles = new Map(after.map(({ id, title }) => [id, title]));
    const [first, ...others] = before
      .toReversed()
      .sort((a, b) => ((a.content ?? "") < (b.content ?? "") ? -1 : 1));
    expect(titles.get(first?.id)).toStartWith("Maintenance completed");
    for (const { id } of others) expect(titles.get(id)).toStartWith("Scheduled maintenance");
  });

  test("never makes a feed longer than 200 entries", async () => {
    await using made = await planned();
    for (let count = 0; count < 70; count++) {
      const times = { startsAt: at("22T02"), endsAt: at("22T04"), rrule: "FREQ=DAILY" };
      await made.api("POST", "/api/v1/maintenance-windows", { body: { title: "Daily", ...times } });
    }
    expect(await made.entries()).toHaveLength(200);
  });

  test("is the same as on the page, without private fields", async () => {
    await using made = await planned({ public: false });
    expect(await made.entries()).toEqual([]);
    await using shown = await planned();
    expect(JSON.stringify(await shown.entries())).not.toContain("db-7");
  });
});

test("feeds name a monitor as its page does", async () => {
  await using made = await createVisitor();
  const { id, report } = await made.createJob({
    name: "db-1.internal",
    autoIncidentSeverity: "minor",
  });
  await made.publish({ sections: [buildSection("Jobs", [id, "Orders"])] });
  await report({ status: "down" });
  const { rss, atom } = await feedsOf(made);
  const titles = [rss.items?.[0]?.title, atom.entries?.[0]?.title?.value];
  expect(titles).toEqual(Array(2).fill("Investigating: Orders is down"));
  expect(JSON.stringify([rss, atom])).not.toContain("db-1");
});
