import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { computePhase } from "../../../src/monitoring/checks/rules.ts";
import { readSince } from "../../../src/events/log.ts";
import { type TestResponse, createApplianceClient } from "../../support/appliance.ts";
import { getNodeAddress } from "../../support/nodes.ts";
import { type Sharing, createSharing } from "../../support/shared-database.ts";
import { replyWith, startTarget } from "../../support/target.ts";
import { isStateChange } from "../../support/check-board.ts";
import { waitUntil } from "../../support/poll.ts";

const interval = 20;

type Row = { key: number; id: string; at: number };

describe("two nodes that share the checks", () => {
  let site: Awaited<ReturnType<typeof startTarget>>;
  beforeAll(async () => {
    site = await startTarget();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function make({ ours }: Sharing, body: object) {
    const { status, json, text } = await ours.api("POST", "/api/v1/monitors", {
      body: { name: "Shop", interval, ...body },
    });
    expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
    return json.data;
  }

  async function createShops(sharing: Sharing, count: number): Promise<string[]> {
    const monitors: { id: string }[] = [];
    for (let i = 0; i < count; i++)
      monitors.push(await make(sharing, { type: "http", url: site.at(), retries: 0 }));
    return monitors.map(({ id }) => id);
  }

  const readHeartbeats = ({ store }: Sharing) =>
    store.query<Row>(
      `select s.key, s.monitor_id as id, h.at from heartbeats h
       join monitor_states s on s.key = h.monitor_key order by s.key, h.at`,
      [],
    );

  /** Slots of its interval in which a monitor has results. */
  const slotsOf = (rows: readonly Row[]) =>
    [...Map.groupBy(rows, ({ id }) => id).values()].map((results) =>
      results.map(({ key, at }) =>
        Math.floor((at - computePhase(key, interval * 1_000)) / (interval * 1_000)),
      ),
    );

  test("every slot is recorded once by one of the nodes, even if one dies and returns", async () => {
    const sharing = await createSharing({ allowTarget: ["127.0.0.1/32"] });
    const { both, advance, time } = sharing;
    const [a, b] = both;
    const ids = await createShops(sharing, 16);
    await advance(interval, both);
    const startedAt = time.now;
    site.asked.length = 0;
    await advance(3 * interval, both);
    const rows = (await readHeartbeats(sharing)).filter(({ at }) => at > startedAt);
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(ids));
    expect(site.asked.length).toBe(rows.length);
    for (const slots of slotsOf(rows)) expect(slots).toEqual(slots.map((_, i) => slots[0]! + i));
    const byNode = [a, b].map(
      ({ node }) => ids.filter((id) => node.findByRecord(id) !== null).length,
    );
    expect(Math.min(...byNode)).toBeGreaterThan(0);

    await advance(4 * interval, [a]);
    const alone = await readHeartbeats(sharing);
    for (const slots of slotsOf(alone.filter(({ at }) => at > startedAt))) {
      expect(slots).toEqual(slots.map((_, i) => slots[0]! + i));
    }
    const gaps = [...Map.groupBy(alone, ({ id }) => id).values()].flatMap((results) =>
      results.slice(1).map(({ at }, i) => at - results[i]!.at),
    );
    expect(Math.max(...gaps)).toBeLessThanOrEqual((interval + 15 + 15) * 1_000);

    await advance(3 * interval, both);
    for (const slots of slotsOf((await readHeartbeats(sharing)).filter(({ at }) => at > startedAt)))
      expect(slots).toEqual(slots.map((_, i) => slots[0]! + i));
    expect((await readSince(sharing.store, 0, 1_000)).filter(isStateChange)).toHaveLength(
      ids.length,
    );
  });

  test("the result of a node that lost its lease unnoticed is discarded, and waiting requests get an error", async () => {
    const sharing = await createSharing();
    const { start, both, advance, time, store } = sharing;
    // Its clock stops while the others advance, like a suspended process.
    const asleep = { now: time.now };
    const c = start("c", asleep);
    for (let i = 0; i < 6; i++) {
      await advance(2, both);
      asleep.now = time.now;
      await c.node.runOnce();
      await c.engine.runOnce();
    }
    // Ids are random, so the owner of each monitor is random.
    const owned = [];
    while (owned.length < 3) {
      const job = await make(sharing, { type: "push" });
      if (c.node.findByRecord(job.id) !== null) owned.push(job);
    }
    await advance(16, both);
    for (const { id } of owned) {
      expect(c.node.findByRecord(id)).not.toBeNull();
      expect(both.filter(({ node }) => node.findByRecord(id) !== null)).toHaveLength(1);
    }
    const before = await readHeartbeats(sharing);
    for (const { pushUrl } of owned) {
      const { pathname } = new URL(pushUrl);
      const response = await createApplianceClient(c.app, null)("GET", pathname);
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    }
    expect(await readHeartbeats(sharing)).toEqual(before);
    expect((await readSince(store, 0, 1_000)).filter(isStateChange)).toEqual([]);
  });

  test.each([
    { inverted: false, good: replyWith(), bad: replyWith(500), seen: "HTTP 500" },
    {
      inverted: true,
      good: replyWith(500),
      bad: replyWith(),
      seen: "Expected to fail, but did not",
    },
  ])(
    "with confirmations a monitor is down only if another node confirms the failure: inverted is $inverted",
    async ({ inverted, good, bad, seen }) => {
      const sharing = await createSharing({ allowTarget: ["127.0.0.1/32"] });
      const { both, advance, ours } = sharing;
      const path = `/confirmed-${inverted}`;
      const reached = [good];
      site.setReply((response) => (reached.shift() ?? bad)(response), path);
      const about = { type: "http", retries: 0, retryInterval: 5, inverted };
      const { id } = await make(sharing, { ...about, url: site.at(path), confirmations: 2 });
      const inspect = async () => (await ours.api("GET", `/api/v1/monitors/${id}`)).json.data;
      const [owner, other] = both.toSorted(
        (x, y) =>
          Number(x.node.findByRecord(id) === null) - Number(y.node.findByRecord(id) === null),
      );
      /** Runs the other node while the checks of the owner continue. */
      const passAndCount = async (seconds: number) => {
        let isOver = false;
        const passing = advance(seconds, both).finally(() => (isOver = true));
        while (!isOver) {
          await other!.node.runOnce();
          await Bun.sleep(5);
        }
        await passing;
      };
      await advance(1, both);
      expect((await inspect()).status).toBe("up");
      // Fails on the owner, but not on the other node.
      reached.push(bad, good);
      const contradicted = `${other!.id}.lan:3210 sees it up, while here: ${seen}`;
      while (!(await inspect()).lastMessage?.includes(contradicted)) await passAndCount(1);
      expect((await inspect()).status).toBe("up");
      await passAndCount(6);
      expect((await inspect()).status).toBe("down");
      expect(owner!.node.findByRecord(id)).not.toBeNull();
    },
  );

  test("an earlier report from another node does not override a later one", async () => {
    const sharing = await createSharing();
    const { both, advance, ours, store } = sharing;
    const { id, pushUrl } = await make(sharing, { type: "push", retries: 0 });
    await advance(1, both);
    const [owner, other] = both.toSorted(
      (x, y) => Number(x.node.findByRecord(id) === null) - Number(y.node.findByRecord(id) === null),
    );
    const { pathname } = new URL(pushUrl);
    const report = (at: (typeof both)[0] | undefined, status: string) =>
      createApplianceClient(at!.app, null)("GET", `${pathname}?status=${status}`);
    const early = report(other, "down");
    const forward = () => store.query("select 1 from forwarded_requests", []);
    await waitUntil(async () => (await forward()).length > 0);
    sharing.time.now += 1_000;
    expect((await report(owner, "up")).json).toEqual({ ok: true });
    expect((await early).json).toEqual({ ok: true });
    await owner!.node.runOnce();
    const { json } = await ours.api("GET", `/api/v1/monitors/${id}/heartbeats`);
    expect(json.data.map(({ status }: { status: string }) => status)).toEqual(["up", "down"]);
    const { data } = (await ours.api("GET", `/api/v1/monitors/${id}`)).json;
    expect(data.status).toBe("up");
  });

  test("the address of a running node is a blocked target for all nodes", async () => {
    const sharing = await createSharing();
    const { both, advance, ours } = sharing;
    const urls = [
      ...both.map(({ id }) => `http://${getNodeAddress(id)}:3210/`),
      "http://127.0.0.1:3210/",
    ];
    const [key, other] = [ours.writeKey.key, `http://${getNodeAddress("b")}:3211/`];
    const request = ({ app }: (typeof both)[0], url: string) =>
      createApplianceClient(app, key)("POST", "/api/v1/monitors", {
        body: { type: "http", name: "Own", url },
      });
    for (const server of both) {
      // The published address of a node applies to the other nodes.
      const elsewhere = urls.filter((url) => !url.includes(getNodeAddress(server.id)));
      for (const url of elsewhere) {
        const { status, text } = await request(server, url);
        expect([url, status, text]).toEqual([
          url,
          422,
          expect.stringContaining("appliance itself"),
        ]);
      }
      expect((await request(server, other)).status).toBe(201);
    }
    const [a, b] = both;
    await b.node.stop();
    await advance(3, [a]);
    expect((await request(a, `http://${getNodeAddress("b")}:3210/`)).status).toBe(201);
  });

  test("reports and requested checks are processed by the owner of the monitor", async () => {
    const sharing = await createSharing({ allowTarget: ["127.0.0.1/32"] });
    const { both, advance, ours } = sharing;
    const [id = ""] = await createShops(sharing, 1);
    const { id: jobId, pushUrl } = await make(sharing, { type: "push" });
    await advance(1, both);
    /** The owner of the monitor, and the other node. */
    const nodesOf = (id: string) =>
      both.toSorted(
        (x, y) =>
          Number(x.node.findByRecord(id) === null) - Number(y.node.findByRecord(id) === null),
      );
    /** Sends a request to the other node while the owner processes forwarded work. */
    const requestDuringCheck = async (
      id: string,
      request: (other: (typeof both)[0]["app"]) => Promise<TestResponse>,
    ) => {
      const [owner, other] = nodesOf(id);
      let response: TestResponse | null = null;
      void request(other!.app).then((received) => (response = received));
      while (response === null) {
        await owner!.node.runOnce();
        await Bun.sleep(5);
      }
      return response as TestResponse;
    };
    const { pathname } = new URL(pushUrl);
    const reported = await requestDuringCheck(jobId, (app) =>
      createApplianceClient(app, null)("GET", `${pathname}?status=down&msg=late`),
    );
    expect(reported.json).toEqual({ ok: true });
    const state = await ours.api("GET", `/api/v1/monitors/${jobId}`);
    expect(state.json.data).toMatchObject({ lastMessage: "late" });

    site.asked.length = 0;
    const checked = await requestDuringCheck(id, (app) =>
      createApplianceClient(app, ours.writeKey.key)("POST", `/api/v1/monitors/${id}/check`),
    );
    expect(checked.status).toBe(200);
    expect(site.asked).toHaveLength(1);
    expect(await sharing.store.query("select id from forwarded_requests", [])).toEqual([]);
  });
});
