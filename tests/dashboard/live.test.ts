import { afterEach, describe, expect, test } from "bun:test";
import { createVault } from "../../src/core/security/secrets.ts";
import { expandMonitor } from "../../src/dashboard/rules.ts";
import { mayListen } from "../../src/dashboard/stream-rules.ts";
import { createDashboard } from "../support/dashboard.ts";
import { openStream } from "../support/live.ts";
import { signInMember, createPerson, signInVisitor } from "../support/people.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const live of running.splice(0)) await live.stop();
});

/** A dashboard with the page of one of its people open. */
async function openIncident() {
  const dashboard = await createDashboard();
  await dashboard.live.start();
  running.push(dashboard.live);
  const viewer = await signInMember(dashboard, "viewer");
  const stream = await openStream(dashboard, viewer.cookie);
  return { ...dashboard, who: viewer, stream, hello: await stream.next() };
}

type OpenedIncident = Awaited<ReturnType<typeof openIncident>>;

/** A check of every monitor finds this, and its result is written. */
async function check({ store, ours, appliance }: OpenedIncident, latencyMs: number, at: string) {
  await store.atomic([
    {
      text: "update monitor_states set status = 'up', latency_ms = ?, last_checked_at = ?",
      parameters: [latencyMs, at],
    },
  ]);
  const monitors = await store.query<{ id: string }>("select id from monitors", []);
  const results = monitors.map(({ id }) => ({ monitorId: id, at }));
  appliance.signals.emit("results", ours.id, results);
}

describe("an open page", () => {
  test("starts with its position, as an uncached same-origin stream", async () => {
    const { stream, hello } = await openIncident();
    expect(hello).toEqual({ event: "hello", id: expect.stringMatching(/^[\w-]{22}$/), data: {} });
    const { headers } = stream.response;
    expect(headers.get("content-type")).toBe("text/event-stream");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-request-id")).not.toBeNull();
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });

  test("receives every event of its organization, and no other", async () => {
    const { api, theirs, stream } = await openIncident();
    const body = { title: "Slow" };
    await theirs.api("POST", "/api/v1/incidents", { body });
    const { id } = (await api("POST", "/api/v1/incidents", { body })).json.data;
    const message = await stream.next();
    expect(message).toMatchObject({
      event: "change",
      data: { type: "incident.opened", subjectId: id },
    });
    expect(Object.keys(message?.data)).toEqual(["type", "subjectId", "at"]);
  });

  test("receives check results as rows of the Monitors page", async () => {
    const world = await openIncident();
    const { monitor, stream, who } = world;
    const { id } = await monitor();
    await stream.readUntil(({ event }) => event === "monitors");
    await check(world, 42, "2026-11-20T10:00:42.000Z");
    const [message] = await stream.readUntil(({ event }) => event === "monitors");
    expect(message?.data.monitors).toMatchObject([{ id, latencyMs: 42 }]);
    expect(expandMonitor(message?.data.monitors[0]).status).toBe("up");
    const { json } = await who.page("GET", "/dashboard/overview");
    expect(message?.data.monitors).toEqual(json.data.ungrouped);
  });

  test("receives changed rows separately from checked ones", async () => {
    const world = await openIncident();
    const { id } = await world.monitor();
    const [row] = (await world.stream.readUntil(({ event }) => event === "monitors")).slice(-1);
    expect(row?.data).toMatchObject({ checked: false, monitors: [{ id }] });
    await check(world, 7, "2026-11-20T10:00:07.000Z");
    const [found] = await world.stream.readUntil(({ event }) => event === "monitors");
    expect(Object.keys(found?.data)).toEqual(["monitors"]);
  });

  test("reads no complete list during checks, and one after a change", async () => {
    const world = await openIncident();
    for (let index = 0; index < 10; index++) await world.monitor();
    await check(world, 9, "2026-11-20T10:00:09.000Z");
    await world.stream.readUntil(({ data }) => data.monitors?.[9]?.latencyMs === 9);
    const query = world.store.query.bind(world.store);
    let looks = 0;
    world.store.query = (text, parameters) => {
      if (text.includes("as version") || text.includes("signature")) looks++;
      return query(text, parameters);
    };
    for (let second = 10; second < 14; second++) {
      await check(world, second, `2026-11-20T10:00:${second}.000Z`);
      await world.stream.readUntil(({ data }) => data.monitors?.[9]?.latencyMs === second);
    }
    expect(looks).toBe(0);
    await world.group({ monitorIds: [] });
    await world.monitor();
    await world.stream.readUntil(({ data }) => data.checked === false);
    expect(looks).toBeGreaterThan(0);
  });

  test("receives a paused group as rows of its monitors", async () => {
    const { group, monitor, pauseGroup, stream } = await openIncident();
    const { id } = await group({ monitorIds: [(await monitor()).id] });
    await stream.readUntil(({ data }) => data.monitors?.[0]?.groupId === id);
    await pauseGroup(id, true);
    const messages = await stream.readUntil(({ event }) => event === "monitors");
    expect(messages.map(({ data }) => data.type ?? data.monitors[0].status)).toEqual([
      "monitor.paused",
      "group.paused",
      "paused",
    ]);
  });

  test("must reload after too many events at once", async () => {
    const world = await openIncident();
    const { monitor, stream } = world;
    const monitorIds: string[] = [];
    for (let index = 0; index < 201; index++) monitorIds.push((await monitor()).id);
    await stream.readUntil(({ data }) => data.subjectId === monitorIds.at(-1));
    const { page } = await signInMember(world, "member");
    await page("POST", "/dashboard/api/v1/monitors/bulk", { body: { monitorIds, delete: true } });
    const messages = await stream.readUntil(({ event }) => event === "reset");
    expect(messages.some(({ data }) => data.type === "monitor.deleted")).toBe(false);
  });

  test("shares one query with 49 others", async () => {
    const world = await openIncident();
    const colleagues = [
      await signInMember(world, "viewer"),
      await signInMember(world, "member"),
      world.who,
    ];
    const others = await Promise.all(
      Array.from({ length: 49 }, (_, index) =>
        openStream(world, colleagues[index % 3]?.cookie ?? ""),
      ),
    );
    for (const other of others) await other.next();
    const { id } = await world.monitor();
    const query = world.store.query.bind(world.store);
    let looks = 0;
    world.store.query = (text, parameters) => {
      if (text.includes("as version")) looks++;
      return query(text, parameters);
    };
    for (const { readUntil } of [world.stream, ...others]) {
      const [last] = (await readUntil(({ event }) => event === "monitors")).slice(-1);
      expect(last?.data.monitors[0].id).toBe(id);
    }
    expect(looks).toBeLessThanOrEqual(2);
  });
});

describe("a page that was disconnected", () => {
  async function reconnectAfter(
    after: (position: string) => { query?: string; headers?: Record<string, string> },
  ) {
    const world = await openIncident();
    await world.stream.leave();
    const { id } = await world.monitor();
    await world.theirs.api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
    const stream = await openStream(world, world.who.cookie, after(world.hello?.id ?? ""));
    return { ...world, stream, id };
  }

  for (const [how, after] of Object.entries({
    "in the header of browsers": (position: string) => ({ headers: { "Last-Event-ID": position } }),
    "in the query": (position: string) => ({ query: `?after=${position}` }),
  }))
    test(`receives missed events, ${how}`, async () => {
      const { stream, id } = await reconnectAfter(after);
      const messages = await stream.readUntil(({ event }) => event === "monitors");
      expect(
        messages.map(({ event, data }) => [event, data.type ?? data.monitors?.[0].id]),
      ).toEqual([
        ["hello", undefined],
        ["change", "monitor.created"],
        ["monitors", id],
      ]);
    });

  test("must reload once if events were removed in the meantime", async () => {
    const late = await openIncident();
    await late.stream.leave();
    late.database.run("UPDATE sqlite_sequence SET seq = 1000 WHERE name = 'events'");
    late.database.run("INSERT INTO housekeeping (name, value) VALUES ('events', 1000)");
    const from = (id: string | null | undefined) => ({ query: `?after=${id}` });
    const behind = await openStream(late, late.who.cookie, from(late.hello?.id));
    const hello = await behind.next();
    expect([hello?.event, (await behind.next())?.event]).toEqual(["hello", "reset"]);
    await behind.leave();
    await late.monitor();
    const anew = await openStream(late, late.who.cookie, from(hello?.id));
    expect((await anew.next())?.event).toBe("hello");
    expect((await anew.next())?.event).toBe("change");
    await anew.leave();
  });

  test("must reload after too long, or with another database", async () => {
    const elsewhere = createVault(new Uint8Array(32));
    const { stream } = await reconnectAfter(() => ({
      query: `?after=${elsewhere.sealNumber(1, "live/another")}`,
    }));
    expect((await stream.next())?.event).toBe("hello");
    expect((await stream.next())?.event).toBe("reset");
    const world = await openIncident();
    await world.stream.leave();
    world.database
      .run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 501)
      INSERT INTO events (organization_id, at, type, subject_id)
      SELECT '${world.ours.id}', '', 'incident.updated', '' FROM n`);
    const query = `?after=${world.hello?.id}`;
    const again = await openStream(world, world.who.cookie, { query });
    expect((await again.next())?.event).toBe("hello");
    expect((await again.next())?.event).toBe("reset");
  });
});

describe("activity of other organizations", () => {
  test("does not affect positions and tags of an idle organization", async () => {
    const { stream, hello, theirs, who, ...world } = await openIncident();
    const inspect = async () => {
      const again = await openStream(world, who.cookie);
      const { id } = (await again.next()) ?? {};
      await again.leave();
      const { json, headers } = await who.page("GET", "/dashboard/overview");
      return [id, json.data.position, headers.get("etag")];
    };
    const before = await inspect();
    await theirs.api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
    expect(await inspect()).toEqual(before);
    expect(before[0]).toBe(before[1]);
    await stream.leave();
    expect(hello?.id).toBe(before[0]);
  });
});

describe("live streams", () => {
  const stream = (organization: number, person: number, session = 0) => ({
    organizationId: `o${organization}`,
    personId: `o${organization} p${person}`,
    sessionId: `o${organization} p${person} s${session}`,
  });
  type TestStream = ReturnType<typeof stream>;
  /** Opens pages until one is rejected. */
  const fill = (open: TestStream[], next: (index: number) => TestStream) => {
    for (let index = 0; mayListen(next(index), open); index++) open.push(next(index));
    return open;
  };

  test("are limited to 20 per session, regardless of other people", () => {
    const open = fill([], () => stream(1, 1));
    expect(open).toHaveLength(20);
    expect(mayListen(stream(1, 1, 1), open)).toBe(true);
    expect(mayListen(stream(1, 2), open)).toBe(true);
  });

  test("of one person with many sessions leave some for colleagues", () => {
    const open = fill([], (index) => stream(1, 1, Math.floor(index / 20)));
    expect(open).toHaveLength(180);
    for (let colleague = 2; colleague < 12; colleague++)
      for (let page = 0; page < 2; page++) {
        expect(mayListen(stream(1, colleague), open)).toBe(true);
        open.push(stream(1, colleague));
      }
    expect(mayListen(stream(1, 99), open)).toBe(false);
    expect(mayListen(stream(2, 1), open)).toBe(true);
  });

  test("of many organizations leave some for the others", () => {
    const open = Array.from({ length: 1_800 }, (_, index) => stream(index % 18, index));
    expect(mayListen(stream(0, 1), open)).toBe(false);
    expect(mayListen(stream(99, 1), open)).toBe(true);
    expect(fill(open, (index) => stream(99, Math.floor(index / 2)))).toHaveLength(1_810);
  });

  test("beyond the limit are rejected, and a closed one frees its slot", async () => {
    const world = await openIncident();
    const more = await Promise.all(
      Array.from({ length: 19 }, () => openStream(world, world.who.cookie)),
    );
    const refused = await world.who.page("GET", "/dashboard/live");
    expect([refused.status, refused.json.error.code]).toEqual([429, "RATE_LIMITED"]);
    expect(refused.headers.get("retry-after")).toBe("10");
    await more[0]?.leave();
    const stream = await openStream(world, world.who.cookie);
    expect((await stream.next())?.event).toBe("hello");
  });
});

describe("a stream ends", () => {
  test("at once when the appliance stops", async () => {
    const { live, stream } = await openIncident();
    await live.stop();
    expect(await stream.next()).toBeNull();
    expect(live.isOpen()).toBe(false);
  });

  test("within seconds of the session's end, or of the person's leaving the organization", async () => {
    const world = await openIncident();
    const other = await signInMember(world, "viewer");
    const leaver = await openStream(world, other.cookie);
    const stayer = await openStream(world, (await signInVisitor(world, other.id)).cookie);
    expect([(await leaver.next())?.event, (await stayer.next())?.event]).toEqual([
      "hello",
      "hello",
    ]);
    world.database.run("DELETE FROM sessions WHERE id = ?", [world.who.sessionId]);
    expect(await world.stream.next()).toBeNull();
    world.database.run("DELETE FROM memberships WHERE person_id = ?", [other.id]);
    expect(await Promise.all([leaver.next(), stayer.next()])).toEqual([null, null]);
  });

  test("for a page that does not read, before its buffer grows; others continue", async () => {
    const world = await openIncident();
    const lazy = await openStream(world, (await signInMember(world, "viewer")).cookie);
    const long = "x".repeat(255);
    const ids: string[] = [];
    for (let index = 0; index < 500; index++) ids.push((await world.monitor({ name: long })).id);
    for (let round = 0; round < 10; round++) {
      await check(world, round, `${round}`);
      await world.stream.readUntil(({ data }) => data.monitors?.length === 500);
    }
    let bytes = 0;
    for (;;) {
      const message = await lazy.next();
      if (message === null) break;
      bytes += JSON.stringify(message).length;
    }
    expect(bytes).toBeLessThan(2 * 1024 * 1024);
  });
});

test("a stream is for people of the organization", async () => {
  const world = await openIncident();
  const stranger = await createPerson(world, world.theirs.id, "owner");
  const { page, cookie } = await signInVisitor(world, stranger.id);
  expect((await page("GET", `/dashboard/live?organization=${world.ours.id}`)).status).toBe(404);
  const theirs = await openStream(world, cookie);
  await theirs.next();
  await world.monitor();
  await world.theirs.api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
  expect((await theirs.next())?.data.type).toBe("incident.opened");
  expect((await page("GET", "/dashboard/live?after=x")).status).toBe(422);
  expect((await world.stranger("GET", "/dashboard/live")).status).toBe(401);
});
