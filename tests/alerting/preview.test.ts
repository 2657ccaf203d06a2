import { describe, expect, test } from "bun:test";
import { unknownId } from "../support/appliance.ts";
import { createPager } from "../support/pager.ts";

/** A monitor with a channel, and its preview. */
async function createPreview(fields: object = {}, settings: object = {}) {
  const pager = await createPager();
  const { api, ours, channel } = pager;
  const { id: channelId } = await channel({ name: "Office", ...settings });
  const backup = await pager.createWatchedJob([{ id: channelId }], fields);
  return {
    ...pager,
    backup,
    channelId,
    preview: async () => {
      const { status, json } = await ours.reader(
        "GET",
        `/api/v1/monitors/${backup.id}/alert-preview`,
      );
      expect(status).toBe(200);
      return json.data;
    },
    /** Why the channel would not be notified; null if it would. */
    reason: async () => {
      const path = `/api/v1/monitors/${backup.id}/alert-preview`;
      const { told, notTold } = (await api("GET", path)).json.data;
      expect(told.length + notTold.length).toBe(1);
      return notTold[0]?.reason ?? null;
    },
  };
}

test("a preview has every channel of the organization in one of two lists", async () => {
  const { preview, channel, channelId, theirs } = await createPreview();
  const { id: off } = await channel({ name: "Off", enabled: false });
  const { id: away } = await channel({ type: "ntfy", name: "Away", topic: "alerts" });
  await theirs.api("POST", "/api/v1/alert-channels", {
    body: { type: "email", name: "Theirs", to: ["a@b.example"] },
  });
  const describeReason = (name: string) => `${name} is not attached to the monitor.`;
  expect(await preview()).toEqual({
    at: expect.any(String),
    policy: null,
    told: [{ id: channelId, name: "Office", type: "email" }],
    notTold: [
      { id: off, name: "Off", type: "email", reason: describeReason("Off") },
      { id: away, name: "Away", type: "ntfy", reason: describeReason("Away") },
    ],
  });
});

describe("a preview shows", () => {
  test("that a channel is disabled", async () => {
    const { reason } = await createPreview({}, { enabled: false });
    expect(await reason()).toBe("Office is disabled.");
  });

  for (const what of ["paused", "muted"])
    test(`that the monitor is ${what}`, async () => {
      const { reason, backup } = await createPreview();
      await backup.change({ [what]: true });
      expect(await reason()).toBe(`Office gets no alerts while the monitor is ${what}.`);
      await backup.change({ [what]: false });
      expect(await reason()).toBe(null);
    });

  for (const what of ["paused", "muted"])
    test(`that the monitor's group is ${what}`, async () => {
      const { reason, backup, group, pauseGroup, muteGroup } = await createPreview();
      const { id: groupId } = await group();
      await backup.change({ groupId });
      expect(await reason()).toBe(null);
      await (what === "paused" ? pauseGroup : muteGroup)(groupId, true);
      expect(await reason()).toBe(`Office gets no alerts while the monitor's group is ${what}.`);
    });

  test("that maintenance is running", async () => {
    const { reason, database } = await createPreview();
    database.run("UPDATE monitor_states SET status = 'maintenance'");
    expect(await reason()).toBe("Office gets no alerts until the maintenance is over.");
  });

  test("that the monitor flaps, until it is steady", async () => {
    const { reason, backup, later, readStatus, changeChannel, channelId } = await createPreview();
    await changeChannel({ id: channelId }, { to: ["a@b.example"] });
    for (let turn = 0; turn < 11; turn++)
      await backup.changeState((await readStatus(backup.id)) === "up" ? "down" : "up");
    await later(0);
    expect(await reason()).toBe(
      "Office was alerted that the monitor is flapping, and will be alerted again once it is stable.",
    );
    await later(601);
    expect(await reason()).toBe(null);
  });
});

test("exactly the channels in a preview are notified", async () => {
  const { inbox, createWatchedJob, group, later, api, database } = await createPager();
  await using attached = await inbox();
  await using off = await inbox({ enabled: false });
  await using away = await inbox();
  const all = [attached, off, away];
  for (const muted of [false, true]) {
    const { id: groupId } = await group();
    const backup = await createWatchedJob([attached, off], { groupId });
    database.run("UPDATE monitor_groups SET muted = ? WHERE id = ?", [muted, groupId]);
    const { json } = await api("GET", `/api/v1/monitors/${backup.id}/alert-preview`);
    const named = json.data.told.map(({ id }: { id: string }) => id);
    const before = all.map(({ asked }) => asked.length);
    await backup.changeState("down");
    await later();
    const told = all.filter(({ asked }, index) => asked.length > (before[index] ?? 0));
    expect(told.map(({ id }) => id)).toEqual(named);
    expect(named).toHaveLength(muted ? 0 : 1);
  }
});

test("a preview of an unknown monitor, or of another organization's, is 404", async () => {
  const { backup, api, theirs } = await createPreview();
  for (const answer of [
    await api("GET", `/api/v1/monitors/${unknownId}/alert-preview`),
    await theirs.api("GET", `/api/v1/monitors/${backup.id}/alert-preview`),
  ])
    expect([answer.status, answer.json.error.code]).toEqual([404, "NOT_FOUND"]);
});
