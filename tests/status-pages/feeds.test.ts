import { dayMs } from "../../src/core/time/clock.ts";
import { parseXml } from "@rgrove/parse-xml";
import { describe, expect, test } from "bun:test";
import { parseAtomFeed, parseRssFeed } from "feedsmith";

import { escapeTags } from "../../src/core/text/formatting.ts";
import { buildSection, type Visitor, createVisitor } from "../support/visitor.ts";

const page = "http://signalbox.lan:3210/status/ours";

/** Both feeds, well-formed and parsed by a feed reader's parser. */
async function readFeeds({ readHtml, restart }: Visitor, slug = "ours") {
  await restart();
  const [rss, atom] = [
    await readHtml(`/status/${slug}/feed.rss`),
    await readHtml(`/status/${slug}/feed.atom`),
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
async function setUpStory() {
  const visitor = await createVisitor();
  const { createIncident, postUpdate, time } = visitor;
  const older = await createIncident({ title: "Slow answers" });
  time.now += 60_000;
  const { id } = await createIncident({ title: "Card payments fail", message: "Looking." });
  time.now += 60_000;
  await postUpdate(id, { status: "identified", message: "A cable.\nNew one is on its way." });
  time.now += 60_000;
  await postUpdate(id, { status: "resolved", message: "Changed." });
  return { ...visitor, id, olderId: older.id };
}

const content =
  '<p><strong>Resolved</strong> (20 Nov 2026, 10:03 UTC):</p><p dir="auto">Changed.</p>' +
  '<p><strong>Identified</strong> (20 Nov 2026, 10:02 UTC):</p><p dir="auto">A cable.<br>New one is on its way.</p>' +
  '<p><strong>Investigating</strong> (20 Nov 2026, 10:01 UTC):</p><p dir="auto">Looking.</p>';

describe("the Atom feed", () => {
  test("has the fields that RFC 4287 requires, and its own address", async () => {
    await using world = await setUpStory();
    const { id, slug } = await world.defaultPage();
    const { atom } = await readFeeds(world);
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
    await using world = await setUpStory();
    const { atom } = await readFeeds(world);
    expect(atom.entries).toMatchObject([
      {
        id: `urn:uuid:${world.id}`,
        title: { value: "Resolved: Card payments fail" },
        links: [{ href: `${page}/incidents/${world.id}` }],
        published: "2026-11-20T10:01:00.000Z",
        updated: "2026-11-20T10:03:00.000Z",
        content: { type: "html", value: content },
      },
      { id: `urn:uuid:${world.olderId}`, title: { value: "Investigating: Slow answers" } },
    ]);
  });
});

describe("the RSS feed", () => {
  test("has the fields that RSS 2.0 requires, and its own address", async () => {
    await using world = await setUpStory();
    const { rss } = await readFeeds(world);
    expect(rss).toMatchObject({
      title: "Ours",
      link: page,
      description: "Incidents of Ours",
      atom: { links: [{ href: `${page}/feed.rss`, rel: "self", type: "application/rss+xml" }] },
    });
    await world.publish({ description: "All about us & ours." });
    expect((await readFeeds(world)).rss.description).toBe("All about us & ours.");
  });

  test("has an item per incident, newest first, with a stable guid", async () => {
    await using world = await setUpStory();
    const { rss } = await readFeeds(world);
    expect(rss.items).toMatchObject([
      {
        title: "Resolved: Card payments fail",
        link: `${page}/incidents/${world.id}`,
        guid: { value: world.id, isPermaLink: false },
        pubDate: "Fri, 20 Nov 2026 10:03:00 GMT",
        description: content,
      },
      { guid: { value: world.olderId, isPermaLink: false } },
    ]);
  });
});

test("every link of a feed leads to a page", async () => {
  await using world = await setUpStory();
  const { rss, atom } = await readFeeds(world);
  const links = [rss.link, atom.links?.[0]?.href, atom.links?.[1]?.href];
  for (const link of [...links, ...(rss.items ?? []).map((item) => item.link)])
    await world.readHtml(new URL(link ?? "").pathname);
});

test("feeds without incidents are valid", async () => {
  await using visitor = await createVisitor();
  const { rss, atom } = await readFeeds(visitor);
  expect([rss.title, rss.items ?? [], atom.title?.value, atom.entries ?? []]).toEqual([
    "Ours",
    [],
    "Ours",
    [],
  ]);
  expect(atom.updated).toBe("2026-11-20T10:00:00.000Z");
});

test("a feed's id stays the same when the page moves to another address", async () => {
  await using world = await setUpStory();
  const { atom } = await readFeeds(world);
  await world.publish({ slug: "moved" });
  const { atom: moved } = await readFeeds(world, "moved");
  expect(moved.id).toBe(atom.id as string);
  expect(moved.entries?.map(({ id }) => id)).toEqual(atom.entries?.map(({ id }) => id));
});

test("an incident stays in the feeds for a week after its end, however long it was open", async () => {
  await using visitor = await createVisitor();
  const { id } = await visitor.createIncident({ title: "Slow since long" });
  visitor.time.now += 30 * dayMs;
  await visitor.postUpdate(id, { status: "resolved" });
  const readTitles = async () => {
    const { rss, atom } = await readFeeds(visitor);
    return [rss.items ?? [], atom.entries ?? []].map(([first]) => JSON.stringify(first?.title));
  };
  for (const title of await readTitles()) expect(title).toContain("Resolved: Slow since long");
  visitor.time.now += 7 * dayMs;
  for (const title of await readTitles()) expect(title).toContain("Resolved: Slow since long");
  visitor.time.now += 2 * dayMs;
  expect(await readTitles()).toEqual([undefined, undefined] as never);
});

describe("maintenance in the feeds", () => {
  const at = (time: string) => `2026-11-${time}:00:00.000Z`;

  async function planWindow(fields: object = {}) {
    const visitor = await createVisitor();
    const { id: monitorId } = await visitor.monitor({ name: "db-7.internal" });
    await visitor.publish({ sections: [buildSection("Shop", [monitorId, "Web & shop"])] });
    const body = {
      title: "New <disks>",
      description: "Short gaps.\nSorry & thanks.",
      startsAt: at("22T02"),
      endsAt: at("22T04"),
      monitorIds: [monitorId],
      ...fields,
    };
    const { json } = await visitor.api("POST", "/api/v1/maintenance-windows", { body });
    /** The entries of both feeds, which are equal. */
    const readEntries = async () => {
      const { rss, atom } = await readFeeds(visitor);
      const messages = (atom.entries ?? []).map(({ id, title, published, updated, content }) => ({
        id,
        title: title?.value,
        published,
        updated,
        content: content?.value,
      }));
      expect(
        (rss.items ?? []).map(({ guid, title }) => [`urn:uuid:${guid?.value}`, title]),
      ).toEqual(messages.map(({ id, title }) => [id, escapeTags(title ?? "")]));
      return messages;
    };
    return { ...visitor, windowId: json.data.id as string, readEntries };
  }

  test("appears when it is planned, starts and ends, as one entry", async () => {
    await using world = await planWindow();
    const created = new Date(world.time.now).toISOString();
    const message = {
      id: `urn:uuid:${world.windowId}`,
      title: "Scheduled maintenance: New <disks>",
      published: created,
      updated: created,
      content:
        "<p><strong>Scheduled maintenance</strong> (22 Nov 2026, 02:00–04:00 UTC)</p>" +
        '<p dir="auto">Short gaps.<br>Sorry &amp; thanks.</p>' +
        "<p>Affects: Web &amp; shop</p>",
    };
    expect(await world.readEntries()).toEqual([message]);
    world.time.now = Date.parse(at("22T03"));
    expect(await world.readEntries()).toMatchObject([
      { id: message.id, title: "Maintenance in progress: New <disks>", updated: at("22T02") },
    ]);
    world.time.now = Date.parse(at("22T05"));
    expect(await world.readEntries()).toMatchObject([
      { id: message.id, title: "Maintenance completed: New <disks>", updated: at("22T04") },
    ]);
    world.time.now += 9 * dayMs;
    expect(await world.readEntries()).toEqual([]);
  });

  test("has an entry with a stable id for each occurrence", async () => {
    await using world = await planWindow({ rrule: "FREQ=WEEKLY" });
    const before = await world.readEntries();
    expect(before).toHaveLength(3);
    expect(new Set(before.map(({ id }) => id)).size).toBe(3);
    world.time.now += 7 * dayMs;
    const after = await world.readEntries();
    const titles = new Map(after.map(({ id, title }) => [id, title]));
    const [first, ...others] = before
      .toReversed()
      .sort((a, b) => ((a.content ?? "") < (b.content ?? "") ? -1 : 1));
    expect(titles.get(first?.id)).toStartWith("Maintenance completed");
    for (const { id } of others) expect(titles.get(id)).toStartWith("Scheduled maintenance");
  });

  test("never makes a feed longer than 200 entries", async () => {
    await using world = await planWindow();
    for (let count = 0; count < 70; count++) {
      const times = { startsAt: at("22T02"), endsAt: at("22T04"), rrule: "FREQ=DAILY" };
      await world.api("POST", "/api/v1/maintenance-windows", {
        body: { title: "Daily", ...times },
      });
    }
    expect(await world.readEntries()).toHaveLength(200);
  });

  test("is the same as on the page, without private fields", async () => {
    await using world = await planWindow({ public: false });
    expect(await world.readEntries()).toEqual([]);
    await using publicWindow = await planWindow();
    expect(JSON.stringify(await publicWindow.readEntries())).not.toContain("db-7");
  });
});

test("feeds name a monitor as its page does", async () => {
  await using visitor = await createVisitor();
  const { id, report } = await visitor.createJob({
    name: "db-1.internal",
    autoIncidentSeverity: "minor",
  });
  await visitor.publish({ sections: [buildSection("Jobs", [id, "Orders"])] });
  await report({ status: "down" });
  const { rss, atom } = await readFeeds(visitor);
  const titles = [rss.items?.[0]?.title, atom.entries?.[0]?.title?.value];
  expect(titles).toEqual(Array(2).fill("Investigating: Orders is down"));
  expect(JSON.stringify([rss, atom])).not.toContain("db-1");
});
