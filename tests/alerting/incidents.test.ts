import { describe, expect, test } from "bun:test";
import { createPager } from "../support/pager.ts";

/** A person who posts incidents, and a channel that is notified. */
async function setUp() {
  const pager = await createPager();
  const hook = await pager.inbox();
  const { api } = pager;
  const createIncident = async (fields: object = {}) => {
    const body = { title: "Slow", severity: "major", ...fields };
    const { json } = await api("POST", "/api/v1/incidents", { body });
    const id: string = json.data.id;
    return {
      id,
      post: async (body: object) => {
        pager.time.now += 1;
        const { status } = await api("PATCH", `/api/v1/incidents/${id}`, { body });
        expect(status).toBe(200);
        await pager.later();
      },
    };
  };
  return { ...pager, hook, createIncident };
}

const opened = "incident.opened Slow";
const updated = "incident.updated Slow";
const resolved = "incident.resolved Slow";

describe("a manual incident", () => {
  test("is sent from its opening to its end, each time with the posted text", async () => {
    const { hook, createIncident, later, time } = await setUp();
    await using _ = hook;
    const at = new Date(time.now).toISOString();
    const { id, post } = await createIncident({ message: "Checkout is slow." });
    await later();
    await post({ status: "identified", message: "We found it." });
    await post({ message: "Rolling back." });
    await post({ status: "resolved" });
    const messages = hook.received();
    expect(hook.listTitles()).toEqual([opened, updated, updated, resolved]);
    expect(messages[0]).toMatchObject({ type: "incident.opened", timestamp: at });
    expect(messages[0]?.data).toEqual({
      alertId: expect.any(String),
      acknowledgeUrl: expect.stringContaining("/a/"),
      incident: {
        id,
        title: "Slow",
        status: "investigating",
        severity: "major",
        monitorId: null,
        monitorIds: [],
      },
      message: "Checkout is slow.",
      url: `http://signalbox.lan:3210/incidents/${id}`,
    });
    expect(messages.map(({ data }) => [data.incident.status, data.message])).toEqual([
      ["investigating", "Checkout is slow."],
      ["identified", "We found it."],
      ["identified", "Rolling back."],
      ["resolved", "Incident resolved."],
    ]);
  });

  test("is sent to enabled channels with incidents enabled, attached to a monitor or not", async () => {
    const { hook, inbox, createIncident, createWatchedJob, later } = await setUp();
    await using _ = hook;
    await using attached = await inbox();
    await using unwanted = await inbox({ incidents: false });
    await using off = await inbox({ enabled: false });
    const backup = await createWatchedJob([attached, unwanted, off]);
    await createIncident({ monitorId: backup.id });
    await later();
    for (const { listTitles } of [hook, attached]) expect(listTitles()).toEqual([opened]);
    for (const { asked } of [unwanted, off]) expect(asked).toEqual([]);
  });

  test("that is reopened is sent as updated, and resolved a second time", async () => {
    const { hook, createIncident, later } = await setUp();
    await using _ = hook;
    const { post } = await createIncident();
    await later();
    await post({ status: "resolved" });
    await post({ status: "monitoring", message: "It is back." });
    await post({ status: "resolved", message: "Now it is over." });
    expect(hook.listTitles()).toEqual([opened, resolved, updated, resolved]);
  });

  test("sends nothing without a post, nor when it is deleted", async () => {
    const { hook, api, createIncident, later } = await setUp();
    await using _ = hook;
    const { id, post } = await createIncident();
    await later();
    await post({ title: "Slower" });
    await post({ severity: "critical", public: false });
    await api("DELETE", `/api/v1/incidents/${id}`);
    await later();
    expect(hook.listTitles()).toEqual([opened]);
  });

  test("is sent with the text from when it was posted, not with later edits", async () => {
    const { hook, api, createIncident, later } = await setUp();
    await using _ = hook;
    const { id } = await createIncident({ message: "First." });
    await later(0);
    await api("PATCH", `/api/v1/incidents/${id}`, {
      body: { title: "Slower", message: "Second." },
    });
    await later();
    expect(hook.alerts().map(({ data }) => [data.incident.title, data.message])).toEqual([
      ["Slow", "First."],
      ["Slower", "Second."],
    ]);
  });

  test("is sent as resolved only to channels that were notified of it", async () => {
    const { hook, inbox, createIncident, later, changeChannel } = await setUp();
    await using _ = hook;
    await using never = await inbox({ incidents: false });
    await using late = await inbox({ enabled: false });
    const { post } = await createIncident();
    await later();
    await changeChannel(late, { enabled: true });
    await post({ message: "Rolling back." });
    await changeChannel(never, { incidents: true });
    await post({ status: "resolved" });
    expect(hook.listTitles()).toEqual([opened, updated, resolved]);
    expect(late.listTitles()).toEqual([updated, resolved]);
    expect(never.listTitles()).toEqual([]);
  });

  test("about a muted monitor is sent anyway", async () => {
    const { hook, createIncident, createWatchedJob, later } = await setUp();
    await using _ = hook;
    const backup = await createWatchedJob([], { muted: true });
    await createIncident({ monitorId: backup.id });
    await later();
    expect(hook.listTitles()).toEqual([opened]);
  });

  test("is not sent to another organization", async () => {
    const { hook, theirs, later } = await setUp();
    await using _ = hook;
    await theirs.api("POST", "/api/v1/incidents", { body: { title: "Theirs" } });
    await later();
    expect(hook.asked).toEqual([]);
  });
});

describe("an automatic incident", () => {
  const fields = { autoIncidentSeverity: "critical", degradedAfterMs: 500 };

  test("is sent with its updates to other channels than the monitor's, which get the outage itself", async () => {
    const { hook, inbox, createWatchedJob, later } = await setUp();
    await using _ = hook;
    await using attached = await inbox();
    await using unwanted = await inbox({ incidents: false });
    const backup = await createWatchedJob([attached], fields);
    for (const status of ["down", "slow", "down", "up"] as const) {
      await backup.changeState(status);
      await later();
    }
    expect(hook.listTitles()).toEqual(
      ["opened", "updated", "updated", "resolved"].map((step) => `incident.${step} Backup is down`),
    );
    expect(attached.listTitles()).toEqual(
      ["down", "degraded", "down", "up"].map((status) => `monitor.${status} Backup`),
    );
    expect(unwanted.asked).toEqual([]);
    expect(hook.received()[0]?.data.incident).toMatchObject({
      severity: "critical",
      monitorId: backup.id,
    });
  });

  test("is sent as resolved once its monitor is deleted, to channels that were notified of it", async () => {
    const { hook, api, inbox, createWatchedJob, later, time } = await setUp();
    await using _ = hook;
    await using attached = await inbox();
    const backup = await createWatchedJob([attached], fields);
    await backup.changeState("down");
    await later();
    await using late = await inbox();
    time.now += 60_000;
    await api("DELETE", `/api/v1/monitors/${backup.id}`);
    await later();
    expect(hook.listTitles()).toEqual(
      ["opened", "resolved"].map((step) => `incident.${step} Backup is down`),
    );
    expect(hook.received()[1]?.data).toMatchObject({
      incident: { status: "resolved", monitorId: null },
      message: "Backup is no longer monitored.",
    });
    expect(attached.listTitles()).toEqual(["monitor.down Backup"]);
    expect(late.asked).toEqual([]);
  });

  for (const what of ["monitor", "group"])
    test(`is not sent while the ${what} is muted, nor its end to channels without its start`, async () => {
      const { hook, group, createWatchedJob, later, muteGroup } = await setUp();
      await using _ = hook;
      const { id: groupId } = await group();
      const backup = await createWatchedJob([], { ...fields, groupId });
      const mute = async (muted: boolean) => {
        if (what === "monitor") await backup.change({ muted });
        else await muteGroup(groupId, muted);
      };
      await mute(true);
      await backup.changeState("down");
      await later();
      await mute(false);
      await backup.changeState("up");
      await later();
      expect(hook.listTitles()).toEqual([]);
      await backup.changeState("down");
      await later();
      expect(hook.listTitles()).toEqual(["incident.opened Backup is down"]);
    });

  test("that was resolved manually is not sent as resolved again when the monitor is up", async () => {
    const { hook, api, createWatchedJob, later } = await setUp();
    await using _ = hook;
    const backup = await createWatchedJob([], fields);
    await backup.changeState("down");
    await later();
    const { json } = await api("GET", "/api/v1/incidents");
    const path = `/api/v1/incidents/${json.data[0].id}`;
    await api("PATCH", path, { body: { status: "resolved" } });
    await later();
    await backup.changeState("up");
    await later();
    expect(hook.listTitles()).toEqual(
      ["opened", "resolved"].map((step) => `incident.${step} Backup is down`),
    );
  });
});
