import { describe, expect, test } from "bun:test";
import {
  type Ancestor,
  decideHold,
  type Outage,
} from "../../src/alerting/deciding/holding-rules.ts";
import { createPager } from "../support/pager.ts";

const outage: Outage = {
  since: 100_000,
  lastCheckedAt: 100_000,
  successes: 0,
  patienceMs: 30_000,
  behind: null,
};
const router: Ancestor = {
  id: "router",
  name: "Router",
  status: "up",
  since: 0,
  lastCheckedAt: 101_000,
  failures: 0,
  patienceMs: 40_000,
  notifies: true,
};
const decide = (ancestor: Partial<Ancestor>, now = 101_000, own: Partial<Outage> = {}) =>
  decideHold({ ...outage, ...own }, [{ ...router, ...ancestor }], now);

describe("the alert of an outage", () => {
  test("is sent if the monitors on which it depends were checked successfully since", () => {
    expect(decide({})).toBeNull();
    expect(decide({ status: "degraded" })).toBeNull();
    expect(decide({ status: "maintenance" })).toBeNull();
    expect(decide({ status: "pending", lastCheckedAt: 0 })).toBeNull();
  });

  test("is held behind the monitor that went down first", () => {
    const parents = [router, { ...router, id: "provider", since: 90_000 }].map((one) => ({
      ...one,
      status: "down" as const,
    }));
    expect(decideHold(outage, parents, 101_000)?.behind).toBe("router");
    expect(decideHold(outage, parents.toReversed(), 101_000)?.behind).toBe("router");
  });

  test("is not held behind a monitor of whose outage nobody hears", () => {
    expect(decide({ status: "down", notifies: false })).toBeNull();
  });

  test("waits for a check of the others, but no longer than that takes", () => {
    const unchecked = { lastCheckedAt: 99_000 };
    expect(decide(unchecked)).toEqual({ behind: null, until: 103_000 });
    expect(decide({ failures: 1 }, 139_500)).toEqual({ behind: null, until: 140_000 });
    expect(decide(unchecked, 140_000)).toBeNull();
    expect(decide({ ...unchecked, patienceMs: 10 * 3_600_000 }, 399_999)).not.toBeNull();
    expect(decide({ ...unchecked, patienceMs: 10 * 3_600_000 }, 400_000)).toBeNull();
  });

  test("waits for its own check after the others are up again", () => {
    const back = { since: 150_000, lastCheckedAt: 150_000 };
    expect(decide(back, 151_000)).toEqual({ behind: null, until: 153_000 });
    expect(decide(back, 151_000, { lastCheckedAt: 150_500 })).toBeNull();
    expect(decide(back, 151_000, { lastCheckedAt: 150_500, successes: 1 })).not.toBeNull();
    expect(decide(back, 180_000)).toBeNull();
  });

  test("is held behind one that fails in its maintenance, until it works and the own check has run", () => {
    const planned = { status: "maintenance", since: 90_000 } as const;
    expect(decide({ ...planned, failures: 1 })).toEqual({ behind: "router", until: 131_000 });
    expect(decide({ ...planned, lastCheckedAt: 99_000 })).toEqual({ behind: null, until: 103_000 });
    const back = { behind: "router" };
    expect(decide(planned, 150_000, back)).toEqual({ behind: null, until: 180_000 });
    expect(decide(planned, 180_000)).toBeNull();
    expect(decide({ ...planned, failures: 1, notifies: false })).toBeNull();
  });

  test("does not wait for hours if the clock went back", () => {
    expect(decide({ lastCheckedAt: 0 }, -10_000_000)).toBeNull();
  });
});

/** A router, and two jobs that depend on it. */
async function createNetwork(fields: object = {}) {
  const pager = await createPager();
  const inbox = await pager.inbox();
  const router = await pager.createWatchedJob([inbox], { name: "Router", ...fields });
  const shop = await pager.createWatchedJob([inbox], { name: "Shop", dependsOn: [router.id] });
  const group = await pager.group({ dependsOn: [router.id] });
  const mail = await pager.createWatchedJob([inbox], { name: "Mail", groupId: group.id });
  const timelineOf = async ({ id }: { id: string }) => {
    const [alert] = await pager.readAlerts(`&monitorId=${id}`);
    const { json } = await pager.api("GET", `/api/v1/alerts/${alert?.id}`);
    return json.data.timeline.map((entry: { type: string; message: string | null }) =>
      entry.type === "held" ? `held: ${entry.message}` : entry.type,
    ) as string[];
  };
  return { ...pager, inbox, router, shop, mail, timelineOf };
}

describe("monitors behind a router", () => {
  test("send no alerts while it is down, and its alert says how many there are", async () => {
    const { router, shop, mail, inbox, later, timelineOf } = await createNetwork();
    await router.changeState("down");
    await shop.changeState("down");
    await mail.changeState("down");
    await later(600);
    expect(inbox.listTitles()).toEqual(["monitor.down Router"]);
    expect(inbox.received()[0]?.data.behind).toBe(2);
    expect(await timelineOf(shop)).toEqual([
      "opened",
      "held: Router is down, on which it depends.",
    ]);
  });

  test("send none either if they fail before it does", async () => {
    const { router, shop, mail, inbox, later } = await createNetwork();
    await shop.changeState("down");
    await mail.changeState("down");
    await later(5);
    await router.changeState("down");
    await later(600);
    expect(inbox.listTitles()).toEqual(["monitor.down Router"]);
  });

  test("send none while its maintenance takes it down, and theirs if they are still down afterwards", async () => {
    const { api, maintenance, router, shop, mail, inbox, later, time, timelineOf } =
      await createNetwork();
    const body = {
      title: "Firmware",
      startsAt: new Date(time.now).toISOString(),
      endsAt: new Date(time.now + 3_600_000).toISOString(),
      monitorIds: [router.id],
    };
    expect((await api("POST", "/api/v1/maintenance-windows", { body })).status).toBe(201);
    await maintenance.runOnce();
    await shop.changeState("down");
    await router.changeState("down");
    await mail.changeState("down");
    for (let i = 0; i < 20; i++) await later(60);
    expect(inbox.listTitles()).toEqual([]);
    expect(await timelineOf(mail)).toEqual([
      "opened",
      "held: Router is down, on which it depends.",
    ]);
    await router.changeState("up");
    await mail.changeState("up");
    for (let i = 0; i < 12; i++) await later(60);
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
  });

  test("send theirs even if the clock was a day ahead when they failed", async () => {
    const { shop, inbox, later, time } = await createNetwork();
    time.now += 86_400_000;
    await shop.changeState("down");
    await later(1);
    expect(inbox.listTitles()).toEqual([]);
    time.now -= 86_400_000;
    await later(60);
    await later(60);
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
  });

  test("send theirs if they are still down after it recovered, and no others", async () => {
    const { router, shop, mail, inbox, later, deliverTwiceAfter } = await createNetwork();
    await router.changeState("down");
    await shop.changeState("down");
    await mail.changeState("down");
    await later(60);
    await router.changeState("up");
    await mail.changeState("up");
    await later();
    expect(inbox.listTitles()).toEqual(["monitor.down Router", "monitor.up Router"]);
    await deliverTwiceAfter(400);
    expect(inbox.listTitles().slice(2)).toEqual(["monitor.down Shop"]);
    await shop.changeState("up");
    await later();
    expect(inbox.listTitles().slice(3)).toEqual(["monitor.up Shop"]);
  });

  test("send the recovery of a reported outage at once, although it is down by then", async () => {
    const { router, shop, inbox, later, deliverTwiceAfter } = await createNetwork();
    await shop.changeState("down");
    await router.changeState("up");
    await deliverTwiceAfter(3);
    await router.changeState("down");
    await later();
    await shop.changeState("up");
    await later();
    expect(inbox.listTitles()).toEqual([
      "monitor.down Shop",
      "monitor.down Router",
      "monitor.up Shop",
    ]);
  });

  test("send theirs at once if it was checked after they failed", async () => {
    const { router, shop, inbox, later, deliverTwiceAfter } = await createNetwork();
    await shop.changeState("down");
    await later();
    expect(inbox.listTitles()).toEqual([]);
    await router.changeState("up");
    await deliverTwiceAfter(3);
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
  });

  test("send theirs if nobody hears of its outage", async () => {
    const { router, shop, inbox, later } = await createNetwork({ muted: true });
    await router.changeState("down");
    await shop.changeState("down");
    await later();
    expect(inbox.listTitles()).toEqual(["monitor.down Shop"]);
  });

  test("send none if an escalation policy handles its outage", async () => {
    const pager = await createPager();
    const inbox = await pager.inbox();
    const targets = [{ type: "channel", id: inbox.id }];
    const body = { name: "Network", steps: [{ afterMinutes: 0, targets }] };
    const policy = (await pager.api("POST", "/api/v1/escalation-policies", { body })).json.data;
    const router = await pager.createWatchedJob([], { name: "A", escalationPolicyId: policy.id });
    const shop = await pager.createWatchedJob([inbox], { name: "B", dependsOn: [router.id] });
    await router.changeState("down");
    await shop.changeState("down");
    await pager.deliverTwiceAfter(10);
    expect(inbox.listTitles()).toEqual(["monitor.down A"]);
  });

  test("send theirs soon after it is deleted, paused, or no longer depended on", async () => {
    for (const end of ["delete", "pause", "unlink"] as const) {
      const { router, shop, inbox, later, deliverTwiceAfter, restart, api } = await createNetwork();
      await router.changeState("down");
      await shop.changeState("down");
      await later();
      restart();
      if (end === "delete") await api("DELETE", `/api/v1/monitors/${router.id}`);
      if (end === "pause") await router.change({ paused: true });
      if (end === "unlink") await shop.change({ dependsOn: [] });
      await deliverTwiceAfter(end === "unlink" ? 1 : 301);
      expect(inbox.listTitles()).toContain("monitor.down Shop");
    }
  });
});

describe("a held alert", () => {
  /** A router that is down, and a shop behind it with an escalation policy. */
  async function createHeld() {
    const pager = await createPager();
    const { api, later } = pager;
    const [office, phone] = [await pager.inbox(), await pager.inbox()];
    const steps = [{ afterMinutes: 0, targets: [{ type: "channel", id: phone.id }] }];
    const policy = await api("POST", "/api/v1/escalation-policies", { body: { name: "P", steps } });
    const router = await pager.createWatchedJob([office], { name: "Router" });
    const fields = { dependsOn: [router.id], escalationPolicyId: policy.json.data.id };
    const shop = await pager.createWatchedJob([office], { name: "Shop", ...fields });
    await router.changeState("down");
    await shop.changeState("down");
    await later();
    const act = async (action: string, body: object = {}) => {
      const [alert] = await pager.readAlerts(`&monitorId=${shop.id}`);
      const path = `/api/v1/alerts/${alert?.["id"]}/${action}`;
      expect((await api("POST", path, { body })).status).toBe(200);
      await later();
    };
    return {
      ...pager,
      act,
      snooze: (minutes: number) =>
        act("snooze", { until: new Date(pager.time.now + minutes * 60_000).toISOString() }),
      /** The router recovers, and the shop is still down at its next check. */
      recover: async () => {
        await router.changeState("up");
        await shop.changeState("down");
        await pager.deliverTwiceAfter(3);
      },
      listOffice: () => office.listTitles().filter((title) => title.includes("Shop")),
      listPhone: phone.listTitles,
    };
  }

  test("does not escalate at the end of a snooze, but after the router has recovered", async () => {
    const { snooze, recover, later, deliverTwiceAfter, listOffice, listPhone } = await createHeld();
    await snooze(30);
    await later(1_800);
    await deliverTwiceAfter(600);
    expect([listOffice(), listPhone()]).toEqual([[], []]);
    await recover();
    expect([listOffice(), listPhone()]).toEqual([["monitor.down Shop"], ["monitor.down Shop"]]);
  });

  test("that is snoozed when the router recovers is sent at the end of the snooze", async () => {
    const { snooze, recover, deliverTwiceAfter, listOffice, listPhone } = await createHeld();
    await snooze(30);
    await recover();
    expect([listOffice(), listPhone()]).toEqual([[], []]);
    await deliverTwiceAfter(1_800);
    expect(listOffice()).toEqual(["monitor.reminder Shop"]);
    expect(listPhone()).toEqual(["monitor.down Shop"]);
  });

  test("that was acknowledged escalates once it is opened again", async () => {
    const { act, recover, deliverTwiceAfter, listPhone } = await createHeld();
    await act("acknowledge");
    await recover();
    expect(listPhone()).toEqual([]);
    await act("unacknowledge");
    await deliverTwiceAfter(3);
    expect(listPhone()).toEqual(["monitor.down Shop"]);
  });
});
