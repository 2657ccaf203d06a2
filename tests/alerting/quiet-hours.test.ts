/** Quiet hours of channels: what they hold, what arrives at their end, and what is never held. */
import { describe, expect, test } from "bun:test";
import type { Json } from "../support/json.ts";
import { createPager } from "../support/pager.ts";
import { signInMember } from "../support/people.ts";
import { parseJsonBody, replyWith, startTarget } from "../support/target.ts";

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const night = { timeZone: "Europe/Berlin", hours: [{ days, from: "22:00", until: "07:00" }] };

/** A channel with quiet hours at night, and a monitor that is up, at this local time. */
async function createNight(at = "22:30", fields: object = {}) {
  const pager = await createPager();
  const setTime = (time: string, day = 1) => {
    pager.time.now = Date.parse(`2026-12-0${day}T${time}:00+01:00`);
  };
  setTime("21:00");
  const inbox = await pager.inbox({ name: "Office", quietHours: night });
  const job = await pager.createWatchedJob([inbox], {
    name: "Shop",
    degradedAfterMs: 500,
    ...fields,
  });
  await pager.later();
  setTime(at);
  const readTimeline = async () => {
    const [alert] = await pager.readAlerts(`&monitorId=${job.id}`);
    return ((await pager.readAlert(alert?.id)).timeline as Json[])
      .filter(({ type }) => type === "held" || type === "sent")
      .map(({ at, type, message }) => `${at.slice(11, 16)} ${type}: ${message}`);
  };
  const act = async (action: string, body: object = {}) => {
    await pager.later(0);
    const [alert] = await pager.readAlerts("&status=open");
    const { status } = await pager.api("POST", `/api/v1/alerts/${alert?.id}/${action}`, { body });
    expect(status).toBe(200);
  };
  /** Messages at this local time, which is the next one. */
  const advance = async (time: string, day = 2) => {
    await pager.later();
    setTime(time, day);
    await pager.later();
    await pager.later();
  };
  return { ...pager, inbox, job, setTime, readTimeline, act, advance };
}

describe("in quiet hours, a channel", () => {
  test("gets held messages in one digest at their end, and the timeline says so", async () => {
    const { inbox, job, createWatchedJob, advance, readTimeline, readDeliveries } =
      await createNight();
    const other = await createWatchedJob([inbox], { name: "Mail", degradedAfterMs: 500 });
    await job.changeState("down");
    await other.changeState("slow");
    await advance("06:59");
    expect(inbox.listTitles()).toEqual([]);
    const [waiting] = await readDeliveries(inbox);
    expect(waiting).toMatchObject({
      status: "pending",
      type: "digest",
      nextAttemptAt: "2026-12-02T06:00:00.000Z",
    });
    await advance("07:00");
    expect(inbox.received().map(({ type }) => type)).toEqual(["digest"]);
    expect(inbox.listTitles()).toEqual(["monitor.down Shop", "monitor.degraded Mail"]);
    expect(await readTimeline()).toEqual([
      "21:30 held: Held until 07:00 (Europe/Berlin) by the quiet hours of Office.",
      "06:00 sent: Shop is down",
    ]);
  });

  test("gets neither message if the problem is over before they end", async () => {
    const { inbox, job, advance, later, readTimeline, readDeliveries } = await createNight();
    await job.changeState("down");
    await later();
    await job.changeState("up");
    await advance("07:00");
    expect(inbox.listTitles()).toEqual([]);
    expect(await readTimeline()).toEqual([
      "21:30 held: Held until 07:00 (Europe/Berlin) by the quiet hours of Office.",
      "21:30 held: The problem was over before the quiet hours of Office ended, so the held message is not sent.",
    ]);
    expect(await readDeliveries(inbox)).toMatchObject([
      { status: "skipped", error: "All problems were over before the quiet hours ended." },
    ]);
  });

  test("is deleted with its held messages, and the timeline says so", async () => {
    const { api, inbox, job, later, readTimeline } = await createNight();
    await job.changeState("down");
    await later();
    expect((await api("DELETE", `/api/v1/alert-channels/${inbox.id}`)).status).toBe(200);
    expect(await readTimeline()).toEqual([
      "21:30 held: Held until 07:00 (Europe/Berlin) by the quiet hours of Office.",
      "21:30 held: Office was deleted before its quiet hours ended, so the held message is not sent.",
    ]);
  });

  test("gets critical alerts at once", async () => {
    const { inbox, job, later } = await createNight("22:30", { priority: "critical" });
    await job.changeState("down");
    await later();
    await job.changeState("up");
    await later();
    expect(inbox.listTitles()).toEqual(["monitor.down Shop", "monitor.up Shop"]);
  });

  test("gets the recovery of a reported problem at once, and no held message about it", async () => {
    const { inbox, job, later, advance, setTime, readTimeline } = await createNight("21:50", {
      reminderInterval: 3600,
    });
    await job.changeState("down");
    await later();
    setTime("23:00");
    await later();
    expect(await readTimeline()).toHaveLength(2);
    await job.changeState("up");
    await later();
    expect(inbox.listTitles()).toEqual(["monitor.down Shop", "monitor.up Shop"]);
    await advance("07:00");
    expect(inbox.listTitles()).toHaveLength(2);
  });

  test("gets the last message about each problem, and all about an incident", async () => {
    const { inbox, job, later, advance, setTime, api } = await createNight("22:30", {
      reminderInterval: 3600,
    });
    await job.changeState("slow");
    await later();
    await job.changeState("down");
    for (const time of ["23:40", "23:59"]) {
      setTime(time);
      await later();
    }
    const { json } = await api("POST", "/api/v1/incidents", {
      body: { title: "Slow", severity: "minor", message: "We look." },
    });
    await later();
    const body = { message: "Found it.", status: "identified" };
    await api("PATCH", `/api/v1/incidents/${json.data.id}`, { body });
    await advance("07:00");
    expect(inbox.received().map(({ type }) => type)).toEqual(["digest"]);
    expect(inbox.listTitles()).toEqual([
      "monitor.reminder Shop",
      "incident.opened Slow",
      "incident.updated Slow",
      // The next reminder is due when the hours end.
      "monitor.reminder Shop",
    ]);
  });

  test("hears of a problem again that returns after a pause", async () => {
    const { inbox, job, later, advance } = await createNight();
    await job.changeState("down");
    await later();
    await job.change({ paused: true });
    await later();
    await advance("06:00");
    await job.change({ paused: false });
    await job.changeState("down");
    await advance("07:00");
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
  });

  test("hears of an acknowledged problem, but not of a snoozed one", async () => {
    const { inbox, job, createWatchedJob, act, advance, time, readTimeline } = await createNight();
    await job.changeState("down");
    await act("acknowledge");
    const other = await createWatchedJob([inbox], { name: "Mail" });
    await other.changeState("down");
    await act("snooze", { until: new Date(time.now + 86_400_000).toISOString() });
    await advance("07:00");
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
    expect(await readTimeline()).toHaveLength(2);
  });
});

describe("changed quiet hours", () => {
  test("release held messages at once", async () => {
    const { inbox, job, later, changeChannel } = await createNight();
    await job.changeState("down");
    await later();
    expect(inbox.listTitles()).toEqual([]);
    expect((await changeChannel(inbox, { quietHours: null })).status).toBe(200);
    await later();
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
  });

  test("hold messages for longer", async () => {
    const { inbox, job, later, advance, changeChannel, readDeliveries } = await createNight();
    await job.changeState("down");
    await later();
    const hours = [{ days, from: "22:00", until: "08:00" }];
    await changeChannel(inbox, { quietHours: { ...night, hours } });
    await advance("07:30");
    expect(inbox.listTitles()).toEqual([]);
    const [waiting] = await readDeliveries(inbox);
    expect(waiting?.nextAttemptAt).toBe("2026-12-02T07:00:00.000Z");
    await advance("08:00");
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
  });
});

describe("an edit while messages are held", () => {
  test("of the priority to critical sends them at once, except for other alerts", async () => {
    const { inbox, job, createWatchedJob, later, advance, readTimeline, readAlerts } =
      await createNight();
    const other = await createWatchedJob([inbox], { name: "Mail" });
    await job.changeState("down");
    await other.changeState("down");
    await later();
    await job.change({ priority: "critical" });
    await later();
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
    expect((await readAlerts(`&monitorId=${job.id}`))[0]).toMatchObject({ priority: "critical" });
    expect(await readTimeline()).toEqual([
      "21:30 held: Held until 07:00 (Europe/Berlin) by the quiet hours of Office.",
      "21:30 held: The alert has become critical, so the message that the quiet hours of Office held is sent.",
      "21:30 sent: Shop is down",
    ]);
    await job.changeState("up");
    await later();
    expect(inbox.listTitles()).toEqual(["monitor.down Shop", "monitor.up Shop"]);
    await advance("07:00");
    expect(inbox.listTitles()).toEqual([
      "monitor.down Shop",
      "monitor.up Shop",
      "monitor.down Mail",
    ]);
  });

  test("of an incident's severity to critical sends them at once", async () => {
    const { inbox, later, api } = await createNight();
    const body = { title: "Slow", severity: "minor", message: "We look." };
    const { json } = await api("POST", "/api/v1/incidents", { body });
    await later();
    expect(inbox.listTitles()).toEqual([]);
    const path = `/api/v1/incidents/${json.data.id}`;
    await api("PATCH", path, { body: { severity: "critical" } });
    await later();
    expect(inbox.listTitles()).toEqual(["incident.opened Slow"]);
    await api("PATCH", path, { body: { status: "resolved" } });
    await later();
    expect(inbox.listTitles()).toEqual(["incident.opened Slow", "incident.resolved Slow"]);
  });

  const dropped =
    "21:30 held: The channel was no longer notified of the alert before the quiet hours of Office ended, so the held message is not sent.";
  type Night = Awaited<ReturnType<typeof createNight>>;
  test.each<[string, (night: Night) => Promise<unknown>]>([
    ["detaches the channel", ({ job }) => job.change({ alertChannelIds: [] })],
    [
      "leaves outages out of its messages",
      ({ inbox, changeChannel }) => changeChannel(inbox, { notifyOn: ["incident"] }),
    ],
  ])("that %s drops them, and the timeline says so", async (_, edit) => {
    const night = await createNight();
    await night.job.changeState("down");
    await night.later();
    await edit(night);
    await night.advance("07:00");
    expect(night.inbox.listTitles()).toEqual([]);
    expect((await night.readTimeline()).at(-1)).toBe(dropped);
    await night.job.changeState("up");
    await night.later();
    expect(night.inbox.listTitles()).toEqual([]);
  });

  test("that attaches the channel again does not notify it of the same outage, but of the next", async () => {
    const { inbox, job, later, advance } = await createNight();
    await job.changeState("down");
    await later();
    await job.change({ alertChannelIds: [] });
    await later();
    await job.change({ alertChannelIds: [inbox.id] });
    await advance("07:00");
    await job.changeState("up");
    await job.changeState("down");
    await later();
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
  });
});

describe("a channel that is deleted and restored", () => {
  const restore = async ({ api, inbox, later }: Awaited<ReturnType<typeof createNight>>) => {
    expect((await api("DELETE", `/api/v1/alert-channels/${inbox.id}`)).status).toBe(200);
    await later();
    expect((await api("POST", `/api/v1/alert-channels/${inbox.id}/restore`)).status).toBe(200);
    await later();
  };

  test("gets what it held if the problem is still open, once", async () => {
    const night = await createNight();
    const { inbox, job, createWatchedJob, later, advance, readTimeline } = night;
    const recoveringJob = await createWatchedJob([inbox], { name: "Mail" });
    await job.changeState("down");
    await recoveringJob.changeState("down");
    await later();
    await restore(night);
    await recoveringJob.changeState("up");
    await restore(night);
    expect(await readTimeline()).toEqual([
      "21:30 held: Held until 07:00 (Europe/Berlin) by the quiet hours of Office.",
      "21:30 held: Office was deleted before its quiet hours ended, so the held message is not sent.",
      "21:30 held: Held until 07:00 (Europe/Berlin) by the quiet hours of Office.",
      "21:30 held: Office was deleted before its quiet hours ended, so the held message is not sent.",
      "21:30 held: Held until 07:00 (Europe/Berlin) by the quiet hours of Office.",
    ]);
    await advance("07:00");
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
    await job.changeState("up");
    await later();
    expect(inbox.listTitles()).toEqual(["monitor.down Shop", "monitor.up Shop"]);
  });

  test("gets no known problem again, but its end", async () => {
    const night = await createNight("21:10");
    const { inbox, job, later } = night;
    await job.changeState("down");
    await later();
    await restore(night);
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
    await job.changeState("up");
    await later();
    expect(inbox.listTitles()).toEqual(["monitor.down Shop", "monitor.up Shop"]);
  });
});

test("a snooze that is ended early returns the held message that it dropped", async () => {
  const { inbox, job, act, later, advance, time, api, readAlerts } = await createNight();
  await job.changeState("down");
  await act("snooze", { until: new Date(time.now + 86_400_000).toISOString() });
  await later();
  const [alert] = await readAlerts(`&monitorId=${job.id}`);
  await api("POST", `/api/v1/alerts/${alert?.id}/unacknowledge`, { body: {} });
  await advance("07:00");
  expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
});

test("held messages survive restarts, kills and a clock that was ahead", async () => {
  const { inbox, job, later, advance, setTime, restart, crashBefore, readDeliveries } =
    await createNight();
  setTime("23:00", 5);
  await job.changeState("down");
  await later();
  setTime("23:00");
  restart();
  await later();
  const [waiting] = await readDeliveries(inbox);
  expect(waiting?.nextAttemptAt).toBe("2026-12-02T06:00:00.000Z");
  crashBefore("update deliveries set quiet = null");
  expect(await advance("07:00").catch(String)).toContain("power");
  expect(inbox.listTitles()).toEqual([]);
  restart();
  await later();
  await later();
  expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
});

describe("a policy", () => {
  /** A monitor whose policy notifies Ada, who has quiet hours, and then the channel “Second”. */
  async function createPolicy(second: object = {}) {
    const pager = await createPager();
    pager.time.now = Date.parse("2026-12-01T21:00:00+01:00");
    const next = await pager.inbox({ name: "Second", incidents: false, ...second });
    const last = await pager.inbox({ name: "Last", default: true, incidents: false });
    const ada = await signInMember(pager, "member", { name: "Ada" });
    const phone = await startTarget(replyWith());
    const path = "/dashboard/api/v1/contact-methods";
    const contact = { type: "webhook", name: "Phone", url: phone.at("/hook"), quietHours: night };
    const { id } = (await ada.page("POST", path, { body: contact })).json.data;
    await ada.page("POST", `${path}/${id}/code`);
    const code = /\b\d{6}\b/.exec(phone.asked.at(-1)?.body ?? "")?.[0];
    await ada.page("POST", `${path}/${id}/verify`, { body: { code } });
    const start = phone.asked.length;
    const steps = [
      { afterMinutes: 0, targets: [{ type: "person", id: ada.id }] },
      { afterMinutes: 30, targets: [{ type: "channel", id: next.id }] },
    ];
    const policy = await pager.api("POST", "/api/v1/escalation-policies", {
      body: { name: "Shop", steps },
    });
    const job = await pager.createWatchedJob([], {
      name: "Shop",
      escalationPolicyId: policy.json.data.id,
    });
    await job.change({ alertChannelIds: [] });
    await pager.later();
    pager.time.now = Date.parse("2026-12-01T23:00:00+01:00");
    const listPhone = () =>
      phone.asked.slice(start).map((request) => parseJsonBody<Json>(request).type as string);
    const readAlert = async () => {
      const [alert] = await pager.readAlerts(`&monitorId=${job.id}`);
      return pager.readAlert(alert?.id);
    };
    const setTime = (time: string) => {
      pager.time.now = Date.parse(`2026-12-02T${time}:00+01:00`);
    };
    return { ...pager, next, last, job, listPhone, readAlert, setTime };
  }

  test("runs its next step at once if quiet hours hold all messages of a step", async () => {
    const { job, later, next, listPhone, readAlert, setTime, api } = await createPolicy();
    const path = `/api/v1/monitors/${job.id}/alert-preview?at=2026-12-01T22:00:00Z`;
    const { steps } = (await api("GET", path)).json.data.policy;
    expect(steps.map((step: Json) => [step.at, step.message, step.notifications])).toMatchObject([
      [
        "2026-12-01T22:00:00.000Z",
        "Ada has quiet hours",
        [{ at: "2026-12-02T06:00:00.000Z", held: true, person: { name: "Ada" } }],
      ],
      ["2026-12-01T22:00:00.000Z", "Second", [{ at: "2026-12-01T22:00:00.000Z", held: false }]],
      [expect.any(String), "Last", [{ held: false }]],
    ]);
    await job.changeState("down");
    await later();
    await later();
    expect(next.listTitles()).toEqual(["monitor.down Shop"]);
    expect(listPhone()).toEqual([]);
    const messages = ((await readAlert()).timeline as Json[])
      .filter(({ type }) => type === "held" || type === "escalated")
      .map(({ message }) => message);
    expect(messages).toEqual([
      "Held until 07:00 (Europe/Berlin) by the quiet hours of Ada: Phone.",
      "Step 1 of 2: Ada has quiet hours.",
      "Step 2 of 2: Second.",
    ]);
    setTime("07:00");
    await later();
    expect(listPhone()).toEqual(["monitor.down"]);
    await job.changeState("up");
    await later();
    expect(listPhone()).toEqual(["monitor.down", "monitor.up"]);
  });

  test("notifies nobody after an acknowledgment, at the end of quiet hours too", async () => {
    const { job, later, api, listPhone, readAlert, setTime } = await createPolicy();
    await job.changeState("down");
    await later();
    const { id } = await readAlert();
    await api("POST", `/api/v1/alerts/${id}/acknowledge`, { body: {} });
    setTime("07:00");
    await later();
    await job.changeState("up");
    await later();
    expect(listPhone()).toEqual([]);
    const held = ((await readAlert()).timeline as Json[]).filter(({ type }) => type === "held");
    expect(held.at(-1)?.["message"]).toBe(
      "The alert was acknowledged before the quiet hours of Ada: Phone ended, so the held message is not sent.",
    );
  });

  test("notifies a person in quiet hours of a critical alert", async () => {
    const { job, later, listPhone, next } = await createPolicy();
    await job.change({ priority: "critical" });
    await job.changeState("down");
    await later();
    expect([listPhone(), next.listTitles()]).toEqual([["monitor.down"], []]);
  });

  test("does not wait for a held message when all others of a step fail", async () => {
    const { job, later, next, last, api } = await createPolicy();
    await using broken = await startTarget(replyWith(500));
    const { json } = await api("POST", "/api/v1/alert-channels", {
      body: { type: "webhook", name: "Broken", url: broken.at("/") },
    });
    const [policy] = (await api("GET", "/api/v1/escalation-policies")).json.data;
    const [first, second] = policy.steps;
    const targets = [...first.targets, { type: "channel", id: json.data.id }];
    const steps = [{ afterMinutes: 0, targets }, second];
    await api("PATCH", `/api/v1/escalation-policies/${policy.id}`, { body: { steps } });
    await job.changeState("down");
    await later();
    await later();
    await later();
    expect(next.listTitles()).toEqual(["monitor.down Shop"]);
    expect(last.listTitles()).toEqual([]);
  });
});

describe("quiet hours are rejected", () => {
  test.each([
    ["that cover the whole week", { hours: [{ days, from: "07:00", until: "07:00" }] }, "week"],
    ["without times", { hours: [] }, "hours"],
    ["of an unknown time zone", { ...night, timeZone: "Mars" }, "timeZone"],
  ])("%s", async (_, quietHours, part) => {
    const { api } = await createPager();
    const body = { type: "email", name: "A", to: ["a@b.example"], quietHours };
    const { status, text } = await api("POST", "/api/v1/alert-channels", { body });
    expect(status).toBe(422);
    expect(text).toContain(part);
  });

  test("for services that open cases", async () => {
    const { api } = await createPager();
    const body = { type: "pagerduty", name: "A", routingKey: "r".repeat(32) };
    const created = await api("POST", "/api/v1/alert-channels", {
      body: { ...body, quietHours: night },
    });
    expect([created.status, created.text]).toEqual([422, expect.stringContaining("quietHours")]);
    const { json } = await api("POST", "/api/v1/alert-channels", { body });
    const path = `/api/v1/alert-channels/${json.data.id}`;
    expect((await api("PATCH", path, { body: { quietHours: night } })).status).toBe(422);
  });
});
