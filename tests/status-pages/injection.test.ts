import { parseXml, XmlElement } from "@rgrove/parse-xml";
import { afterAll, describe, expect, test } from "bun:test";
import { parseAtomFeed, parseRssFeed } from "feedsmith";
import { parseMarkdown, renderText } from "../../src/core/text/markdown.ts";
import { escapeTags } from "../../src/core/text/formatting.ts";
import { buildSection, describeShape, createVisitor, readWords } from "../support/visitor.ts";

/** Text that the API accepts and that has a meaning in HTML, XML, JSON or a URL. */
const hostile = {
  markup: `<script>alert(1)</script><img src=x onerror=alert(1)>`,
  "ends of tags": `</title></p></b></style></script></svg><b>`,
  "ends of attributes": `" onload="alert(1)" x="' onclick='alert(1)`,
  "CDATA and comments": `]]><![CDATA[x]]>--><!-- x`,
  entities: `&lt;b&gt; &amp;amp; &#60;b&#62; &nbsp; &undefined; &`,
  templates: "{{7+7}} ${7+7} <%= 7 %> %3Cb%3E \\u003cb",
  addresses: "javascript:alert(1) //evil.example data:text/html,<b>",
  "direction marks": "a\u200eb\u200fc\u061cd",
  "invisible characters": "a\u200bb\ufeffc\u2028d\u2029e\u00adf\u{e0041}",
  noncharacters: "a\ufffeb\uffffc\u{1fffe}d\ufdd0",
};

/** A page whose every writable text is this one. */
async function createPageWithText(text: string) {
  const visitor = await createVisitor();
  const { createJob, createIncident, monitor, postUpdate, publish, api, readHtml, time } = visitor;
  const job = await createJob({ name: text, autoIncidentSeverity: "major" });
  const renamed = await monitor({ name: "Renamed" });
  await publish({
    title: text,
    description: text,
    sections: [buildSection(text, job.id), buildSection("Renamed", [renamed.id, text])],
    showLatency: true,
    showPaused: true,
  });
  await job.report({ latency_ms: "34" });
  await job.report({ status: "down", msg: "x" });
  time.now += 60_000;
  const { id } = await createIncident({ title: text, message: text, monitorId: renamed.id });
  await postUpdate(id, { status: "resolved", message: text });
  const window = { startsAt: "2026-11-20T09:00:00.000Z", endsAt: "2026-11-20T12:00:00.000Z" };
  const planned = { ...window, title: text, description: text };
  expect((await api("POST", "/api/v1/maintenance-windows", { body: planned })).status).toBe(201);
  await visitor.restart();
  const readSvg = async (kind: string) =>
    (await readHtml(`/badge/monitor/${job.id}/${kind}.svg`)).text;
  return {
    ...visitor,
    ours: (part: string) => readHtml(`/status/ours${part}`),
    incidentId: id,
    badges: async () => [
      await readSvg("status"),
      await readSvg("uptime"),
      await readSvg("latency"),
    ],
  };
}

type FilledPage = Awaited<ReturnType<typeof createPageWithText>>;
const pages = new Map<string, Promise<FilledPage>>();
afterAll(async () => {
  for (const page of pages.values()) await (await page)[Symbol.asyncDispose]();
});

/** Page of this text, which the tests of a text share because they only read. */
const fillPage = (text: string): Promise<FilledPage> =>
  pages.getOrInsertComputed(text, () => createPageWithText(text));

/**
 * Elements of an XML document in order, with their attribute names. Throws if it is not
 * well-formed.
 */
function readXmlShape(text: string): string[] {
  const shape: string[] = [];
  const waiting: object[] = [...parseXml(text).children];
  for (let node = waiting.shift(); node !== undefined; node = waiting.shift()) {
    if (!(node instanceof XmlElement)) continue;
    shape.push([node.name, ...Object.keys(node.attributes)].join(" "));
    waiting.unshift(...node.children);
  }
  return shape;
}

/** The characters of a text that XML allows (XML 1.0 §2.2). */
const toXmlText = (text: string) => text.replace(/[\ufffe\uffff]/g, "");

for (const [what, text] of Object.entries(hostile))
  describe(`${what} in titles, names and messages`, () => {
    /** The same text as Markdown shows it. */
    const markdown = renderText(parseMarkdown(text));

    test("are text on the page, not markup", async () => {
      const plain = await fillPage("plain");
      const world = await fillPage(text);
      for (const part of ["", "/history", "/incidents/"]) {
        const readHtml = async (of: typeof world) =>
          (await of.ours(part === "/incidents/" ? part + of.incidentId : part)).text;
        expect(describeShape(await readHtml(world))).toEqual(describeShape(await readHtml(plain)));
      }
      const { text: page } = await world.ours("");
      expect(readWords(page, "title")).toEqual([text]);
      expect(readWords(page, ".about p")).toEqual([markdown]);
      expect(readWords(page, ".sec h2")).toEqual([text, "Renamed"]);
      expect(readWords(page, ".comp b")).toEqual([text, text]);
      expect(readWords(page, ".inc h2 a")).toEqual([`${text} is down`]);
      expect(readWords(page, ".window h3")).toEqual([text]);
      const { text: alone } = await world.ours(`/incidents/${world.incidentId}`);
      expect(readWords(alone, "li p")).toEqual([markdown, markdown]);
    });

    test("are text in the feeds, not elements", async () => {
      const plain = await fillPage("plain");
      const world = await fillPage(text);
      for (const part of ["/feed.rss", "/feed.atom"])
        expect(readXmlShape((await world.ours(part)).text)).toEqual(
          readXmlShape((await plain.ours(part)).text),
        );
      const rss = parseRssFeed((await world.ours("/feed.rss")).text);
      const atom = parseAtomFeed((await world.ours("/feed.atom")).text);
      const expectedText = toXmlText(text).trim();
      expect([rss.title, atom.title?.value]).toEqual([escapeTags(expectedText), expectedText]);
      const titles = [rss.items?.[0]?.title, atom.entries?.[0]?.title?.value];
      expect(titles).toEqual([
        `Resolved: ${escapeTags(expectedText)}`,
        `Resolved: ${expectedText}`,
      ]);
      // Feed readers show the content as HTML: it must be text there as well.
      for (const content of [rss.items?.[0]?.description, atom.entries?.[0]?.content?.value]) {
        expect(describeShape(content ?? "")).toEqual([
          "p",
          "strong",
          "p dir",
          "p",
          "strong",
          "p dir",
        ]);
        expect(content).not.toMatch(/<(?!\/?(?:p|strong|p dir="auto")>)/);
      }
    });

    test("are complete in the JSON, which no browser treats as a page", async () => {
      const world = await fillPage(text);
      for (const part of [".json", "/api/v2/summary.json"]) {
        const { type, headers } = await world.ours(part);
        expect([type, headers.get("x-content-type-options")]).toEqual([
          "application/json",
          "nosniff",
        ]);
      }
      const { page, sections, incidents } = (await world.ours(".json")).json();
      expect([page.title, page.description, sections[0].name]).toEqual([text, text, text]);
      expect(sections[1].monitors[0].name).toBe(text);
      expect(incidents[0]).toMatchObject({
        title: text,
        updates: [{ message: text }, { message: text }],
      });
      const v2 = (await world.ours("/api/v2/incidents.json")).json().incidents[0];
      expect([v2.name, v2.incident_updates[0].body]).toEqual([
        escapeTags(text),
        escapeTags(markdown),
      ]);
    });

    test("are text in the badges, not markup", async () => {
      const plain = await fillPage("plain");
      const world = await fillPage(text);
      const badges = await world.badges();
      expect(badges.map(readXmlShape)).toEqual((await plain.badges()).map(readXmlShape));
    });

    test("start no line of the calendar", async () => {
      const plain = await fillPage("plain");
      const world = await fillPage(text);
      const readLines = async (of: typeof world) =>
        (await of.ours("/maintenance.ics")).text
          .replace(/\r\n[ \t]/g, "")
          .split(/\r\n|[\r\n]/)
          .map((line) => line.split(/[:;]/)[0]);
      expect(await readLines(world)).toEqual(await readLines(plain));
    });
  });

test("multi-line messages start no line of the calendar and no element of a feed", async () => {
  await using visitor = await createVisitor();
  const message = "a\nEND:VEVENT\nBEGIN:VALARM\n\tb";
  await visitor.createIncident({ message });
  const body = {
    title: "Firmware",
    description: message,
    startsAt: "2026-11-20T09:00:00.000Z",
    endsAt: "2026-11-20T12:00:00.000Z",
  };
  expect((await visitor.api("POST", "/api/v1/maintenance-windows", { body })).status).toBe(201);
  await visitor.restart();
  const { text } = await visitor.readHtml("/status/ours/maintenance.ics");
  expect(text.match(/^(?:BEGIN|END):.*$/gm)?.map((line) => line.trim())).toEqual([
    "BEGIN:VCALENDAR",
    "BEGIN:VEVENT",
    "END:VEVENT",
    "END:VCALENDAR",
  ]);
  const rss = parseRssFeed((await visitor.readHtml("/status/ours/feed.rss")).text);
  expect(rss.items?.[0]?.description).toContain("a<br>END:VEVENT<br>BEGIN:VALARM<br>");
});

test("control characters are rejected", async () => {
  await using visitor = await createVisitor();
  const { api, defaultPage } = visitor;
  const { id } = await defaultPage();
  for (const character of ["\0", "\u0007", "\u001b", "\u007f", "\u0085", "\r", "\ud800"]) {
    const text = `a${character}b`;
    for (const [method, path, body] of [
      ["POST", "/api/v1/incidents", { title: text }],
      ["POST", "/api/v1/incidents", { title: "a", message: text }],
      ["POST", "/api/v1/monitors", { type: "ping", name: text, host: "192.168.1.1" }],
      ["PATCH", `/api/v1/status-pages/${id}`, { title: text }],
      ["PATCH", `/api/v1/status-pages/${id}`, { description: text }],
      ["PATCH", `/api/v1/status-pages/${id}`, { sections: [{ name: text }] }],
    ] as const)
      expect([path, (await api(method, path, { body })).status]).toEqual([path, 422]);
  }
});
