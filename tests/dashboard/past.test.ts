import { expect, test } from "bun:test";
import { hourMs } from "../../src/core/time/clock.ts";
import { expandOverview } from "../../src/dashboard/rules.ts";
import { createWatch } from "../support/check-board.ts";
import { signInMember } from "../support/people.ts";

/** A dashboard that shows the Monitors page of past times. */
async function createPast() {
  const watch = await createWatch();
  const { page } = await signInMember(watch, "viewer");
  const read = (at: number, filters: Record<string, string> = {}) => {
    const query = new URLSearchParams({ at: new Date(at).toISOString(), ...filters });
    return page("GET", `/dashboard/overview?${query.toString()}`);
  };
  const readStates = async (at: number, filters?: Record<string, string>) =>
    expandOverview((await read(at, filters)).json.data).monitors.map(
      ({ name, status, statusSince, lastMessage }) => ({ name, status, statusSince, lastMessage }),
    );
  return { ...watch, read, readStates };
}

const formatTime = (at: number) => new Date(at).toISOString();

test("the Monitors page of a past time has the states, reasons and starts of that time", async () => {
  const { createSite, engine, time, advance, readStates, readMonitor, api } = await createPast();
  await using shop = await createSite({ interval: 60 });
  await engine.runOnce();
  const up = time.now;
  await advance(60);
  shop.failNow();
  await advance(60);
  const { statusSince, lastMessage } = await readMonitor(shop.id);
  const down = time.now;
  shop.recoverNow();
  await advance(60);
  await api("PATCH", `/api/v1/monitors/${shop.id}`, { body: { paused: true } });
  const paused = time.now;
  time.now += hourMs;
  await api("PATCH", `/api/v1/monitors/${shop.id}`, { body: { name: "Store", paused: false } });
  expect(await readStates(up)).toMatchObject([{ name: "Store", status: "up", lastMessage: null }]);
  expect(await readStates(down)).toMatchObject([{ status: "down", statusSince, lastMessage }]);
  expect(await readStates(paused)).toMatchObject([{ status: "paused" }]);
  expect(await readStates(time.now)).toMatchObject([{ status: "pending" }]);
  expect(await readStates(down, { status: "up" })).toEqual([]);
  expect(await readStates(down, { status: "down", q: "sto" })).toHaveLength(1);
});

test("a monitor is left out before its creation", async () => {
  const { monitor, time, readStates } = await createPast();
  const before = time.now;
  time.now += hourMs;
  await monitor({ name: "New" });
  expect(await readStates(before)).toEqual([]);
  expect(await readStates(time.now)).toMatchObject([{ name: "New", status: "pending" }]);
});

test("a state whose start left the log is still known from its end, or from the record", async () => {
  const { createSite, engine, time, advance, readStates, store } = await createPast();
  await using shop = await createSite({ interval: 60 });
  await engine.runOnce();
  const up = time.now;
  await advance(120);
  const removeLog = () => store.atomic([{ text: "delete from events", parameters: [] }]);
  await removeLog();
  expect(await readStates(up)).toMatchObject([{ status: "up", statusSince: formatTime(up) }]);
  shop.failNow();
  await advance(60);
  expect(await readStates(up)).toMatchObject([{ status: "up", statusSince: formatTime(up) }]);
  await removeLog();
  expect(await readStates(up)).toMatchObject([{ status: "unknown" }]);
});

test("the days and figures of a past time end with its last complete hour", async () => {
  const { monitor, database, time, read } = await createPast();
  await monitor();
  const hour = Math.floor(time.now / hourMs);
  const add = database.query(
    "INSERT INTO uptime_hours VALUES (?, 1, ?, 0, ?, 0, 0, 0, 0, NULL, NULL, NULL)",
  );
  add.run(hour - 1, 3600, 0);
  add.run(hour, 0, 1800);
  const { monitors } = expandOverview((await read(time.now)).json.data);
  expect(monitors).toMatchObject([{ uptime24h: 1, day: `${"-".repeat(23)}u` }]);
});

test("a time in the future is rejected by name", async () => {
  const { time, read } = await createPast();
  const { status, json } = await read(time.now + 1);
  expect([status, json.error.details]).toEqual([
    422,
    [{ path: "at", message: "must be a time in the past" }],
  ]);
});

test("the incidents that were open at a past time have the severity and status of that time", async () => {
  const { api, theirs, time, read } = await createPast();
  const body = { title: "Checkout fails", severity: "minor" };
  const { id } = (await api("POST", "/api/v1/incidents", { body })).json.data;
  await theirs.api("POST", "/api/v1/incidents", { body: { ...body, title: "Foreign" } });
  const opened = time.now;
  time.now += hourMs;
  const patch = (fields: object) => api("PATCH", `/api/v1/incidents/${id}`, { body: fields });
  await patch({ severity: "critical", status: "identified" });
  const identified = time.now;
  time.now += hourMs;
  await patch({ status: "resolved" });
  const readOpen = async (at: number) => (await read(at)).json.data.openIncidents;
  expect(await readOpen(opened - 1)).toEqual([]);
  expect(await readOpen(opened)).toMatchObject([
    { id, severity: "minor", status: "investigating" },
  ]);
  expect(await readOpen(identified)).toMatchObject([
    { id, severity: "critical", status: "identified", resolvedAt: null },
  ]);
  expect(await readOpen(time.now)).toEqual([]);
});
