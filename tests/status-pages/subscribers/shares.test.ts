import { describe, expect, test } from "bun:test";
import { createPublisher } from "../../support/publisher.ts";
import { replyWith, hang, startTarget } from "../../support/target.ts";
import { isOnRqlite } from "../../support/engines.ts";

/** A page of ours with `count` webhooks at a silent receiver, and one of theirs that responds. */
async function many(count: number) {
  const made = await createPublisher();
  const { theirs } = made;
  const silent = await startTarget(hang);
  const well = await startTarget(replyWith());
  for (let number = 0; number < count; number++)
    await made.added({ type: "webhook", url: silent.at(`/${number}`) });
  const [page] = (await theirs.api("GET", "/api/v1/status-pages")).json.data;
  const subscribe = async (path: string) => {
    const body = { type: "webhook", url: well.at(path) };
    const at = `/api/v1/status-pages/${page.id}/subscribers`;
    expect((await theirs.api("POST", at, { body })).status).toBe(201);
  };
  return {
    ...made,
    silent,
    well,
    subscribe,
    open: () => theirs.api("POST", "/api/v1/incidents", { body: { title: "Theirs" } }),
    async [Symbol.asyncDispose]() {
      await silent[Symbol.asyncDispose]();
      await well[Symbol.asyncDispose]();
      await made[Symbol.asyncDispose]();
    },
  };
}

describe.concurrent("an organization with silent webhooks", () => {
  test("leaves room for another organization's notices, which arrive while all webhooks hang", async () => {
    await using made = await many(80);
    for (const path of ["/1", "/2", "/3"]) await made.subscribe(path);
    made.time.now += 1;
    await made.createIncident();
    await made.notices.runOnce();
    const sending = made.alerts.runOnce();
    await made.silent.waitUntilAsked(50);
    await made.open();
    await made.notices.runOnce();
    const theirs = made.alerts.runOnce();
    await made.well.waitUntilAsked(3);
    expect(made.silent.asked).toHaveLength(50);
    made.silent.setReply(replyWith());
    made.silent.release();
    await Promise.all([sending, theirs]);
    expect(made.silent.asked).toHaveLength(80);
  });

  // Writes to rqlite can overtake each other by a few receivers.
  test.skipIf(isOnRqlite)(
    "releases its slots after each delivery, regardless of other waiting deliveries",
    async () => {
      await using made = await many(60);
      made.time.now += 1;
      const { id } = await made.createIncident();
      for (const message of ["a", "b", "c"]) await made.postUpdate(id, { message });
      await made.notices.runOnce();
      const sending = made.alerts.runOnce();
      await made.silent.waitUntilAsked(50);
      const paths = () => made.silent.asked.map(({ path }) => path);
      made.silent.release();
      await made.silent.waitUntilAsked(100);
      expect(new Set(paths().slice(0, 60)).size).toBe(60);
      made.silent.setReply(replyWith());
      made.silent.release();
      await sending;
      expect(made.silent.asked).toHaveLength(240);
    },
  );
});

test("a notice of one organization waits for at most two writes, however many another has to send", async () => {
  await using made = await createPublisher();
  const { store, database, theirs, time } = made;
  const one = await made.added({ type: "webhook", url: "http://bot.lan/0" });
  const copy = database.query(
    `insert into subscribers (organization_id, id, page_id, type, address, address_key, secrets,
       confirmed_at, heard_from, asked, version, created_at)
     select organization_id, ?1, page_id, type, ?1, ?1, secrets, confirmed_at, heard_from, asked,
       version, created_at from subscribers where id = ?2`,
  );
  for (let number = 0; number < 10_000; number++) copy.run(`subscriber-${number}`, one.id);
  const [page] = (await theirs.api("GET", "/api/v1/status-pages")).json.data;
  const body = { type: "webhook", url: "http://bot.lan/theirs" };
  await theirs.api("POST", `/api/v1/status-pages/${page.id}/subscribers`, { body });
  time.now += 1;
  for (let number = 0; number < 3; number++) await made.createIncident({ title: `Ours ${number}` });
  await theirs.api("POST", "/api/v1/incidents", { body: { title: "Theirs" } });
  await made.createIncident({ title: "Ours again" });
  const counts = () =>
    database
      .query<{ ours: number; theirs: number }, [string]>(
        `select count(*) filter (where organization_id <> ?1) as ours,
           count(*) filter (where organization_id = ?1) as theirs from deliveries`,
      )
      .get(theirs.id);
  const writes: ReturnType<typeof counts>[] = [];
  const atomic = store.atomic.bind(store);
  store.atomic = async (statements) => {
    await atomic(statements);
    writes.push(counts());
  };
  await made.notices.runOnce();
  expect(writes.findIndex((one) => (one?.theirs ?? 0) > 0)).toBeLessThanOrEqual(1);
  expect(counts()).toEqual({ ours: 4 * 10_001, theirs: 1 });
  const order = database
    .query("select data ->> 'title' from notices where organization_id <> ? order by rowid")
    .values(theirs.id);
  expect(order).toEqual([["Ours 0"], ["Ours 1"], ["Ours 2"], ["Ours again"]]);
});
