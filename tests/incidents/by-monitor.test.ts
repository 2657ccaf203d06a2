import { describe, expect, test } from "bun:test";
import { signInMember } from "../support/people.ts";
import { createWatch } from "../support/check-board.ts";

/** A push monitor whose first failure opens an incident, and its history. */
async function setUpStory(fields: object = {}) {
  const watch = await createWatch();
  const { api, time } = watch;
  const job = await watch.createJob({ autoIncidentSeverity: "critical", ...fields });
  const readIncidents = async () => {
    const { json } = await api("GET", "/api/v1/incidents");
    const ids = json.data.map(({ id }: { id: string }) => id).toReversed();
    const all = ids.map(async (id: string) => (await api("GET", `/api/v1/incidents/${id}`)).json);
    return (await Promise.all(all)).map(({ data }) => data);
  };
  return {
    ...watch,
    report: job.report,
    id: job.id,
    /** Reports a minute later. */
    goes: async (status: "up" | "down" | "slow", msg?: string) => {
      time.now += 60_000;
      const query = status === "slow" ? { latency_ms: "900" } : { status };
      const response = await job.report({ ...query, ...(msg !== undefined && { msg }) });
      expect(response.status).toBe(200);
    },
    /** Oldest first. */
    readIncidents,
    messages: async () =>
      (await readIncidents()).map(({ updates }) =>
        updates.map(({ message }: { message: string }) => message),
      ),
    edit: async (id: string, body: object) => {
      const { status } = await api("PATCH", `/api/v1/incidents/${id}`, { body });
      expect(status).toBe(200);
    },
  };
}

const firstMessage = "Job is not responding. We are investigating.";

/** A scenario with an open incident. */
async function createOutage(fields: object = {}) {
  const world = await setUpStory(fields);
  await world.goes("up");
  await world.goes("down", "Disk full.");
  const [incident] = await world.readIncidents();
  return { ...world, incident };
}

test("all that shows the title of an incident tells who opened it, so that it can be translated", async () => {
  const world = await createOutage();
  const { api, id, incident, time } = world;
  const { page } = await signInMember(world, "owner");
  const read = async (path: string) => (await page("GET", `/dashboard/${path}`)).json.data;
  time.now += 60_000;
  const own = { title: incident.title, origin: "monitor" };
  const from = new Date(time.now - 3_600_000).toISOString();
  const span = `from=${from}&to=${new Date(time.now).toISOString()}&step=60`;
  expect((await read(`monitors/${id}/timeline?${span}`)).incidents).toMatchObject([own]);
  expect((await read("attention"))[0].incident).toMatchObject(own);
  expect((await api("GET", "/api/v1/reports?month=2026-11")).json.data.incidents).toMatchObject([
    own,
  ]);
  const path = `/api/v1/incidents/${incident.id}`;
  const held = await api("PATCH", `${path}?hold=10`, {
    body: { status: "resolved", message: "Ok." },
  });
  expect(held.json.data).toMatchObject(own);
  const readOrigins = async () =>
    (await read("audit-log")).map((entry: Record<string, unknown>) => [
      entry["action"],
      entry["subjectOrigin"],
    ]);
  expect(await readOrigins()).toContainEqual(["incident.opened", "monitor"]);
  await world.edit(incident.id, { status: "resolved", message: "Fixed." });
  expect((await api("DELETE", path)).status).toBe(200);
  expect((await api("GET", "/api/v1/deleted-records")).json.data).toMatchObject([
    { name: incident.title, origin: "monitor" },
  ]);
  expect(await readOrigins()).toContainEqual(["incident.deleted", "monitor"]);
  expect(await readOrigins()).toContainEqual(["monitor.created", null]);
});

describe("an outage", () => {
  test("opens an incident with the monitor's severity and name, a text for customers and a note with the reason", async () => {
    const { incident, id, time } = await createOutage();
    expect(incident).toMatchObject({
      title: "Job is down",
      status: "investigating",
      severity: "critical",
      monitorId: id,
      origin: "monitor",
      public: true,
      resolvedAt: null,
      createdAt: new Date(time.now).toISOString(),
    });
    // The text is for customers; the reason is in a note, without the job's own message.
    expect(incident.updates).toMatchObject([{ status: "investigating", message: firstMessage }]);
    expect(incident.notes).toEqual([
      {
        id: expect.any(String),
        message: "Reported down.",
        createdAt: incident.createdAt,
        author: { type: "monitor", id, name: "Job" },
      },
    ]);
  });

  test("opens it once for any number of failed checks, and resolves it with its duration", async () => {
    const { goes, readIncidents, time } = await createOutage();
    for (let minute = 0; minute < 4; minute++) await goes("down");
    await goes("up");
    const [incident, ...others] = await readIncidents();
    expect(others).toEqual([]);
    const at = new Date(time.now).toISOString();
    expect(incident).toMatchObject({ status: "resolved", resolvedAt: at });
    expect(incident.updates).toMatchObject([
      { message: firstMessage },
      { status: "resolved", message: "Job is responding again after 5 min.", createdAt: at },
    ]);
  });

  test("has the same duration as its recovery alert", async () => {
    const { report, readIncidents, time, id, api } = await createOutage();
    const { json: monitor } = await api("GET", `/api/v1/monitors/${id}`);
    time.now = Date.parse(monitor.data.statusSince) + 9_928;
    await report({ status: "up" });
    const [incident] = await readIncidents();
    expect(incident.updates[1].message).toBe("Job is responding again after 10 s.");
  });

  test("that becomes degraded leaves it open with an update, until the recovery", async () => {
    const { goes, readIncidents, messages } = await createOutage({ degradedAfterMs: 500 });
    await goes("slow");
    expect(await readIncidents()).toMatchObject([{ status: "investigating" }]);
    await goes("down", "Disk full, too.");
    await goes("slow");
    await goes("up");
    expect(await readIncidents()).toMatchObject([{ status: "resolved" }]);
    const slow = "Job is responding again, but not as well as usual. We are investigating.";
    const [timeline] = await messages();
    expect(timeline.slice(0, 4)).toEqual([
      firstMessage,
      slow,
      "Job is not responding again. We are investigating.",
      slow,
    ]);
    const why = "Answered in 900 ms, more than 500 ms.";
    const [{ notes }] = await readIncidents();
    expect(notes.map(({ message }: { message: string }) => message)).toEqual([
      "Reported down.",
      why,
      "Reported down.",
      why,
    ]);
  });

  test("of eleven minutes is not reported as one minute because the last one was degraded", async () => {
    const { goes, messages } = await createOutage({ degradedAfterMs: 500 });
    for (let minute = 0; minute < 9; minute++) await goes("down");
    await goes("slow");
    await goes("up");
    expect((await messages())[0].at(-1)).not.toContain("after 1 min");
  });

  test("opens none for a monitor without the setting, nor for a degraded state", async () => {
    const { goes, readIncidents } = await setUpStory({
      autoIncidentSeverity: null,
      degradedAfterMs: 500,
    });
    for (const status of ["down", "up", "slow", "down", "up"] as const) await goes(status);
    expect(await readIncidents()).toEqual([]);
    const degraded = await setUpStory({ degradedAfterMs: 500 });
    for (const status of ["up", "slow", "up"] as const) await degraded.goes(status);
    expect(await degraded.readIncidents()).toEqual([]);
  });

  test("leaves an audit row and an event in the monitor's name for each step", async () => {
    const { goes, database, id, incident } = await createOutage({ degradedAfterMs: 500 });
    await goes("slow");
    await goes("up");
    const steps = ["incident.opened", "incident.updated", "incident.resolved"];
    const rows = database.query(
      `SELECT action, actor_type AS type, actor_id AS actor, actor_name AS name, subject_id AS subject
       FROM audit_entries WHERE action LIKE 'incident.%' ORDER BY seq`,
    );
    expect(rows.all()).toEqual(
      steps.map((action) => ({
        action,
        type: "monitor",
        actor: id,
        name: "Job",
        subject: incident.id,
      })),
    );
    const events = database.query("SELECT type FROM events WHERE subject_id = ? ORDER BY seq");
    expect(events.values(incident.id).flat()).toEqual(steps);
  });

  test("opens a new incident each time", async () => {
    const { goes, messages } = await createOutage();
    for (const status of ["up", "down", "up"] as const) await goes(status);
    expect(await messages()).toEqual([
      [firstMessage, "Job is responding again after 1 min."],
      [firstMessage, "Job is responding again after 1 min."],
    ]);
  });

  test("joins an open public incident that names it with internal notes, instead of opening a second one", async () => {
    const { api, id, goes, readIncidents } = await setUpStory();
    await goes("up");
    const body = { title: "Checkout fails", monitorIds: [id] };
    const { json } = await api("POST", "/api/v1/incidents", { body });
    await goes("down");
    await goes("up");
    const [incident, ...others] = await readIncidents();
    expect(others).toEqual([]);
    expect(incident).toMatchObject({
      id: json.data.id,
      status: "investigating",
      severity: "minor",
    });
    expect(incident.updates).toHaveLength(1);
    expect(incident.updatedAt).toBe(json.data.updatedAt);
    expect(incident.notes.map(({ message }: { message: string }) => message)).toEqual([
      "Job is down. Reported down.",
      "Job is responding again after 1 min.",
    ]);
    expect(incident.notes[0].author).toEqual({ type: "monitor", id, name: "Job" });
  });

  test("opens its own if the incident that names it is private or resolved, or none names it", async () => {
    const { api, id, goes, readIncidents } = await setUpStory();
    await goes("up");
    for (const fields of [{ public: false }, {}, { monitorIds: [] }]) {
      const body = { title: "By a person", monitorIds: [id], ...fields };
      const { json } = await api("POST", "/api/v1/incidents", { body });
      if (Object.keys(fields).length === 0)
        await api("POST", `/api/v1/incidents/${json.data.id}/resolve`);
    }
    await goes("down");
    expect((await readIncidents()).at(-1)).toMatchObject({
      origin: "monitor",
      status: "investigating",
    });
  });

  test("uses the current severity setting, and does not touch people's private incidents", async () => {
    const { api, id, goes, readIncidents, changeMonitor, engine } = await createOutage();
    await goes("up");
    const body = { title: "Slow since Monday", monitorId: id, public: false };
    await api("POST", "/api/v1/incidents", { body });
    await changeMonitor(id, { autoIncidentSeverity: "minor" });
    await engine.runOnce();
    await goes("down");
    await goes("up");
    expect(
      (await readIncidents()).map(({ origin, severity, status }) => [origin, severity, status]),
    ).toEqual([
      ["monitor", "critical", "resolved"],
      ["manual", "minor", "investigating"],
      ["monitor", "minor", "resolved"],
    ]);
  });
});

describe("changes by people", () => {
  test("resolved by hand, it is not opened again by the same outage, and its timeline stays closed", async () => {
    const { goes, edit, incident, readIncidents } = await createOutage({ degradedAfterMs: 500 });
    await edit(incident.id, { status: "resolved", message: "Bought a disk." });
    const [before] = await readIncidents();
    for (const status of ["down", "down", "slow", "up"] as const) await goes(status);
    expect(await readIncidents()).toEqual([before]);
    await goes("down");
    expect(await readIncidents()).toHaveLength(2);
  });

  test("title, severity, status and texts stay; only the resolution is added", async () => {
    const { goes, edit, incident, readIncidents, messages } = await createOutage();
    const edits = { title: "Backups fail", severity: "minor", public: false };
    await edit(incident.id, { ...edits, status: "identified", message: "The disk is full." });
    await goes("down");
    expect(await readIncidents()).toMatchObject([{ ...edits, status: "identified" }]);
    await goes("up");
    expect(await readIncidents()).toMatchObject([{ ...edits, status: "resolved" }]);
    expect(await messages()).toEqual([
      [firstMessage, "The disk is full.", "Job is responding again after 2 min."],
    ]);
  });

  test("deleted, it is not replaced in the same outage, only by the next", async () => {
    const { api, goes, incident, messages } = await createOutage();
    await api("DELETE", `/api/v1/incidents/${incident.id}`);
    await goes("down");
    await goes("up");
    expect(await messages()).toEqual([]);
    await goes("down", "Again.");
    expect(await messages()).toEqual([[firstMessage]]);
  });

  test("reopened after the outage, it is resolved by the next recovery, without a second incident", async () => {
    const { goes, edit, incident, messages } = await createOutage();
    await goes("up");
    await edit(incident.id, { status: "monitoring", message: "Not quite." });
    await goes("down", "Told you.");
    await goes("up");
    expect(await messages()).toEqual([
      [
        firstMessage,
        "Job is responding again after 1 min.",
        "Not quite.",
        "Job is not responding again. We are investigating.",
        "Job is responding again after 1 min.",
      ],
    ]);
  });

  test("more monitors can be added, but it stays with the one that opened it", async () => {
    const { api, id, goes, createJob, incident, readIncidents } = await createOutage();
    const other = await createJob({ name: "Other" });
    const path = `/api/v1/incidents/${incident.id}`;
    const { status, json } = await api("PATCH", path, { body: { monitorIds: [other.id, id] } });
    expect([status, json.error.details]).toEqual([
      422,
      [{ path: "monitorIds", message: "must begin with the monitor that opened the incident" }],
    ]);
    await api("PATCH", path, { body: { monitorIds: [id, other.id] } });
    await other.report({ status: "down" });
    await other.report();
    expect(await readIncidents()).toMatchObject([{ status: "investigating" }]);
    await goes("up");
    const resolved = { status: "resolved", monitorIds: [id, other.id] };
    expect(await readIncidents()).toMatchObject([resolved]);
    await api("DELETE", `/api/v1/monitors/${id}`);
    expect(await readIncidents()).toMatchObject([{ monitorId: other.id, monitorIds: [other.id] }]);
  });

  test("a pause leaves it open; the first success after it resolves it", async () => {
    const { goes, changeMonitor, engine, id, readIncidents, messages } = await createOutage();
    await changeMonitor(id, { paused: true });
    await goes("up");
    expect(await readIncidents()).toMatchObject([{ status: "investigating" }]);
    await changeMonitor(id, { paused: false });
    await engine.runOnce();
    await goes("up");
    expect(await readIncidents()).toMatchObject([{ status: "resolved" }]);
    expect(await messages()).toEqual([[firstMessage, "Job is responding again."]]);
  });

  test("edits that race with the monitor's updates survive, without a second incident", async () => {
    const { goes, edit, incident, readIncidents, messages } = await createOutage({
      degradedAfterMs: 500,
    });
    const words = Array.from({ length: 30 }, (_, index) => `Word ${index}`);
    const send = async (from: number) => {
      for (const message of words.slice(from, from + 10)) await edit(incident.id, { message });
    };
    const changeStates = async () => {
      for (const status of ["slow", "down", "slow", "down", "slow", "down"] as const)
        await goes(status);
    };
    await Promise.all([send(0), send(10), send(20), changeStates()]);
    const [timeline] = await messages();
    expect(timeline.filter((text: string) => text.startsWith("Word")).toSorted()).toEqual(
      words.toSorted(),
    );
    expect(timeline).toHaveLength(1 + words.length + 6);
    expect(await readIncidents()).toHaveLength(1);
  });

  test("resolved by hand and by the monitor in one moment, it is resolved once by each", async () => {
    const { goes, edit, incident, readIncidents } = await createOutage();
    await Promise.all([goes("up"), edit(incident.id, { status: "resolved" })]);
    const [after, ...others] = await readIncidents();
    expect(others).toEqual([]);
    expect(after.status).toBe("resolved");
    expect(after.updates.length).toBeLessThanOrEqual(3);
    expect(after.updates.at(-1).status).toBe("resolved");
  });
});

describe("a monitor that is deleted", () => {
  test("has its incident resolved in the same write, in the name of the deleting person", async () => {
    const { api, id, engine, incident, readIncidents, time, database } = await createOutage();
    time.now += 60_000;
    expect((await api("DELETE", `/api/v1/monitors/${id}`)).status).toBe(200);
    await engine.runOnce();
    const at = new Date(time.now).toISOString();
    const resolved = { status: "resolved", resolvedAt: at, updatedAt: at, monitorId: null };
    expect(await readIncidents()).toMatchObject([{ ...resolved, origin: "monitor" }]);
    expect((await readIncidents())[0].updates.slice(1)).toMatchObject([
      { status: "resolved", message: "Job is no longer monitored.", createdAt: at },
    ]);
    const traces = database.query(
      `SELECT action, actor_type, subject_id FROM audit_entries WHERE request_id =
         (SELECT request_id FROM audit_entries WHERE action = 'monitor.deleted') ORDER BY seq`,
    );
    expect(traces.values()).toEqual([
      ["monitor.deleted", "api-key", id],
      ["incident.resolved", "api-key", incident.id],
    ]);
    expect(
      database
        .query("SELECT type FROM events WHERE type <> 'monitor.paused' ORDER BY seq DESC LIMIT 2")
        .values(),
    ).toEqual([["monitor.deleted"], ["incident.resolved"]]);
  });

  test("leaves people's incidents and resolved ones unchanged", async () => {
    const { api, id, goes, readIncidents, edit, incident } = await createOutage();
    await edit(incident.id, { status: "resolved", message: "Bought a disk." });
    const body = { title: "Slow since Monday", monitorId: id };
    await api("POST", "/api/v1/incidents", { body });
    await goes("up");
    const before = await readIncidents();
    await api("DELETE", `/api/v1/monitors/${id}`);
    expect(await readIncidents()).toEqual(
      before.map((one) => ({
        ...one,
        monitorId: null,
        monitorIds: [],
        updatedAt: expect.any(String),
      })),
    );
  });

  test("in bulk resolves the incident of each; a deleted group resolves nothing", async () => {
    const world = await createOutage();
    const { api, time, readIncidents } = world;
    const other = await world.createJob({ name: "Other", autoIncidentSeverity: "minor" });
    const stored = await world.createJob({ name: "Kept", autoIncidentSeverity: "minor" });
    const group = await world.group({ name: "Jobs", monitorIds: [world.id, other.id, stored.id] });
    for (const { report } of [other, stored]) await report({ status: "down" });
    expect((await api("DELETE", `/api/v1/monitor-groups/${group.id}`)).status).toBe(200);
    const readStates = async () => (await readIncidents()).map(({ status }) => status);
    expect(await readStates()).toEqual(["investigating", "investigating", "investigating"]);
    time.now += 1_000;
    const { page } = await signInMember(world, "member");
    const { status } = await page("POST", "/dashboard/api/v1/monitors/bulk", {
      body: { monitorIds: [world.id, other.id], delete: true },
    });
    expect(status).toBe(200);
    expect((await world.messages()).map((timeline) => timeline.at(-1))).toEqual([
      "Job is no longer monitored.",
      "Other is no longer monitored.",
      "Kept is not responding. We are investigating.",
    ]);
    expect(await readStates()).toEqual(["resolved", "resolved", "investigating"]);
  });

  test("during a state change or a post leaves no incident open and loses no text", async () => {
    for (let round = 0; round < 5; round++) {
      const { api, report, id, incident, edit, readIncidents, messages } = await createOutage();
      const [deleted] = await Promise.all([
        api("DELETE", `/api/v1/monitors/${id}`),
        edit(incident.id, { message: "We look." }),
        report({ status: "up" }),
        report({ status: "down" }),
      ]);
      expect(deleted.status).toBe(200);
      expect((await readIncidents()).map(({ status }) => status)).not.toContain("investigating");
      expect((await messages()).flat()).toContain("We look.");
    }
  });
});
