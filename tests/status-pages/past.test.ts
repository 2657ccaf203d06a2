/** Status pages as of a past time. */
import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { dayMs, hourMs, minuteMs } from "../../src/core/time/clock.ts";
import { statusPageBounds } from "../../src/core/limits.ts";
import type { Json } from "../support/json.ts";
import { limitTries } from "../support/property-runs.ts";
import { addressOf } from "../support/people.ts";
import { buildSection, createVisitor, readWords, type Visitor } from "../support/visitor.ts";

const formatMinute = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`;

/** A default page with three jobs, at the start of a minute. */
async function createPast(settings: Parameters<typeof createVisitor>[0] = {}) {
  const visitor = await createVisitor(settings);
  const { time } = visitor;
  time.now = Math.ceil(time.now / minuteMs) * minuteMs;
  const auto = { interval: 86_400, autoIncidentSeverity: "major" };
  const jobs = await Promise.all(
    ["Shop", "Cards", "Mail"].map((name) => visitor.createJob({ name, ...auto })),
  );
  const [shop, cards, mail] = jobs as [(typeof jobs)[0], (typeof jobs)[0], (typeof jobs)[0]];
  const section = buildSection("Jobs", shop.id, cards.id, mail.id);
  await visitor.publish({ sections: [section], showPaused: true, historyDays: 30 });
  const advance = async (ms: number) => {
    time.now += ms;
    await visitor.maintenance.runOnce();
    await visitor.engine.runOnce();
  };
  await advance(minuteMs);
  return {
    ...visitor,
    jobs,
    shop,
    cards,
    advance,
    readAt: (at: number, suffix = "", slug = "ours") =>
      visitor.get(`/status/${slug}${suffix}?at=${formatMinute(at)}`),
  };
}

type Past = Awaited<ReturnType<typeof createPast>>;

/** Summarizes the present on a page: headline, states, open incidents and announced work. */
function summarize(json: Json, html: string) {
  const { status, headline, sections, incidents, maintenance } = json;
  const open = incidents.filter((one: Json) => one.status !== "resolved");
  return {
    status,
    headline,
    words: readWords(html, ".comp .word"),
    heading: readWords(html, ".hero h1, .inc h2, .inc .sev, .inc .aff b, .inc .timeline b"),
    monitors: sections[0].monitors.map((one: Json) => [one.name, one.status]),
    open,
    maintenance: maintenance.map((one: Json) => ({ ...one })),
  };
}

async function readPresent({ passPageTime, readHtml }: Visitor) {
  passPageTime(minuteMs);
  const [json, html] = [await readHtml("/status/ours.json"), await readHtml("/status/ours")];
  return summarize(json.json(), html.text);
}

async function readPast({ readAt }: Past, at: number) {
  const [json, html] = [await readAt(at, ".json"), await readAt(at)];
  expect([json.status, html.status]).toEqual([200, 200]);
  return summarize(json.json(), html.text);
}

const someJobs = fc.subarray([0, 1, 2]);
const actions = fc.oneof(
  fc.record({ do: fc.constant("report"), job: fc.nat(2), status: fc.constantFrom("up", "down") }),
  fc.record({ do: fc.constant("pause"), job: fc.nat(2), paused: fc.boolean() }),
  fc.record({ do: fc.constant("open"), jobs: someJobs, public: fc.boolean() }),
  fc.record({
    do: fc.constant("update"),
    incident: fc.nat(9),
    fields: fc.record(
      {
        status: fc.constantFrom("identified", "monitoring", "resolved"),
        severity: fc.constantFrom("minor", "critical"),
        public: fc.constant(true),
        jobs: someJobs,
        impact: fc.constantFrom("degraded", "major-outage"),
      },
      { requiredKeys: [] },
    ),
  }),
  fc.record({ do: fc.constant("plan"), jobs: someJobs, from: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    do: fc.constant("replan"),
    window: fc.nat(5),
    minutes: fc.integer({ min: 5, max: 9 }),
  }),
);
type Action = typeof actions extends fc.Arbitrary<infer T> ? T : never;

const maintenancePath = "/api/v1/maintenance-windows";

async function perform({ api, jobs, time, createIncident }: Past, action: Action) {
  const toIds = (indexes: readonly number[]) => indexes.map((index) => jobs[index]?.id ?? "");
  const list = async (path: string) => (await api("GET", path)).json.data as Json[];
  switch (action.do) {
    case "report":
      return jobs[action.job]?.report({ status: action.status });
    case "pause":
      return api("PATCH", `/api/v1/monitors/${toIds([action.job])[0]}`, {
        body: { paused: action.paused },
      });
    case "open":
      return createIncident({ monitorIds: toIds(action.jobs), public: action.public });
    case "update": {
      const { jobs: affected, impact, ...fields } = action.fields;
      const incident = (await list("/api/v1/incidents"))[action.incident];
      if (incident === undefined) return undefined;
      const monitorIds = affected && [
        ...(incident.origin === "monitor" ? [incident.monitorId] : []),
        ...toIds(affected).filter(
          (id) => incident.origin !== "monitor" || id !== incident.monitorId,
        ),
      ];
      const named = (monitorIds ?? incident.monitorIds)[0];
      const impacts = impact && named && [{ monitorId: named, impact }];
      const body = { ...fields, ...(monitorIds && { monitorIds }), ...(impacts && { impacts }) };
      return Object.keys(body).length === 0
        ? undefined
        : api("PATCH", `/api/v1/incidents/${incident.id}`, { body });
    }
    case "plan": {
      const [startsAt, endsAt] = [action.from, action.from + 3].map((minutes) =>
        new Date(time.now + minutes * minuteMs).toISOString(),
      );
      const body = { title: "Work", startsAt, endsAt, monitorIds: toIds(action.jobs) };
      return api("POST", maintenancePath, { body });
    }
    case "replan": {
      const window = (await list(maintenancePath))[action.window];
      const endsAt = new Date(time.now + action.minutes * minuteMs).toISOString();
      return window && api("PATCH", `${maintenancePath}/${window.id}`, { body: { endsAt } });
    }
    default:
      return undefined;
  }
}

describe("a page as of a past time", () => {
  test("says what the page said then, in spite of later changes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(actions, { minLength: 5, maxLength: 15 }), async (all) => {
        await using past = await createPast();
        const seen: [at: number, page: unknown][] = [];
        for (const action of all) {
          await past.advance(minuteMs / 2);
          await perform(past, action);
          await past.advance(minuteMs / 2);
          seen.push([past.time.now, await readPresent(past)]);
        }
        // Private incidents would be left out of the past, too.
        for (const { id } of (await past.api("GET", "/api/v1/incidents?per_page=100")).json.data) {
          await past.advance(1_000);
          await past.postUpdate(id, { public: true });
        }
        for (const [at, page] of seen) {
          // A network can read only some past times per minute.
          past.time.now += minuteMs;
          expect(await readPast(past, at)).toEqual(page as Json);
        }
      }),
      limitTries(3),
    );
  }, 120_000);

  test("leaves out incidents that were private then, or are private or deleted today", async () => {
    await using past = await createPast();
    const { createIncident, postUpdate, api, advance, time } = past;
    const open = (title: string, fields = {}) => createIncident({ title, ...fields });
    const published = await open("Published later", { public: false });
    const hidden = await open("Hidden later");
    const deleted = await open("Deleted later");
    await open("Public");
    await advance(minuteMs);
    const at = time.now;
    await advance(minuteMs);
    await postUpdate(published.id, { public: true });
    await postUpdate(hidden.id, { public: false });
    expect((await api("DELETE", `/api/v1/incidents/${deleted.id}`)).status).toBe(200);
    const { json } = await past.readAt(at, ".json");
    expect(json().incidents.map(({ title }: Json) => title)).toEqual(["Public"]);
    const { text } = await past.readAt(at);
    for (const title of ["Published later", "Hidden later", "Deleted later"])
      expect([title, text.includes(title)]).toEqual([title, false]);
  });

  test("shows a corrected text instead of the one that was there", async () => {
    await using past = await createPast();
    const { createIncident, api, advance, time, readAt } = past;
    const { id } = await createIncident({ message: "The password is swordfish." });
    await advance(minuteMs);
    const at = time.now;
    const { updates } = (await api("GET", `/api/v1/incidents/${id}`)).json.data;
    const path = `/api/v1/incidents/${id}/updates/${updates[0].id}`;
    const body = { message: "We are looking into it." };
    expect((await api("PATCH", path, { body })).status).toBe(200);
    const { text } = await readAt(at);
    expect(text).toContain(body.message);
    expect(text).not.toContain("swordfish");
  });

  test("shows no change that is held, and none that was undone", async () => {
    await using past = await createPast();
    const { api, advance, time, readAt } = past;
    const headers = { Prefer: "hold=10" };
    const held = await api("POST", "/api/v1/incidents?hold=10", {
      body: { title: "Undone" },
      headers,
    });
    expect(held.status).toBe(202);
    await advance(minuteMs / 60);
    const path = `/api/v1/held-changes/${held.json.data.id}`;
    expect((await api("DELETE", path)).status).toBe(200);
    await advance(minuteMs);
    expect((await readAt(time.now)).text).not.toContain("Undone");
  });

  test("has the figures and bars up to the last complete hour", async () => {
    await using past = await createPast();
    const { database, time, jobs, readAt, advance } = past;
    time.now = Math.ceil(time.now / dayMs) * dayMs + 2 * hourMs;
    await advance(0);
    const hour = Math.floor(time.now / hourMs);
    const add = database.query(
      "INSERT OR REPLACE INTO uptime_hours VALUES (?, ?, ?, 0, ?, 0, 0, 0, 0, NULL, NULL, NULL)",
    );
    const { key } = database
      .query("select key from monitor_states where monitor_id = ?")
      .get(jobs[0]?.id ?? "") as { key: number };
    add.run(hour - 1, key, 1800, 1800);
    add.run(hour, key, 0, 3600);
    const { sections } = (await readAt(time.now, ".json")).json();
    const [shop] = sections[0].monitors;
    expect([shop.uptime, shop.days.at(-1).downSeconds]).toEqual([0.5, 1800]);
  });
});

describe("the address of a past time", () => {
  test("has a banner with the way back, and is neither indexed nor stored", async () => {
    await using past = await createPast();
    const { time, readAt, get, publish } = past;
    await publish({ language: "en", languages: ["de"] });
    const at = time.now;
    const { text, headers } = await readAt(at);
    expect(readWords(text, "#past")).toEqual(["The page as of 20 November 2026 10:01 Back to now"]);
    expect(text).toContain('<meta name="robots" content="noindex"/>');
    expect(headers.get("x-robots-tag")).toBe("noindex");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("etag")).toBeNull();
    expect(text).toContain('hrefLang="de"');
    const german = await get(`/status/ours?at=${formatMinute(at)}&lang=de`);
    expect(german.text).toContain("Zurück zu jetzt");
    expect(german.text).toContain(`?at=${new Date(at).toISOString()}&amp;lang=en`);
    const present = await get("/status/ours");
    expect(readWords(present.text, "#past")).toEqual([]);
    expect(present.headers.get("x-robots-tag")).toBeNull();
  });

  test("names the day of the last bar instead of today", async () => {
    await using world = await createPast();
    const { time, advance, readAt, readHtml } = world;
    const then = time.now;
    await advance(3 * dayMs);
    const readLegend = ({ text }: { text: string }) =>
      readWords(text, ".legend")[0]?.replace(/\s+/g, " ");
    const day = new Intl.DateTimeFormat("en-GB", {
      day: "numeric",
      month: "short",
      timeZone: "UTC",
    }).format(then);
    expect(readLegend(await readAt(then))).toContain(`30 days, ${day} on the right`);
    expect(readLegend(await readHtml("/status/ours"))).toContain("30 days, today on the right");
  });

  test("names a whole minute: seconds make no other page", async () => {
    await using past = await createPast();
    const { time, get, createIncident, advance } = past;
    const minute = new Date(time.now).toISOString().slice(0, 16);
    await advance(20_000);
    await createIncident({ title: "Twenty seconds later" });
    await advance(20_000);
    for (const at of [`${minute}Z`, `${minute}:39Z`, `${minute}:39.999Z`]) {
      const { status, text } = await get(`/status/ours?at=${at}`);
      expect([at, status, text.includes("Twenty seconds later")]).toEqual([at, 200, false]);
    }
  });

  test("is rejected before the page existed, in the future, and if it is no time", async () => {
    await using past = await createPast();
    const { time, get, store } = past;
    const distantMinute = formatMinute(time.now - 40 * dayMs);
    for (const at of [
      "",
      "yesterday",
      distantMinute,
      formatMinute(time.now + minuteMs),
      "1".repeat(99),
    ]) {
      const page = await get(`/status/ours?at=${at}`, { headers: { Accept: "text/html" } });
      expect([at, page.status]).toEqual([at, 422]);
      expect(readWords(page.text, "h1, p, .lock a").map((text) => text.trim())).toEqual([
        "This time can’t be shown",
        "The page can be shown as of any time from 20 Nov 10:00 until now.",
        "Back to now",
      ]);
      const json = await get(`/status/ours.json?at=${at}`);
      expect([json.status, json.json().error.details]).toEqual([
        422,
        [{ path: "at", message: "must be a time from 2026-11-20 10:00 UTC until now" }],
      ]);
    }
    const at = formatMinute(time.now);
    expect((await get(`/status/ours?at=${at}`)).status).toBe(200);
    // What happened before the first stored event is unknown.
    time.now += 2 * minuteMs;
    const later = new Date(time.now - minuteMs).toISOString();
    await store.atomic([{ text: "update events set at = ?", parameters: [later] }]);
    expect((await get(`/status/ours?at=${at}`)).status).toBe(422);
  });

  test("is rendered within the limit of a network, and never fills the cache", async () => {
    await using past = await createPast();
    const { time, get, readAt, readHtml } = past;
    const maxRenders = statusPageBounds.pastRenders.value;
    const statuses = [];
    for (let count = 0; count < maxRenders; count++)
      statuses.push((await get(`/status/ours?at=${count}`)).status);
    expect(statuses).toEqual(Array.from({ length: maxRenders }, () => 422));
    expect((await readAt(time.now)).status).toBe(429);
    await readHtml("/status/ours");
    time.now += minuteMs;
    expect((await readAt(time.now)).status).toBe(200);
  });
});

describe("a past page that not everyone can open", () => {
  test("shows sections for signed-in people to nobody else, with their incidents and maintenance", async () => {
    await using past = await createPast();
    const { publish, shop, cards, createIncident, api, advance, time, readAt } = past;
    const secret = { ...buildSection("CANARY-section", [cards.id, "CANARY-name"]) };
    await publish({
      sections: [buildSection("Jobs", shop.id), { ...secret, audience: "signed-in" }],
    });
    const { id } = await createIncident({ title: "CANARY-title", monitorIds: [cards.id] });
    const [startsAt, endsAt] = [0, 1].map((days) =>
      new Date(time.now + days * dayMs).toISOString(),
    );
    const body = { title: "CANARY-work", startsAt, endsAt, monitorIds: [cards.id] };
    await api("POST", maintenancePath, { body });
    await cards.report({ status: "down" });
    await advance(minuteMs);
    const at = time.now;
    await advance(minuteMs);
    for (const suffix of ["", ".json"])
      expect((await readAt(at, suffix)).text).not.toContain("CANARY");
    // The incident moves to a monitor for everyone. It was not theirs then.
    await past.postUpdate(id, { monitorIds: [shop.id], title: "Shop is slow" });
    const { text } = await readAt(at);
    expect([text.includes("CANARY"), text.includes("Shop is slow")]).toEqual([false, false]);
    expect((await readAt(time.now)).text).toContain("Shop is slow");
  });

  test("asks for the password, and is a secret of its organization", async () => {
    await using past = await createPast({ addressOf });
    const { publish, createPage, createIncident, time, readAt, theirs, advance } = past;
    await createPage({ visibility: "hidden" });
    await createIncident({ title: "CANARY" });
    await advance(minuteMs);
    await publish({ visibility: "password", password: "correct horse battery" });
    expect([(await readAt(time.now)).status, (await readAt(time.now, ".json")).status]).toEqual([
      403, 403,
    ]);
    for (const suffix of ["", ".json"]) {
      expect((await readAt(time.now, suffix)).text).not.toContain("CANARY");
      expect((await readAt(time.now, suffix, "payments")).status).toBe(404);
      const other = await readAt(time.now, suffix, "theirs");
      expect([other.status, other.text.includes("CANARY")]).toEqual([200, false]);
    }
    expect(theirs).toBeDefined();
  });
});

test("the page of a past incident leads to the status page at its first minute", async () => {
  await using world = await createPast();
  const { createIncident, postUpdate, advance, time, readHtml } = world;
  await advance(10_000);
  const { id } = await createIncident();
  const minute = formatMinute(time.now + 50_000);
  await advance(3 * minuteMs);
  await postUpdate(id, { status: "resolved" });
  const { text } = await readHtml(`/status/ours/incidents/${id}`);
  expect(text).toContain(`href="/status/ours/?at=${minute}"`);
  const past = await readHtml(`/status/ours/?at=${minute}`);
  expect(readWords(past.text, ".inc h2")).toEqual(["Slow answers"]);
});
