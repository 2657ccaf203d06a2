import { describe, expect, test } from "bun:test";
import { createId } from "../../src/core/ids.ts";
import { compileStatement, type Statement, type Store } from "../../src/database/store.ts";
import { SubscriberFanOut } from "../../src/status-pages/subscribers/fan-out.ts";
import { createPager } from "../support/pager.ts";
import { createPublisher } from "../support/publisher.ts";

// A fiftieth of the rows per write in production.
const rowsAtOnce = 40;
const channels = 22;

/** Counts the statements of each write; the power fails before writes that `fails` selects. */
function watchWrites(store: Store, fails: (write: number) => boolean = () => false) {
  const sizes: number[] = [];
  const atomic = store.atomic.bind(store);
  store.atomic = (statements: readonly Statement[]) => {
    const isFanOut = statements.some((one) =>
      compileStatement(one).text.includes("into followers"),
    );
    if (isFanOut && fails(sizes.length)) {
      fails = () => false;
      return Promise.reject(new Error("The power failed."));
    }
    if (isFanOut) sizes.push(statements.length);
    return atomic(statements);
  };
  return sizes;
}

/** A monitor with more channels than fit into one write; every other one opens cases. */
async function setUpManyChannels() {
  const services = { status: 202, headers: new Map<string, string>(), body: "{}" };
  const pager = await createPager({ exchange: async () => services });
  Object.assign(pager.appliance, { rowsAtOnce });
  pager.restart();
  const { database, ours } = pager;
  const other = await pager.createWatchedJob([
    await pager.channel({ type: "webhook", url: "http://bot.lan/other" }),
  ]);
  const hook = await pager.channel({ type: "webhook", url: "http://bot.lan/alerts" });
  const pagerduty = await pager.channel({ type: "pagerduty", routingKey: "r".repeat(32) });
  const copy = database.query(
    `insert into alert_channels (organization_id, id, name, type, enabled, is_default, incidents,
       settings, secrets, version, created_at, updated_at)
     select organization_id, ?1, name, type, enabled, is_default, incidents, settings, secrets, version,
       created_at, updated_at from alert_channels where id = ?2`,
  );
  const ids = Array.from({ length: channels }, () => createId(pager.time.now));
  for (const [index, id] of ids.entries()) copy.run(id, index % 2 === 0 ? hook.id : pagerduty.id);
  const job = await pager.createWatchedJob([], { reminderInterval: 600 });
  const attach = database.query("insert into monitor_channels values (?, ?, ?, ?)");
  for (const [index, id] of ids.entries()) attach.run(ours.id, job.id, id, index);
  const readCounts = (type: string) =>
    database
      .query<{ channels: number; deliveries: number; alerts: number }, [string]>(
        `select count(distinct d.receiver_id) as channels, count(*) as deliveries,
           count(distinct a.id) as alerts
         from deliveries d join delivery_alerts t on t.delivery_id = d.id
           join alerts a on a.id = t.alert_id where a.type = ?`,
      )
      .get(type);
  return { ...pager, job, other, readCounts };
}

const once = { channels, deliveries: channels, alerts: 1 };

/** Runs until the log is read. Failed writes are repeated by an engine without state in memory. */
async function settle({
  later,
  restart,
}: Pick<Awaited<ReturnType<typeof createPager>>, "later" | "restart">) {
  for (let turn = 0; turn < 4; turn++) {
    await later(0).catch(() => {});
    restart();
  }
}

describe("an alert with more channels than fit into one write", () => {
  for (const dies of [null, 0, 1, 2])
    test(`is sent to each of them once${dies === null ? "" : `, even if the machine stops before write ${dies}`}`, async () => {
      const world = await setUpManyChannels();
      const sizes = watchWrites(world.store, (write) => write === dies);
      for (const [status, type] of [
        ["down", "monitor.down"],
        ["up", "monitor.up"],
      ] as const) {
        await world.job.changeState(status);
        await settle(world);
        expect(world.readCounts(type)).toEqual(once);
      }
      expect(sizes.length).toBeGreaterThan(4);
      for (const size of sizes) expect(size).toBeLessThan(rowsAtOnce * 1.5);
      const left = world.database.query("select count(*) from open_cases").values();
      expect(left).toEqual([[0]]);
    });

  test("has reminders and closed cases in several writes as well", async () => {
    const world = await setUpManyChannels();
    await world.job.changeState("down");
    await settle(world);
    let first = true;
    const sizes = watchWrites(world.store, (write) => first && write === 1);
    world.time.now += 600_000;
    await settle(world);
    expect(world.readCounts("monitor.reminder")).toEqual(once);
    first = false;
    await world.job.change({ muted: true });
    await settle(world);
    const closed = world.database
      .query("select count(*), count(distinct receiver_id) from deliveries where closes_case")
      .values();
    expect(closed).toEqual([[channels / 2, channels / 2]]);
    await world.job.change({ muted: false });
    await settle(world);
    const open = world.database.query("select count(*) from open_cases").values();
    expect(open).toEqual([[channels / 2]]);
    for (const size of sizes) expect(size).toBeLessThan(rowsAtOnce * 1.5);
  });

  test("delays no events of others, and stays in order", async () => {
    const world = await setUpManyChannels();
    const { job, other } = world;
    const sizes = watchWrites(world.store);
    for (const status of ["down", "up"] as const)
      for (const one of [job, other]) await one.changeState(status);
    await world.later(0);
    expect([world.readCounts("monitor.down"), world.readCounts("monitor.up")]).toEqual([
      { channels: channels + 1, deliveries: channels + 1, alerts: 2 },
      { channels: channels + 1, deliveries: channels + 1, alerts: 2 },
    ]);
    const order = world.database
      .query("select a.type, a.monitor_id from alerts a order by a.rowid")
      .values();
    expect(order).toEqual(
      ["monitor.down", "monitor.up"].flatMap((type) => [job, other].map(({ id }) => [type, id])),
    );
    for (const size of sizes) expect(size).toBeLessThan(rowsAtOnce * 1.5);
  });
});

describe("a notice for more subscribers than fit into one write", () => {
  const many = 90;
  for (const dies of [null, 1, 2])
    test(`is sent to each of them once${dies === null ? "" : `, even if the machine stops before write ${dies}`}`, async () => {
      await using publisher = await createPublisher();
      const one = await publisher.added({ type: "webhook", url: "http://bot.lan/0" });
      const copy = publisher.database.query(
        `insert into subscribers (organization_id, id, page_id, type, address, address_key, secrets,
           confirmed_at, heard_from, asked, version, created_at)
         select organization_id, ?1, page_id, type, ?2, ?2, secrets, confirmed_at, heard_from, asked,
           version, created_at from subscribers where id = ?3`,
      );
      for (let number = 1; number < many; number++)
        copy.run(
          `subscriber-${String(number).padStart(5, "0")}`,
          `http://bot.lan/${number}`,
          one.id,
        );
      publisher.time.now += 1;
      const readCounts = () =>
        publisher.database
          .query<{ all: number; receivers: number; notices: number }, []>(
            `select count(*) as "all", count(distinct receiver_id) as receivers,
               (select count(*) from notices) as notices from deliveries`,
          )
          .get() as { all: number; receivers: number; notices: number };
      const grown: number[] = [];
      const atomic = publisher.store.atomic.bind(publisher.store);
      let failed = false;
      publisher.store.atomic = async (statements) => {
        if (!failed && grown.length === dies) {
          failed = true;
          throw new Error("The power failed.");
        }
        const before = readCounts().all;
        await atomic(statements);
        grown.push(readCounts().all - before);
      };
      const { appliance } = publisher;
      await publisher.createIncident();
      grown.length = 0;
      for (let turn = 0; turn < 2; turn++)
        await new SubscriberFanOut({ ...appliance, rowsAtOnce }).runOnce().catch(() => {});
      expect(failed).toBe(dies !== null);
      expect(readCounts()).toEqual({ all: many, receivers: many, notices: 1 });
      expect(Math.max(...grown)).toBe(rowsAtOnce);
    });
});
