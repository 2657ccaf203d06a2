import { describe, expect, test } from "bun:test";
import { formatTimestamp } from "../../../src/core/time/clock.ts";
import { AppError } from "../../../src/core/errors.ts";
import { type Result, ResultWriter } from "../../../src/monitoring/checks/engine/record.ts";
import type { MonitorState } from "../../../src/monitoring/checks/rules.ts";
import { readAllWatched } from "../../../src/monitoring/checks/engine/watched-monitors.ts";
import { compileStatement, type Store, findWrittenTable } from "../../../src/database/store.ts";
import { dumpTables } from "../../support/appliance.ts";
import { findErrorCode } from "../../support/error-code.ts";
import { type Watch, createWatch } from "../../support/check-board.ts";

type Status = "up" | "down";

/** A separate recorder for one push monitor, with results one second apart. */
async function startRecording(fields: object = {}) {
  const watch = await createWatch();
  const { id } = await watch.createJob({ autoIncidentSeverity: "major", ...fields });
  const [[monitor] = []] = await Array.fromAsync(readAllWatched(watch.appliance));
  if (monitor === undefined) throw new Error("The monitor is not watched.");
  let before: MonitorState = monitor.state;
  const createResult = (
    status: Status,
    message = `Reported ${status}.`,
    isEarly = false,
  ): Result => {
    const at = (watch.time.now += 1_000);
    const since = status === before.status ? before.since : formatTimestamp(at);
    const after = { status, since, failures: 0, successes: 0 };
    const heartbeat = { monitorKey: monitor.key, at, status, latencyMs: 5, seconds: 60, message };
    const notified = { reason: message, message, certificateExpiresAt: null, details: null };
    const checkedAt = formatTimestamp(at);
    const found = {
      monitor,
      heartbeat,
      isEarly,
      checkedAt,
      before,
      after,
      ...notified,
      screenshot: null,
    };
    before = after;
    return found;
  };
  return {
    ...watch,
    id,
    createResult,
    results: new ResultWriter(watch.appliance),
  };
}

/** Resolves when the result is stored. */
function add(results: ResultWriter, result: Result) {
  results.add(result);
  return results.waitUntilStored(result.monitor.key);
}

const readTypes = async ({ readStateChanges }: Pick<Watch, "readStateChanges">) =>
  (await readStateChanges()).map(({ type }) => type.replace("monitor.", ""));

async function readTimelines({ api }: Pick<Watch, "api">) {
  const { json } = await api("GET", "/api/v1/incidents");
  const all = json.data.map(async ({ id }: { id: string }) => {
    const { status, updates } = (await api("GET", `/api/v1/incidents/${id}`)).json.data;
    return [status, ...updates.map(({ message }: { message: string }) => message)];
  });
  return Promise.all(all);
}

const firstMessage = "Job is not responding. We are investigating.";

describe("one write", () => {
  test("can contain several changes of one monitor, each with its incidents", async () => {
    const world = await startRecording();
    const { createResult, results } = world;
    const story: Status[] = ["up", "down", "down", "up", "down", "up", "up", "down"];
    const stored = story.map((status) => add(results, createResult(status, `It is ${status}.`)));
    await results.flush();
    await Promise.all(stored);
    expect(await readTypes(world)).toEqual(["up", "down", "up", "down", "up", "down"]);
    expect(await readTimelines(world)).toEqual([
      ["investigating", firstMessage],
      ["resolved", firstMessage, "Job is responding again after 1 s."],
      ["resolved", firstMessage, "Job is responding again after 2 s."],
    ]);
    expect(await world.readBeats(world.id)).toHaveLength(story.length);
    expect(await world.readMonitor(world.id)).toMatchObject({ status: "down", uptime24h: 0.5 });
  });

  test("with an outage and a later unknown result keeps the reason of the outage", async () => {
    const { createResult, results, readMonitor, id } = await startRecording();
    results.add(createResult("down", "The disk is full."));
    const late = createResult(
      "down",
      "Not judged: Signalbox was briefly blocked and could not check.",
    );
    const stored = add(results, { ...late, message: null });
    await results.flush();
    await stored;
    expect(await readMonitor(id)).toMatchObject({
      status: "down",
      lastMessage: "The disk is full.",
    });
    await add(results, { ...createResult("down"), message: null });
    expect(await readMonitor(id)).toMatchObject({ lastMessage: "The disk is full." });
  });

  test("starts soon after a result", async () => {
    const { createResult, results, readBeats, id } = await startRecording();
    await add(results, createResult("up"));
    expect(await readBeats(id)).toHaveLength(1);
  });

  test("waits for the batch interval of the store, or for the first state change", async () => {
    const world = await startRecording();
    const { createResult, store } = world;
    const tables: (string | null)[][] = [];
    const atomic: Store["atomic"] = (statements) => {
      tables.push(
        statements.map((statement) => findWrittenTable(compileStatement(statement).text)),
      );
      return store.atomic(statements);
    };
    const gathering = { ...store, atomic, batchWindowMs: 2 ** 30 };
    const results = new ResultWriter({ ...world.appliance, store: gathering });
    await add(results, createResult("up"));
    const unchanged = [add(results, createResult("up")), add(results, createResult("up"))];
    await Promise.all([add(results, createResult("down")), ...unchanged]);
    expect(await world.readBeats(world.id)).toHaveLength(4);
    expect(tables).toHaveLength(2);
    // Cache entries that depend on other tables survive writes of results.
    expect(tables.flat()).not.toContain(null);
  });

  test("contains each result once, even if it is requested repeatedly", async () => {
    const { createResult, results, readBeats, id, database } = await startRecording();
    const stored = [add(results, createResult("up")), add(results, createResult("up"))];
    await Promise.all([results.flush(), results.flush(), ...stored, results.stop()]);
    expect(await readBeats(id)).toHaveLength(2);
    expect(database.query("SELECT sum(up_seconds) AS up FROM uptime_hours").get()).toEqual({
      up: 120,
    });
  });
});

describe("a database that can't be written", () => {
  /** Simulates a full disk: reads succeed, every write fails. */
  const setReadOnly = ({ database }: Watch, on: boolean) =>
    database.run(`PRAGMA query_only = ${on ? "ON" : "OFF"}`);

  test("loses no result: waiting callers get an error, and all results are written in order later", async () => {
    const world = await startRecording();
    const { createResult, results, logged } = world;
    const before = dumpTables(world);
    setReadOnly(world, true);
    const refused: unknown[] = [];
    for (const status of ["down", "up", "down"] as const) {
      const stored = add(results, createResult(status));
      const refusing = findErrorCode(stored).then((code) => refused.push(code));
      expect(await results.flush()).toBe(false);
      await refusing;
    }
    expect(refused).toEqual(["UNAVAILABLE", "UNAVAILABLE", "UNAVAILABLE"]);
    expect(logged.join("\n")).toContain("they stay in memory and are tried again");
    expect(dumpTables(world)).toBe(before);
    setReadOnly(world, false);
    const last = add(results, createResult("up"));
    expect(await results.flush()).toBe(true);
    await last;
    expect(await readTypes(world)).toEqual(["down", "up", "down", "up"]);
    expect(await readTimelines(world)).toEqual([
      ["resolved", firstMessage, "Job is responding again after 1 s."],
      ["resolved", firstMessage, "Job is responding again after 1 s."],
    ]);
    expect(await world.readBeats(world.id)).toHaveLength(4);
    expect(await world.readMonitor(world.id)).toMatchObject({ status: "up", uptime24h: 0.5 });
  });

  test("may have stored a write that failed: its retry has no second effect", async () => {
    const world = await startRecording();
    const { createResult, store, database } = world;
    const lost = new AppError("UNAVAILABLE", "Nobody knows.");
    let isLost = true;
    const atomic: Store["atomic"] = async (statements) => {
      await store.atomic(statements);
      if (isLost) throw lost;
    };
    const results = new ResultWriter({ ...world.appliance, store: { ...store, atomic } });
    for (const status of ["up", "down", "down", "up"] as const) {
      const stored = add(results, createResult(status, undefined, true));
      await Promise.all([results.flush(), findErrorCode(stored)]);
    }
    isLost = false;
    const last = add(results, createResult("down"));
    await Promise.all([results.flush(), last]);
    expect(await readTypes(world)).toEqual(["up", "down", "up", "down"]);
    expect(await readTimelines(world)).toEqual([
      ["investigating", firstMessage],
      ["resolved", firstMessage, "Job is responding again after 2 s."],
    ]);
    expect(await world.readBeats(world.id)).toHaveLength(5);
    const [sums] = database
      .query("select sum(up_seconds), sum(down_seconds) from uptime_hours")
      .values();
    // Each result was early and shortened the previous one to a second.
    expect(sums).toEqual([61, 62]);
  });

  test("is retried automatically", async () => {
    const world = await startRecording();
    const { createResult, results, store, readBeats, id } = world;
    setReadOnly(world, true);
    expect(await findErrorCode(add(results, createResult("up")))).toBe("UNAVAILABLE");
    setReadOnly(world, false);
    await new Promise<void>((resolve) => store.onCommit(resolve));
    expect(await readBeats(id)).toHaveLength(1);
  });

  test("does not prevent the recorder from stopping", async () => {
    const world = await startRecording();
    const { createResult, results } = world;
    setReadOnly(world, true);
    const refused = findErrorCode(add(results, createResult("up")));
    await results.stop();
    expect(await refused).toBe("UNAVAILABLE");
  });
});

describe("a pause", () => {
  test("discards earlier results: no state, no event, no incident", async () => {
    const world = await startRecording();
    const { createResult, results, changeMonitor, readMonitor, id } = world;
    const stored = add(results, createResult("down"));
    await changeMonitor(id, { paused: true });
    await changeMonitor(id, { paused: false });
    await Promise.all([results.flush(), stored]);
    expect(await readTypes(world)).toEqual([]);
    expect(await readTimelines(world)).toEqual([]);
    expect(await readMonitor(id)).toMatchObject({ status: "pending", lastCheckedAt: null });
  });

  test("between the read and the write of a batch discards it, too", async () => {
    const world = await startRecording();
    const { createResult, store, changeMonitor, readMonitor, id } = world;
    let paused: Promise<unknown> | null = null;
    const query: Store["query"] = async (text, parameters) => {
      const rows = await store.query<never>(text, parameters);
      await (paused ??= changeMonitor(id, { paused: true }));
      return rows;
    };
    const results = new ResultWriter({ ...world.appliance, store: { ...store, query } });
    await Promise.all([add(results, createResult("down")), results.flush()]);
    expect(paused).not.toBeNull();
    expect(await readTypes(world)).toEqual([]);
    expect(await readTimelines(world)).toEqual([]);
    await changeMonitor(id, { paused: false });
    expect(await readMonitor(id)).toMatchObject({ status: "pending", lastCheckedAt: null });
  });
});

test("the result of a deleted monitor does not delay other results", async () => {
  const world = await startRecording();
  const other = await world.createJob({ name: "Other" });
  const [[, monitor] = []] = await Array.fromAsync(readAllWatched(world.appliance));
  if (monitor === undefined) throw new Error("The other monitor is not watched.");
  const { createResult, results, api, id } = world;
  const gone = createResult("down");
  const stored = [add(results, gone), add(results, { ...gone, monitor })];
  await api("DELETE", `/api/v1/monitors/${id}`);
  await Promise.all([results.flush(), ...stored]);
  expect((await world.readStateChanges()).map(({ subjectId }) => subjectId)).toEqual([other.id]);
});
