import { expect, test } from "bun:test";
import { type Lease, soleNode } from "../../../src/cluster/leases.ts";
import { readSince } from "../../../src/events/log.ts";
import {
  readAllWatched,
  buildTarget,
  WatchedMonitors,
} from "../../../src/monitoring/checks/engine/watched-monitors.ts";
import { createWatch } from "../../support/check-board.ts";

test("monitors that another node checked keep their schedule, even if an event arrives while they are loaded", async () => {
  const watch = await createWatch();
  const { advance, createSite, changeMonitor, store, appliance } = watch;
  await using shop = await createSite();
  await advance(1);
  await using unchecked = await createSite();
  await watch.group();
  const begun: [string, string][] = [];
  const monitors = new WatchedMonitors(appliance, {
    begin: ({ id }, firstCheck) => void begun.push([id, firstCheck]),
    end: () => {},
  });
  let cursor = 0;
  const takeEvents = async () => {
    const events = await readSince(store, cursor, 1_000);
    cursor = events.at(-1)?.seq ?? cursor;
    begun.length = 0;
    await monitors.handleEvents(events);
    return new Map(begun);
  };
  expect(await takeEvents()).toEqual(
    new Map([
      [shop.id, "spread"],
      [unchecked.id, "now"],
    ]),
  );
  await monitors.load();
  await changeMonitor(shop.id, { paused: true });
  expect(await takeEvents()).toEqual(new Map());
  await changeMonitor(shop.id, { paused: false });
  expect(await takeEvents()).toEqual(new Map([[shop.id, "now"]]));
});

test("monitors that are created or changed during loading are checked immediately", async () => {
  const { advance, createSite, changeMonitor, store, appliance } = await createWatch();
  await using shop = await createSite();
  await using quiet = await createSite();
  await advance(1);
  const begun: [string, string][] = [];
  const monitors = new WatchedMonitors(appliance, {
    begin: ({ id }, firstCheck) => void begun.push([id, firstCheck]),
    end: () => {},
  });
  const loading = monitors.load();
  await changeMonitor(shop.id, { timeout: 3 });
  await using added = await createSite();
  const cursor = await loading;
  const read = new Map(begun);
  expect([read.get(shop.id), read.get(quiet.id)]).toEqual(["spread", "spread"]);
  begun.length = 0;
  await monitors.handleEvents(await readSince(store, cursor, 1_000));
  expect(new Map(begun)).toEqual(
    new Map([
      [shop.id, "now"],
      [added.id, "now"],
    ]),
  );
});

test("after leases were lost and regained, events wait for pending results, and no slot is checked twice", async () => {
  const watch = await createWatch();
  const { advance, createSite, changeMonitor, store, appliance } = watch;
  await using shop = await createSite();
  await advance(1);
  const lease: Lease = { name: "shard", epoch: 1, owner: "node" };
  let held: Lease | null = lease;
  const listAll = () => (held === null ? [] : [held]);
  let following = Promise.resolve();
  const begun: [string, string][] = [];
  const monitors = new WatchedMonitors(
    { ...appliance, leases: { ...soleNode, listOwn: listAll, findByRecord: () => held } },
    {
      begin: ({ id }, firstCheck) => void begun.push([id, firstCheck]),
      end: () => {},
      followed: () => following,
    },
  );
  const cursor = await monitors.load();
  held = null;
  monitors.leave();
  held = lease;
  begun.length = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  following = promise;
  await changeMonitor(shop.id, { name: "Web shop" });
  const taken = monitors.handleEvents(await readSince(store, cursor, 1_000));
  await new Promise((done) => setImmediate(done));
  expect(begun).toEqual([]);
  resolve();
  await taken;
  expect(begun).toEqual([[shop.id, "spread"]]);
});

test("monitors that differ only in their target share all other settings, but no secrets", async () => {
  const { createSite, appliance } = await createWatch();
  await using one = await createSite();
  await using other = await createSite();
  await using secret = await createSite({ headers: { "X-Key": "first" } });
  await using otherSecret = await createSite({ headers: { "X-Key": "second" } });
  const [found = []] = await Array.fromAsync(readAllWatched(appliance));
  const settingsOf = ({ id }: { id: string }) =>
    found.find((monitor) => monitor.id === id)?.settings;
  expect(settingsOf(one)).toBe(settingsOf(other)!);
  expect(settingsOf(secret)).toMatchObject({ headers: { "X-Key": "first" } });
  expect(settingsOf(otherSecret)).toMatchObject({ headers: { "X-Key": "second" } });
  expect(settingsOf(one)).toMatchObject({ headers: {} });
  const requests = found.map((monitor) => buildTarget(monitor)?.settings);
  expect(new Set(requests.map((settings) => (settings as { url: string }).url)).size).toBe(4);
});
