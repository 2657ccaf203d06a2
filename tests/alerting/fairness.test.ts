import { describe, expect, test } from "bun:test";
import { AlertFanOut } from "../../src/alerting/deciding/fan-out.ts";
import { createOutboxRoom } from "../../src/alerting/sending/outbox-room.ts";
import { createId } from "../../src/core/ids.ts";
import { compileStatement } from "../../src/database/store.ts";
import { readSince } from "../../src/events/log.ts";
import { findSlowestCursor } from "../../src/events/retention.ts";
import { createPager } from "../support/pager.ts";

const channels = 490;
const incidents = 3_500;

/** Counts the writes of fan-outs; the power fails before write number `dies`. */
function countWrites(store: Awaited<ReturnType<typeof createPager>>["store"], dies = -1) {
  const counted = { writes: 0 };
  const atomic = store.atomic.bind(store);
  store.atomic = (statements) => {
    if (!statements.some((one) => compileStatement(one).text.includes("into followers")))
      return atomic(statements);
    if (counted.writes === dies) {
      dies = -1;
      return Promise.reject(new Error("The power failed."));
    }
    counted.writes += 1;
    return atomic(statements);
  };
  return counted;
}

/** One organization with many incidents for many channels, and another with one monitor and one channel. */
async function setUpFlooded(size = { channels, incidents }) {
  const pager = await createPager();
  const { database, ours, theirs, time } = pager;
  const hook = await pager.channel({ type: "webhook", url: "http://bot.lan/a", incidents: true });
  const copyChannel = database.query(
    `insert into alert_channels (organization_id, id, name, type, enabled, is_default, incidents,
       settings, secrets, version, created_at, updated_at)
     select organization_id, ?1, name, type, enabled, is_default, incidents, settings, secrets, version,
       created_at, updated_at from alert_channels where id = ?2`,
  );
  for (let index = 1; index < size.channels; index++) copyChannel.run(createId(time.now), hook.id);
  const body = { name: "Theirs", type: "webhook", url: "http://bot.lan/b" };
  const { id: channelId } = (await theirs.api("POST", "/api/v1/alert-channels", { body })).json
    .data;
  const { fan } = createFanOut(pager);
  await settle(pager, fan);
  const { id } = (await ours.api("POST", "/api/v1/incidents", { body: { title: "Flood" } })).json
    .data;
  copyRows(pager, id, size.incidents - 1);
  return { ...pager, channelId };
}

type Pager = Awaited<ReturnType<typeof createPager>>;

/** Copies an incident with its timeline and its event. */
function copyRows({ database, time }: Pager, id: string, count: number) {
  const columnsOf = (table: string) =>
    database
      .query<{ name: string }, [string]>("select name from pragma_table_info(?)")
      .all(table)
      .map(({ name }) => name);
  const copy = (table: string, replaced: Record<string, string>, where: string) => {
    const names = columnsOf(table).filter((name) => table !== "events" || name !== "seq");
    const values = names.map((name) => replaced[name] ?? name).join(", ");
    return database.query(
      `insert into ${table} (${names.join(", ")}) select ${values} from ${table} where ${where}`,
    );
  };
  const incident = copy("incidents", { id: "?1" }, "id = ?2");
  const updates = copy("incident_updates", { id: "?3", incident_id: "?1" }, "incident_id = ?2");
  const data = "json_set(data, '$.updateId', ?3)";
  const event = copy("events", { subject_id: "?1", data }, "subject_id = ?2");
  database.transaction(() => {
    for (let index = 0; index < count; index++) {
      const [copied, update] = [createId(time.now), createId(time.now)];
      incident.run(copied, id);
      updates.run(copied, id, update);
      event.run(copied, id, update);
    }
  })();
}

/** A fan-out without state in memory. */
function createFanOut({ store, appliance }: Pager, most?: number) {
  const { clock, origin, signals } = appliance;
  const room = createOutboxRoom(store, "alerts", most);
  return { fan: new AlertFanOut({ store, clock, origin, signals, room }) };
}

type Fan = ReturnType<typeof createFanOut>["fan"];

/** Reads the log as the event reader does: in batches, each handled before the next. */
async function readAll({ store }: Pager, fan: Fan) {
  for (let seq = (await fan.follower.cursor.read()).seq; ;) {
    const events = await readSince(store, seq, 500);
    const last = events.at(-1);
    if (last === undefined) return;
    await fan.follower.handleBatch(events);
    ({ seq } = last);
  }
}

async function settle(world: Pager, fan: Fan) {
  await readAll(world, fan);
  await fan.follower.drain();
}

const deliveriesOf = ({ database }: Pager, organizationId: string) =>
  database
    .query<{ count: number }, [string]>(
      `select count(*) as count from delivery_alerts where organization_id = ?`,
    )
    .get(organizationId)?.count ?? 0;

describe("an organization with 1.7 million alerts to send", () => {
  test("delays another's alert by at most two writes", async () => {
    const world = await setUpFlooded();
    const { fan } = createFanOut(world);
    const counted = countWrites(world.store);
    await readAll(world, fan);
    expect(counted.writes).toBeLessThanOrEqual(Math.ceil(incidents / 500) + 1);
    for (let turn = 0; turn < 3; turn++) expect(await fan.follower.serveBacklogs()).toBe(true);
    const draining = fan.follower.drain(() => deliveriesOf(world, world.theirs.id) > 0);
    const before = counted.writes;
    await world.theirs.api("POST", "/api/v1/incidents", { body: { title: "Theirs" } });
    await readAll(world, fan);
    expect(deliveriesOf(world, world.theirs.id)).toBe(1);
    expect(counted.writes - before).toBeLessThanOrEqual(2);
    await draining;
    expect(deliveriesOf(world, world.ours.id)).toBeLessThan(20_000);
  });

  test("delays another's reminder by at most two writes", async () => {
    const pager = await createPager();
    const { database, theirs, time } = pager;
    const hook = await pager.channel({ type: "webhook", url: "http://bot.lan/a" });
    const job = await pager.createWatchedJob([hook], { reminderInterval: 600 });
    await job.changeState("down");
    const body = { name: "Theirs", type: "webhook", url: "http://bot.lan/b" };
    const { id } = (await theirs.api("POST", "/api/v1/alert-channels", { body })).json.data;
    const { fan } = createFanOut(pager);
    await settle(pager, fan);
    // Many of our timers and one of theirs are due; ours are earlier.
    const memory = database.query(
      `insert into alert_memory (organization_id, monitor_id, changes, remind_at, due_at)
       values (?, ?, '[]', ?, ?)`,
    );
    for (let index = 0; index < 5_000; index++)
      memory.run(pager.ours.id, createId(time.now), 1, time.now);
    const monitor = {
      name: "Job",
      type: "push",
      retries: 0,
      reminderInterval: 600,
      alertChannelIds: [id],
    };
    const created = (await theirs.api("POST", "/api/v1/monitors", { body: monitor })).json.data;
    database.run("update monitor_states set status = 'down' where monitor_id = ?", [created.id]);
    memory.run(theirs.id, created.id, time.now, time.now + 1);
    time.now += 700_000;
    const counted = countWrites(pager.store);
    const writesUntilTheirs: number[] = [];
    const atomic = pager.store.atomic.bind(pager.store);
    pager.store.atomic = async (statements) => {
      await atomic(statements);
      if (deliveriesOf(pager, theirs.id) > 0 && writesUntilTheirs.length === 0)
        writesUntilTheirs.push(counted.writes);
    };
    await fan.tick();
    expect(writesUntilTheirs).toEqual([1]);
  });
});

test("events that can't be handled delay only their own organization", async () => {
  const world = await setUpFlooded({ channels: 1, incidents: 1 });
  const { fan } = createFanOut(world);
  const atomic = world.store.atomic.bind(world.store);
  const summarize = () => [world.ours, world.theirs].map(({ id }) => deliveriesOf(world, id));
  world.store.atomic = (statements) =>
    statements.map(compileStatement).some(({ text, parameters }) => {
      const isRow = !text.includes("followers");
      return isRow && parameters.some((one) => String(one).includes(world.ours.id));
    })
      ? Promise.reject(new Error("CHECK constraint failed"))
      : atomic(statements);
  const openTheirs = () =>
    world.theirs.api("POST", "/api/v1/incidents", { body: { title: "Theirs" } });
  await openTheirs();
  await readAll(world, fan);
  await fan.follower.drain().catch(() => {});
  expect(summarize()).toEqual([0, 1]);
  await openTheirs();
  await readAll(world, fan);
  expect(summarize()).toEqual([0, 2]);
  world.time.now += 1_000;
  expect(await fan.follower.drain().catch(String)).toContain("CHECK constraint failed");
  world.store.atomic = atomic;
  world.time.now += 2_000;
  await settle(world, fan);
  expect(summarize()).toEqual([1, 2]);
});

test("timers that can't be handled delay only their own organization", async () => {
  const pager = await createPager();
  const { database, time } = pager;
  const memory = database.query(
    `insert into alert_memory (organization_id, monitor_id, changes, remind_at, due_at)
     values (?, ?, '[]', ?, ?)`,
  );
  for (const { api, id } of [pager.ours, pager.theirs]) {
    const hook = { name: "Hook", type: "webhook", url: "http://bot.lan/a" };
    const channel = (await api("POST", "/api/v1/alert-channels", { body: hook })).json.data;
    const job = { name: "Job", type: "push", reminderInterval: 600, alertChannelIds: [channel.id] };
    const monitor = (await api("POST", "/api/v1/monitors", { body: job })).json.data;
    database.run("update monitor_states set status = 'down' where monitor_id = ?", [monitor.id]);
    memory.run(id, monitor.id, time.now, time.now);
  }
  const { fan } = createFanOut(pager);
  await settle(pager, fan);
  time.now += 700_000;
  const summarize = () => [pager.ours, pager.theirs].map(({ id }) => deliveriesOf(pager, id));
  const atomic = pager.store.atomic.bind(pager.store);
  pager.store.atomic = (statements) =>
    statements
      .map(compileStatement)
      .some(({ parameters }) => parameters.some((one) => String(one).includes(pager.ours.id)))
      ? Promise.reject(new Error("CHECK constraint failed"))
      : atomic(statements);
  expect(await fan.tick().catch(String)).toContain("CHECK constraint failed");
  expect(summarize()).toEqual([0, 1]);
  pager.store.atomic = atomic;
  time.now += 1_000;
  await fan.tick();
  expect(summarize()).toEqual([1, 1]);
});

describe("deferred events", () => {
  const size = { channels: 30, incidents: 150 };
  const all = size.channels * size.incidents;

  for (const dies of [0, 1, 2])
    test(`become alerts once and in order, even if the machine stops before write ${dies}`, async () => {
      const world = await setUpFlooded(size);
      const events = world.database
        .query<{ id: string }, []>(
          "select subject_id as id from events where type = 'incident.opened' order by seq",
        )
        .all()
        .map(({ id }) => id);
      countWrites(world.store, dies);
      let failures = 0;
      for (let start = 0; start < 3; start++)
        await settle(world, createFanOut(world).fan).catch(() => failures++);
      expect(failures).toBe(1);
      const messages = world.database
        .query<{ id: string; channels: number }, []>(
          `select a.incident_id as id, count(distinct d.receiver_id) as channels from alerts a
             join delivery_alerts t on t.alert_id = a.id join deliveries d on d.id = t.delivery_id
           group by a.id order by a.rowid`,
        )
        .all();
      expect(messages).toEqual(events.map((id) => ({ id, channels: size.channels })));
      expect(deliveriesOf(world, world.ours.id)).toBe(all);
      const left = "select name from followers where name like '%/%'";
      expect(world.database.query(left).all()).toEqual([]);
    });

  test("are stored until they are handled, however old they are", async () => {
    const world = await setUpFlooded(size);
    const { fan } = createFanOut(world);
    await readAll(world, fan);
    const [row] = await world.store.query<{ seq: number }>(
      "select seq from followers where name like 'alerting/%'",
      [],
    );
    world.database.run(
      "insert or replace into followers (name, seq, version) values ('subscribers', 1000000, 1)",
    );
    expect(await findSlowestCursor(world.store)).toBe(row?.seq ?? -1);
  });
});

describe("an organization with a full outbox", () => {
  test("gets a report of the alerts that were left out, and one when the outbox has space again", async () => {
    const size = { channels: 30, incidents: 40 };
    const world = await setUpFlooded(size);
    const { fan } = createFanOut(world, 300);
    await settle(world, fan);
    const messageCount = deliveriesOf(world, world.ours.id);
    expect(messageCount).toBeGreaterThanOrEqual(300);
    expect(messageCount).toBeLessThan(300 + 3 * size.channels);
    const readProblems = () =>
      world.database.query("select organization_id as id, name, message from problems").all();
    // Each channel's outbox also contains the report itself.
    const leftOut = size.channels * size.incidents - (messageCount - size.channels);
    expect(readProblems()).toEqual([
      {
        id: world.ours.id,
        name: "alerts",
        message: expect.stringContaining(`${leftOut.toLocaleString("en")} alerts were left out`),
      },
    ]);
    const readTypes = () =>
      world.database.query("select distinct type from alerts order by type").values();
    expect(readTypes()).toEqual([["appliance.troubled"], ["incident.opened"]]);
    world.database.run("update deliveries set status = 'delivered', due_at = null");
    world.time.now += 60_000;
    await fan.tick();
    await settle(world, fan);
    expect(readProblems()).toEqual([]);
    expect(readTypes()).toEqual([
      ["appliance.recovered"],
      ["appliance.troubled"],
      ["incident.opened"],
    ]);
    await world.ours.api("POST", "/api/v1/incidents", { body: { title: "After" } });
    await settle(world, fan);
    const after = world.database.query(
      "select count(*) from alerts where json_extract(data, '$.incident.title') = 'After'",
    );
    expect(after.values()).toEqual([[1]]);
  });
});
