import { describe, expect, test } from "bun:test";
import type { Cause } from "../../src/core/causes.ts";
import { CauseMemory } from "../../src/alerting/deciding/cause-memory.ts";
import {
  describeCause,
  isCovered,
  isTogether,
  type JoinedOutage,
  pickCommonCause,
} from "../../src/alerting/deciding/joining-rules.ts";
import { getFreePort } from "../support/binary.ts";
import { createPager } from "../support/pager.ts";

const outage: JoinedOutage = {
  since: 100_000,
  priority: "normal",
  channels: ["team"],
  policyId: null,
  reminderMs: null,
};
const covers = (own: Partial<JoinedOutage>, other: Partial<JoinedOutage> = {}) =>
  isCovered({ ...outage, ...own }, { ...outage, ...other });

describe("an outage", () => {
  test("is covered by an alert that reaches the same people as urgently", () => {
    expect(covers({})).toBeTrue();
    expect(covers({ channels: ["team", "other"] })).toBeFalse();
    expect(covers({}, { channels: ["other", "team"] })).toBeTrue();
    expect(covers({ channels: [] }, { channels: [] })).toBeFalse();
    expect(covers({ priority: "critical" })).toBeFalse();
    expect(covers({ priority: "low" }, { priority: "critical" })).toBeTrue();
    expect(covers({ policyId: "night" })).toBeFalse();
    expect(covers({ channels: [], policyId: "night" }, { policyId: "night" })).toBeTrue();
    expect(covers({ reminderMs: 600_000 })).toBeFalse();
    expect(covers({ reminderMs: 600_000 }, { reminderMs: 900_000 })).toBeFalse();
    expect(covers({ reminderMs: 600_000 }, { reminderMs: 300_000 })).toBeTrue();
  });

  test("is together with one that started within a minute", () => {
    expect(isTogether(outage, { ...outage, since: 160_000 })).toBeTrue();
    expect(isTogether(outage, { ...outage, since: 40_000 })).toBeTrue();
    expect(isTogether(outage, { ...outage, since: 160_001 })).toBeFalse();
  });

  test("is named by what all have in common", () => {
    const host: Cause = { kind: "host", value: "db1.lan" };
    const address: Cause = { kind: "address", value: "10.0.0.5" };
    expect(pickCommonCause([])).toBeNull();
    expect(pickCommonCause([host, host])).toBe(host);
    expect(pickCommonCause([host, address, host])).toBe(address);
    expect([host, address].map(describeCause)).toEqual(["on db1.lan", "on 10.0.0.5"]);
  });

  test("finds the reported ones of its organization by the most specific cause first", () => {
    const memory = new CauseMemory();
    const host: Cause = { kind: "host", value: "db1.lan" };
    const address: Cause = { kind: "address", value: "10.0.0.5" };
    const add = (monitorId: string, causes: Cause[], since = "1") =>
      memory.add("acme", causes, { monitorId, since });
    add("a", [address]);
    add("b", [host, address]);
    add("a", [address], "2");
    const found = memory.find("acme", [host, address]);
    expect(found.map(({ monitorId, since, cause }) => [cause.kind, monitorId, since])).toEqual([
      ["host", "b", "1"],
      ["address", "b", "1"],
      ["address", "a", "2"],
    ]);
    expect(memory.find("other", [host, address])).toEqual([]);
    for (let number = 0; number < 10_001; number++)
      add("c", [{ kind: "address", value: String(number) }]);
    expect(memory.find("acme", [host])).toEqual([]);
    expect(memory.find("acme", [{ kind: "address", value: "0" }])).toEqual([]);
    expect(memory.find("acme", [{ kind: "address", value: "1" }])).toHaveLength(1);
  });
});

/** Ports on one machine that are closed and opened together, and monitors that are checked on demand. */
async function createRack() {
  const pager = await createPager();
  const open = () => {
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: getFreePort(),
      socket: { data() {} },
    });
    return server;
  };
  const { api, time, monitor, engine } = pager;
  const createPort = async (name: string, channels: readonly { id: string }[], fields = {}) => {
    let server: ReturnType<typeof open> | null = open();
    const { port } = server;
    const alertChannelIds = channels.map(({ id }) => id);
    const base = { type: "tcp", host: "127.0.0.1", port, retries: 0, interval: 3_600 };
    const { id } = await monitor({ ...base, name, alertChannelIds, ...fields });
    const check = async () => {
      time.now += 1_000;
      await api("POST", `/api/v1/monitors/${id}/check`);
    };
    await check();
    return {
      id,
      name,
      check,
      fail: async () => {
        server?.stop(true);
        server = null;
        await check();
      },
      recover: async () => {
        server = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
        await check();
      },
    };
  };
  const timelineOf = async ({ id }: { id: string }) => {
    const [alert] = (await pager.readAlerts(`&monitorId=${id}`)).toReversed();
    return (await pager.readAlert(alert?.id)).timeline
      .filter(({ type }: { type: string }) => type === "held" || type === "joined")
      .map(({ message }: { message: string }) => message) as string[];
  };
  return { ...pager, engine, createPort, timelineOf };
}

describe("ports of one machine that are closed within a minute", () => {
  test("are one alert, an update that names all, and one recovery", async () => {
    const { createPort, inbox, later, readAlert, readAlerts, timelineOf } = await createRack();
    const team = await inbox();
    const [a, b, c] = [
      await createPort("A", [team]),
      await createPort("B", [team], { priority: "low" }),
      await createPort("C", [team]),
    ];
    await a.fail();
    await later();
    await b.fail();
    await c.fail();
    await later(20);
    expect(team.listTitles()).toEqual(["monitor.down A"]);
    await later(60);
    await later();
    expect(team.listTitles()).toEqual(["monitor.down A", "monitor.down A"]);
    const joined = { place: "on 127.0.0.1", count: 2 };
    expect(team.alerts()[1]?.data.joined).toMatchObject(joined);
    const [alert] = await readAlerts(`&monitorId=${a.id}`);
    expect((await readAlert(alert?.id)).title).toBe("3 monitors on 127.0.0.1 are down");
    const covered = (await readAlerts("&status=open")).map(({ subject, coveredBy }) => [
      subject.id,
      coveredBy,
    ]);
    expect(covered).toEqual([
      [a.id, undefined],
      [b.id, alert?.id],
      [c.id, alert?.id],
    ]);
    expect(await timelineOf(a)).toEqual(["Also down on 127.0.0.1: B, C."]);
    expect(await timelineOf(b)).toEqual(["A is down, too, on 127.0.0.1: its alert covers both."]);
    await b.recover();
    await a.recover();
    await c.recover();
    await later();
    expect(team.listTitles().slice(2)).toEqual(["monitor.up A"]);
  });

  test("are named by reminders and by the steps of their policy, until someone acknowledges", async () => {
    const { createPort, inbox, later, api, readAlerts } = await createRack();
    const [team, boss] = [await inbox(), await inbox()];
    const step = { afterMinutes: 2, targets: [{ type: "channel", id: boss.id }] };
    const body = { name: "Office", default: true, steps: [step, { ...step, afterMinutes: 30 }] };
    await api("POST", "/api/v1/escalation-policies", { body });
    const fields = { reminderInterval: 300 };
    const [a, b] = [await createPort("A", [team], fields), await createPort("B", [team], fields)];
    await a.fail();
    await b.fail();
    for (let minute = 0; minute < 6; minute++) await later(60);
    expect(boss.alerts().map(({ data }) => [data.escalation.step, data.joined?.count])).toEqual([
      [1, 1],
    ]);
    const sent = team.alerts().map(({ type, data }) => [type, data.joined?.count]);
    expect(sent).toEqual([
      ["monitor.down", undefined],
      ["monitor.down", 1],
      ["monitor.reminder", 1],
    ]);
    const [alert] = await readAlerts(`&monitorId=${a.id}`);
    await api("POST", `/api/v1/alerts/${alert?.id}/acknowledge`);
    for (let minute = 0; minute < 30; minute++) await later(60);
    expect([boss.alerts().length, team.alerts().length]).toEqual([1, 3]);
  });

  test("are reported if they are still closed when the first one is open again", async () => {
    const { createPort, inbox, later, deliverTwiceAfter } = await createRack();
    const team = await inbox();
    const [a, b] = [await createPort("A", [team]), await createPort("B", [team])];
    await a.fail();
    await b.fail();
    await later();
    await a.recover();
    await b.check();
    await deliverTwiceAfter(10);
    expect(team.listTitles()).toEqual(["monitor.down A", "monitor.up A", "monitor.down B"]);
    await b.recover();
    await later();
    expect(team.listTitles().slice(3)).toEqual(["monitor.up B"]);
  });

  test("are reported one by one to other channels, if more urgent, too late, or if that is off", async () => {
    const { createPort, inbox, later, api } = await createRack();
    const [team, others] = [await inbox(), await inbox()];
    const [a, b, c, d, e] = [
      await createPort("A", [team]),
      await createPort("B", [team, others]),
      await createPort("C", [team], { priority: "critical" }),
      await createPort("D", [team]),
      await createPort("E", [team]),
    ];
    await a.fail();
    await b.fail();
    await c.fail();
    await later(70);
    await d.fail();
    await later();
    expect(team.listTitles()).toEqual(["A", "B", "C", "D"].map((name) => `monitor.down ${name}`));
    expect(others.listTitles()).toEqual(["monitor.down B"]);
    await api("PATCH", "/api/v1/settings", { body: { oneAlertPerCause: false } });
    await e.fail();
    await later();
    expect(team.listTitles().at(-1)).toBe("monitor.down E");
  });

  test("are reported soon after the first one is muted, or nobody is notified of it any more", async () => {
    const { createPort, inbox, later, deliverTwiceAfter, changeMonitor } = await createRack();
    const team = await inbox();
    const [a, b] = [await createPort("A", [team]), await createPort("B", [team])];
    await a.fail();
    await b.fail();
    await later();
    await changeMonitor(a.id, { muted: true });
    await deliverTwiceAfter(301);
    expect(team.listTitles().at(-1)).toBe("monitor.down B");
  });

  test("are one alert after a kill in between, too, or are reported: none is lost", async () => {
    const { createPort, inbox, later, restart } = await createRack();
    const team = await inbox();
    const [a, b, c] = [
      await createPort("A", [team]),
      await createPort("B", [team]),
      await createPort("C", [team]),
    ];
    await a.fail();
    await b.fail();
    await later();
    restart();
    await c.fail();
    await later(70);
    await later();
    expect(team.listTitles()).toEqual(["monitor.down A", "monitor.down C", "monitor.down A"]);
    expect(team.alerts()[2]?.data.joined.monitors).toEqual([{ id: b.id, name: "B" }]);
  });
});
