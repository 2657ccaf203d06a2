import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseAtomFeed, parseRssFeed } from "feedsmith";
import { parseMarkdown, renderText } from "../../src/core/text/markdown.ts";
import { escapeTags } from "../../src/core/text/formatting.ts";
import { buildIncidentStatements } from "../../src/incidents/by-monitor.ts";
import { partPaths } from "../support/public-paths.ts";
import { newMonitors } from "../support/samples.ts";
import { signInMember } from "../support/people.ts";
import { type Publisher, createPublisher } from "../support/publisher.ts";
import { buildSection, readWords } from "../support/visitor.ts";
import type { Json } from "../support/json.ts";

/** A page with a renamed monitor, an outage of it, and all who are notified. */
async function setUpStory() {
  const publisher = await createPublisher();
  const { api } = publisher;
  const shop = await publisher.createJob({ name: "db-7.internal", autoIncidentSeverity: "major" });
  await publisher.publish({ sections: [buildSection("Shop", [shop.id, "Web shop"])] });
  await publisher.mailbox();
  const hook = await publisher.addHook();
  await shop.report();
  await shop.report({ status: "down", msg: "CANARY" });
  const [incident] = (await api("GET", "/api/v1/incidents")).json.data;
  const { page } = await signInMember(publisher, "member");
  return {
    ...publisher,
    receiver: hook,
    shop,
    incidentId: incident.id as string,
    preview: async (draft: object) => {
      const body = { incidentId: incident.id, ...draft };
      return (await page("POST", "/dashboard/incident-preview", { body })).json.data.html as string;
    },
    [Symbol.asyncDispose]: async () => {
      await publisher[Symbol.asyncDispose]();
      await hook[Symbol.asyncDispose]();
    },
  };
}

/** Public texts of one incident: its title and its newest update, in every output. */
async function readPublicWords(publisher: Publisher, incidentId: string) {
  await publisher.restart();
  const at = async (part: string) => (await publisher.readHtml(`/status/ours${part}`)).text;
  const html = await at(`/incidents/${incidentId}`);
  const json = JSON.parse(await at(".json")).incidents.find(
    ({ id }: { id: string }) => id === incidentId,
  );
  const v2 = JSON.parse(await at("/api/v2/incidents.json")).incidents.find(
    ({ id }: { id: string }) => id === incidentId,
  );
  const atom = parseAtomFeed(await at("/feed.atom")).entries?.find(
    ({ id }) => id === `urn:uuid:${incidentId}`,
  );
  const rss = parseRssFeed(await at("/feed.rss")).items?.find(
    ({ guid }) => guid?.value === incidentId,
  );
  const readFeedWords = (content: string | undefined) => readWords(content ?? "", "p")[1] ?? "";
  return {
    titles: {
      page: readWords(html, "h1")[0],
      json: json.title,
      v2: v2.name,
      atom: atom?.title?.value,
      rss: rss?.title,
    },
    messages: {
      page: readWords(html, "li p")[0],
      json: json.updates[0].message,
      v2: v2.incident_updates[0].body,
      atom: readFeedWords(atom?.content?.value),
      rss: readFeedWords(rss?.description),
    },
  };
}

const firstMessage = "Web shop is not responding. We are investigating.";

describe("text of an automatic incident", () => {
  test("is published under its public name without the reason; inside with both", async () => {
    await using world = await setUpStory();
    await world.send();
    const { titles, messages } = await readPublicWords(world, world.incidentId);
    for (const title of Object.values(titles)) expect(title).toEndWith("Web shop is down");
    for (const message of Object.values(messages)) expect(message).toEndWith(firstMessage);
    expect(world.mails[0]?.text).toContain(firstMessage);
    expect(world.receiver.listMessages()).toEqual([firstMessage]);
    const { json } = await world.api("GET", `/api/v1/incidents/${world.incidentId}`);
    expect([json.data.title, json.data.updates[0].message]).toEqual([
      "db-7.internal is down",
      "db-7.internal is not responding. We are investigating.",
    ]);
    expect(json.data.notes).toMatchObject([{ message: "Reported down." }]);
    expect(JSON.stringify(json.data)).not.toContain("automatic");
  });

  test("keeps its public text when a person corrects the severity and sends the title along", async () => {
    await using world = await setUpStory();
    const title = "db-7.internal is down";
    await world.postUpdate(world.incidentId, { title, severity: "minor" });
    const { titles } = await readPublicWords(world, world.incidentId);
    for (const message of Object.values(titles)) expect(message).toEndWith("Web shop is down");
    expect(await world.preview({ title })).not.toContain("db-7");
  });

  test("reads the same in the preview as on the page", async () => {
    await using world = await setUpStory();
    const html = await world.preview({ message: "We look." });
    expect(readWords(html, ".inc h2 a")).toEqual(["Web shop is down"]);
    expect(readWords(html, ".inc li p")).toEqual(["We look.", firstMessage]);
  });
});

describe("text of a person", () => {
  test("is never mistaken for an automatic text", async () => {
    await using world = await setUpStory();
    const title = "The north is down with our supplier";
    const message = "Our supplier says the network is up again. We keep looking.";
    expect(readWords(await world.preview({ title, message }), ".inc h2 a")).toEqual([title]);
    await world.postUpdate(world.incidentId, { title, message });
    const { titles, messages } = await readPublicWords(world, world.incidentId);
    for (const notified of Object.values(titles)) expect(notified).toEndWith(title);
    for (const told of Object.values(messages)) expect(told).toEndWith(message);
    await world.send();
    expect(world.listSubjects().at(-1)).toBe(`Investigating: ${title} – Acme status`);
    expect(world.mails.at(-1)?.text).toContain(message);
    await world.shop.report();
    const after = await readPublicWords(world, world.incidentId);
    expect(after.titles.json).toBe(title);
    expect(after.messages.json).toStartWith("Web shop is responding again");
  });

  test("is published verbatim, messages as Markdown, on the page, in feeds, JSON, webhooks and mails", async () => {
    await using world = await setUpStory();
    const phrases = ["is down", "is up again.", "db-7.internal", "Web shop", "<b>", "&amp;", "$&"];
    const marks = ["**", "*", "_", "`", "# ", "- ", "> ", "["];
    const words = fc
      .array(
        fc.oneof(
          fc.constantFrom(...phrases, ...marks),
          fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
        ),
        { minLength: 1, maxLength: 6 },
      )
      .map((parts) => parts.join(" ").replace(/\p{C}/gu, "").replace(/\s+/gu, " ").trim())
      .filter((text) => text !== "" && !/^[\p{White_Space}\p{Cf}]*$/u.test(text));
    await fc.assert(
      fc.asyncProperty(words, words, async (title, more) => {
        const message = `x ${more}`;
        const text = renderText(parseMarkdown(message));
        await world.postUpdate(world.incidentId, { title, message });
        const notified = await readPublicWords(world, world.incidentId);
        expect(notified.titles).toEqual({
          page: title,
          json: title,
          v2: escapeTags(title),
          atom: `Investigating: ${title}`,
          rss: `Investigating: ${escapeTags(title)}`,
        });
        expect(notified.messages).toEqual({
          page: text,
          json: message,
          v2: escapeTags(text),
          atom: text,
          rss: text,
        });
        await world.send();
        expect(world.mails.at(-1)?.text).toContain(text);
        expect(world.listSubjects().at(-1)).toBe(`Investigating: ${title} – Acme status`);
        const { data } = world.receiver.received().at(-1) as Json;
        expect([data.incident.title, data.message]).toEqual([title, message]);
      }),
      { numRuns: 12 },
    );
  });
});

test("no internal name, target, reason or note of a monitor of any type is published", async () => {
  await using publisher = await createPublisher();
  await using hook = await publisher.addHook();
  await publisher.mailbox();
  const kinds = Object.entries(newMonitors);
  const monitors = [];
  for (const [type, own] of kinds)
    monitors.push(await publisher.monitor({ ...own, type, name: `CANARY-${type}` }));
  const sections = [
    buildSection("All", ...monitors.map(({ id }, at): [string, string] => [id, `Public ${at}`])),
  ];
  await publisher.publish({ sections });
  const steps = [
    ["up", "down"],
    ["down", "degraded"],
    ["degraded", "down"],
    ["down", "up"],
  ] as const;
  const messages: string[] = [];
  for (const [before, after] of steps) {
    for (const { id, name } of monitors) {
      publisher.time.now += 60_000;
      await publisher.store.atomic(
        await buildIncidentStatements(publisher.store, {
          organizationId: publisher.ours.id,
          monitor: { id, name },
          severity: "major",
          before,
          after,
          message: "CANARY: $.internal['CANARY-path'] should be “CANARY-value”.",
          since: publisher.time.now - 60_000,
          at: publisher.time.now,
        }),
      );
    }
    for (const { id } of (await publisher.api("GET", "/api/v1/incidents?open=true")).json.data) {
      const body = { message: "CANARY-note" };
      expect((await publisher.api("POST", `/api/v1/incidents/${id}/notes`, { body })).status).toBe(
        201,
      );
    }
    await publisher.send();
    await publisher.restart();
    const ids = (await publisher.api("GET", "/api/v1/incidents")).json.data.map(
      ({ id }: { id: string }) => id,
    );
    // An image contains only the title and the state from the incident's own page.
    for (const part of partPaths.filter((one) => !one.endsWith(".png")))
      for (const id of part.includes(":id") ? ids : [""])
        messages.push((await publisher.get(`/status/ours${part.replace(":id", id)}`)).text);
  }
  messages.push(JSON.stringify(publisher.mails), JSON.stringify(hook.asked));
  expect(hook.asked).toHaveLength(steps.length * kinds.length);
  expect(publisher.mails).toHaveLength(steps.length * kinds.length);
  for (const text of messages) {
    const at = text.indexOf("CANARY");
    expect(at === -1 ? "" : text.slice(Math.max(0, at - 60), at + 60)).toBe("");
  }
  for (const words of [
    "is not responding. We are investigating.",
    "is not responding again. We are investigating.",
    "is responding again, but not as well as usual.",
    "is responding again after 1 min.",
  ])
    expect(messages.some((text) => text.includes(`Public 0 ${words}`))).toBe(true);
  const inside = JSON.stringify(
    (await publisher.api("GET", `/api/v1/incidents?per_page=100`)).json.data,
  );
  for (const [type] of kinds) expect(inside).toContain(`CANARY-${type} is down`);
});
