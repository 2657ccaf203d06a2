import { parseXml } from "@rgrove/parse-xml";
import { describe, expect, test } from "bun:test";
import { parseAtomFeed, parseRssFeed } from "feedsmith";
import { listed, type Visitor, visitor } from "../support/visitor.ts";

const page = "http://signalbox.lan:3210/status/ours";

/** Both feeds, well-formed and read by a feed reader's parser. */
async function feedsOf({ read, restart }: Visitor, slug = "ours") {
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
  const made = await visitor();
  const { incident, post, time } = made;
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
  "<p><strong>Resolved</strong> (2026-11-20T10:03:00.000Z): Changed.</p>" +
  "<p><strong>Identified</strong> (2026-11-20T10:02:00.000Z): A cable.<br/>New one is on its way.</p>" +
  "<p><strong>Investigating</strong> (2026-11-20T10:01:00.000Z): Looking.</p>";

describe("the Atom feed", () => {
  test("has what RFC 4287 asks of a feed, and its own address", async () => {
    await using made = await story();
    const { atom } = await feedsOf(made);
    expect(atom).toMatchObject({
      id: page,
      title: { value: "Ours" },
      authors: [{ name: "Ours" }],
      updated: "2026-11-20T10:03:00.000Z",
      links: [{ href: page }, { href: `${page}/feed.atom`, rel: "self" }],
    });
  });

  test("has an entry an incident, newest first, whose id stays and whose time is its last update's", async () => {
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
  test("has what RSS 2.0 asks of a channel, and its own address", async () => {
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

  test("has an item an incident, newest first, whose guid stays the same", async () => {
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
    await made.read(new URL(link ?? "").pathname);
});

test("feeds without incidents are feeds, too", async () => {
  await using made = await visitor();
  const { rss, atom } = await feedsOf(made);
  expect([rss.title, rss.items ?? [], atom.title?.value, atom.entries ?? []]).toEqual([
    "Ours",
    [],
    "Ours",
    [],
  ]);
  expect(atom.updated).toBe("2026-11-20T10:00:00.000Z");
});

test("feeds name a monitor as its page does", async () => {
  await using made = await visitor();
  const { id, report } = await made.job({ name: "db-1.internal", autoIncidentSeverity: "minor" });
  await made.publish({ sections: [listed("Jobs", [id, "Orders"])] });
  await report({ status: "down" });
  const { rss, atom } = await feedsOf(made);
  const titles = [rss.items?.[0]?.title, atom.entries?.[0]?.title?.value];
  expect(titles).toEqual(Array(2).fill("Investigating: Orders is down"));
  expect(JSON.stringify([rss, atom])).not.toContain("db-1");
});
