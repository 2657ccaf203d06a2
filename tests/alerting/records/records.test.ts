import { describe, expect, test } from "bun:test";
import { unknownId } from "../../support/appliance.ts";
import { createPersonWithPhone } from "../../support/on-call.ts";
import { createPager } from "../../support/pager.ts";
import { signInMember } from "../../support/people.ts";
import { replyWith } from "../../support/target.ts";
import type { Json } from "../../support/json.ts";

const summarize = ({ type, status, resolvedBecause }: Json) =>
  [type, status, ...(resolvedBecause === null ? [] : [resolvedBecause])].join(" ");

/** A push monitor that is up, without any channel. */
async function createWorld() {
  const pager = await createPager();
  const job = await pager.createWatchedJob([], { name: "A", degradedAfterMs: 100 });
  const list = async (query = "") => (await pager.readAlerts(query)).map(summarize);
  return { ...pager, job, list };
}

describe("an alert", () => {
  test("is recorded from start to end, even without any channel", async () => {
    const { job, later, list, readAlerts, time } = await createWorld();
    await job.changeState("slow");
    await later();
    const since = new Date(time.now - 10_000).toISOString();
    expect(await readAlerts()).toMatchObject([
      {
        type: "monitor.degraded",
        title: "A is degraded",
        subject: { type: "monitor", id: job.id },
        data: { monitor: { id: job.id, name: "A" } },
        status: "open",
        priority: "normal",
        since,
        resolvedAt: null,
        acknowledgments: [],
        snoozedUntil: null,
      },
    ]);
    await job.changeState("down");
    await later();
    expect(await readAlerts()).toMatchObject([{ type: "monitor.down", status: "open", since }]);
    await job.changeState("up");
    await later();
    expect(await list()).toEqual(["monitor.down resolved recovered"]);
    await job.changeState("down");
    await later();
    expect(await list()).toEqual(["monitor.down resolved recovered", "monitor.down open"]);
  });

  test("says why it notifies no channel after a pause", async () => {
    const { job, inbox, later, readAlerts, readAlert } = await createWorld();
    await using hook = await inbox();
    await job.change({ alertChannelIds: [hook.id] });
    await job.changeState("down");
    await later();
    await job.change({ paused: true });
    await later();
    await job.change({ paused: false });
    await job.changeState("down");
    await later();
    expect(hook.listTitles()).toEqual(["monitor.down A"]);
    const open = (await readAlerts()).find(({ status }) => status === "open");
    const { timeline } = await readAlert(open?.id);
    expect(timeline.map(({ type, message }: Json) => [type, message])).toEqual([
      ["opened", "A is down"],
      ["held", "Its channels were notified of this outage before, and of no recovery."],
    ]);
  });

  test("names each message of a digest, and its delivery once", async () => {
    const world = await createWorld();
    await using hook = await world.inbox();
    const steps = [{ afterMinutes: 0, targets: [{ type: "channel", id: hook.id }] }];
    await world.api("POST", "/api/v1/escalation-policies", {
      body: { name: "All", default: true, steps },
    });
    await world.job.change({ alertChannelIds: [hook.id] });
    await world.job.changeState("down");
    for (let i = 0; i < 3; i++) await world.later(2);
    await world.later();
    expect(hook.received().map(({ type }) => type)).toEqual(["digest"]);
    const { timeline } = await world.readAlert(hook.alerts()[0]?.data.alertId);
    expect(timeline.map(({ type }: Json) => type).toSorted()).toEqual([
      "delivered",
      "escalated",
      "opened",
      "sent",
      "sent",
    ]);
  });

  test("has the id of its first message, and is found by each of its messages", async () => {
    const world = await createWorld();
    await using hook = await world.inbox();
    await using broken = await world.inbox({ name: "Broken" }, replyWith(410));
    await world.job.change({ alertChannelIds: [hook.id, broken.id] });
    await world.job.changeState("down");
    await world.later();
    await world.job.changeState("up");
    await world.later();
    const ids = hook.alerts().map(({ data }) => data.alertId);
    const [first, last] = await Promise.all([ids[0], ids.at(-1)].map(world.readAlert));
    expect(first).toEqual(last);
    expect(first.id).toBe(ids[0]);
    expect(new Set(first.deliveries.map(({ channelId }: Json) => channelId))).toEqual(
      new Set([hook.id, broken.id]),
    );
    expect(
      first.timeline.map(({ type, message, channel }: Json) => [type, message, channel?.name]),
    ).toEqual(
      expect.arrayContaining([
        ["opened", "A is down", undefined],
        ["sent", "A is down", "Broken"],
        ["failed", "The receiver responded with HTTP 410 (Gone).", "Broken"],
        ["sent", "A is up again", expect.any(String)],
        ["resolved", null, undefined],
      ]),
    );
    expect(first.timeline[0].type).toBe("opened");
    expect(first.timeline.map(({ at }: Json) => at)).toEqual(
      first.timeline.map(({ at }: Json) => at).toSorted(),
    );
  });

  test("names channels and contact methods, even after these, or their person, were deleted", async () => {
    const { api, job, later, readAlert, ...world } = await createWorld();
    await using hook = await world.inbox();
    await using ada = await createPersonWithPhone(world, "Ada");
    await using ben = await createPersonWithPhone(world, "Ben");
    const targets = [ada, ben].map(({ id }) => ({ type: "person", id }));
    const body = { name: "Shop", steps: [{ afterMinutes: 0, targets }] };
    const policy = await api("POST", "/api/v1/escalation-policies", { body });
    await job.change({ alertChannelIds: [hook.id], escalationPolicyId: policy.json.data.id });
    await job.changeState("down");
    await later();
    await later();
    const [{ data }] = hook.alerts() as [Json];
    const readNames = async () => {
      const { timeline } = await readAlert(data.alertId);
      const sent = timeline.filter(({ type }: Json) => type === "sent");
      return sent.map(({ channel }: Json) => channel.name).toSorted();
    };
    const before = await readNames();
    expect(before).toEqual(["Ada: Phone", "Ben: Phone", "On-call"]);
    await job.change({ escalationPolicyId: null });
    for (const path of [
      `escalation-policies/${policy.json.data.id}`,
      `contact-methods/${ada.methodId}`,
      `alert-channels/${hook.id}`,
    ])
      expect((await api("DELETE", `/api/v1/${path}`)).status).toBe(200);
    const owner = await signInMember(world, "owner");
    const { status } = await owner.page("DELETE", `/dashboard/people/${ben.id}`);
    expect(status).toBe(200);
    expect(await readNames()).toEqual(before);
  });

  test("ends with a mute, a pause and the deletion of its monitor, and opens again after a mute", async () => {
    const { job, later, list, api } = await createWorld();
    await job.changeState("down");
    await later();
    await job.change({ muted: true });
    await later();
    expect(await list()).toEqual(["monitor.down resolved muted"]);
    await job.changeState("slow");
    await later();
    expect(await list()).toHaveLength(1);
    await job.change({ muted: false });
    await later();
    expect(await list()).toEqual(["monitor.down resolved muted", "monitor.degraded open"]);
    await job.change({ paused: true });
    await later();
    expect((await list()).at(-1)).toBe("monitor.degraded resolved paused");
    await job.change({ paused: false });
    await job.changeState("down");
    await later();
    expect((await api("DELETE", `/api/v1/monitors/${job.id}`)).status).toBe(200);
    await later();
    expect((await list()).at(-1)).toBe("monitor.down resolved deleted");
  });

  test("is opened after a start for a problem that is older than it", async () => {
    const { job, later, list, database, restart } = await createWorld();
    await job.changeState("down");
    await later();
    database.run("DELETE FROM alert_records");
    await later();
    expect(await list()).toEqual([]);
    await restart().runOnce();
    expect(await list()).toEqual(["monitor.down open"]);
  });

  test("exists for incidents and failing channels", async () => {
    const world = await createWorld();
    await using other = await world.inbox();
    await using broken = await world.inbox({ name: "Broken" }, replyWith(410));
    const { json } = await world.api("POST", "/api/v1/incidents", { body: { title: "Slow" } });
    await world.deliverTwiceAfter(10);
    expect(await world.readAlerts()).toMatchObject([
      { title: "Incident: Slow", subject: { type: "incident", id: json.data.id } },
      { type: "channel.failed", subject: { type: "channel", id: broken.id } },
    ]);
    broken.setReply(replyWith());
    await world.api("POST", `/api/v1/alert-channels/${broken.id}/test`);
    const body = { status: "resolved", message: "Solved." };
    await world.api("PATCH", `/api/v1/incidents/${json.data.id}`, { body });
    await world.later();
    expect(await world.list()).toEqual([
      "incident.opened resolved recovered",
      "channel.failed resolved recovered",
    ]);
    expect(other.listTitles()).toContain("incident.resolved Slow");
  });
});

test("alerts can be filtered by status, subject, type and priority, and have pages", async () => {
  const { job, later, list, createWatchedJob, api, readAlerts } = await createWorld();
  const other = await createWatchedJob([], { name: "B", degradedAfterMs: 100 });
  await job.changeState("down");
  await later();
  await job.changeState("up");
  await other.changeState("slow");
  await later();
  const [down, slow] = ["monitor.down resolved recovered", "monitor.degraded open"];
  expect(await list()).toEqual([down, slow]);
  for (const [query, expected] of [
    ["status=open", [slow]],
    ["status=resolved", [down]],
    ["status=open,acknowledged,resolved", [down, slow]],
    ["status=snoozed,acknowledged", []],
    [`monitorId=${job.id}`, [down]],
    [`monitorId=${unknownId}`, []],
    [`incidentId=${job.id}`, []],
    ["type=monitor.degraded", [slow]],
    ["priority=normal", [down, slow]],
    ["priority=critical", []],
  ] as const)
    expect(await list(`&${query}`)).toEqual([...expected]);
  const { json } = await api("GET", "/api/v1/alerts?page=2&per_page=1");
  expect(json).toEqual({
    data: [(await readAlerts())[0]],
    meta: { page: 2, per_page: 1, total: 2 },
  });
  for (const query of ["type=fax", "status=calm", "status=", "monitorId=7", "page=0", "colour=red"])
    expect((await api("GET", `/api/v1/alerts?${query}`)).status).toBe(422);
});

test("an alert outlives the name of its monitor", async () => {
  const { job, later, readAlerts, api } = await createWorld();
  await job.changeState("down");
  await later();
  await job.change({ name: "Renamed" });
  await api("DELETE", `/api/v1/monitors/${job.id}`);
  await later();
  expect(await readAlerts()).toMatchObject([{ title: "A is down", status: "resolved" }]);
});

test("a test message has no alert, but can be read by its id", async () => {
  const world = await createWorld();
  await using hook = await world.inbox();
  const { json } = await world.api("POST", `/api/v1/alert-channels/${hook.id}/test`);
  expect(await world.readAlerts()).toEqual([]);
  const [id] = json.data.alertIds;
  expect(await world.readAlert(id)).toMatchObject({
    id,
    type: "test",
    status: "resolved",
    deliveries: [{ id: json.data.id }],
  });
});
