/** An appliance with a recorded history of actions, for comparison with the alert model. */
import { expect } from "bun:test";
import { alertsOn } from "./appliance.ts";
import { sha256 } from "../../src/core/ids.ts";
import { CheckEngine } from "../../src/monitoring/checks/engine/check-engine.ts";
import { lastSeq, readSince } from "../../src/events/log.ts";
import {
  arriving,
  type Attempt,
  isGivenUp,
  lostBy,
  patienceSeconds,
  type Reply,
} from "./alert-model-deliveries.ts";
import { type ModelEvent, keyOf, type State, expectedNotifications } from "./alert-model.ts";
import { dashboard } from "./dashboard.ts";
import { answer, reset, type Target } from "./target.ts";
import { isStateChange } from "./watch.ts";
import type { Json } from "./json.ts";

const replies = {
  well: answer(),
  broken: answer(500),
  busy: answer(429, "", { "retry-after": String(patienceSeconds) }),
  closed: reset,
  refused: answer(403),
  gone: answer(410),
};

/** An appliance with jobs, channels and receivers, and the history of all actions on it. */
export async function alertedWorld(server: Target) {
  const made = await dashboard();
  const { appliance, store, time, api, database } = made;
  const history: ModelEvent[] = [];
  const attempts: Attempt[] = [];
  /** Deliveries that were waiting when their channel was removed or disabled. */
  const lost = new Set<string>();
  const doubtful = new Set<string>();
  const inMaintenance = new Set<string>();
  const incidents: string[] = [];
  let seq = await lastSeq(store);
  let seen = 0;
  let alerts = alertsOn(appliance);

  const group = await made.group({ name: "Both" });
  const paths = new Map<string, string>();
  const modes = new Map<string, Reply>();
  const slots: (string | null)[] = [null, null, null];
  const jobs: { id: string; token: string; paused: boolean; attached: string[] }[] = [];
  const job = (index: number) => jobs[index] as (typeof jobs)[number];

  /** Messages that arrived since the last call. */
  function observe(): number {
    const fresh = attempts.slice(seen);
    seen = attempts.length;
    for (const one of fresh) {
      const its = attempts.slice(0, attempts.indexOf(one) + 1);
      const { channel, at } = one;
      const isOver = isGivenUp(its.filter((a) => a.channel === channel));
      if (isOver) for (const alert of one.alerts) lost.add(keyOf({ ...alert, channel }));
      // A permanent failure is recorded at once, and the next delivery is sent.
      if (!isOver && one.reply !== "refused") continue;
      const wasTold = history.some(
        (event) =>
          event.is === "given up" &&
          event.channel === channel &&
          !its.some((a) => a.channel === channel && a.reply === "well" && a.at >= event.at),
      );
      if (!wasTold) history.push({ is: "given up", channel, at });
    }
    return fresh.length;
  }

  async function look() {
    do {
      await readLog();
      await alerts.runOnce();
      history.push({ is: "look", at: time.now });
      history.push({ is: "lost", at: time.now, expectedNotifications: lostBy(database) });
    } while (observe() > 0);
  }

  async function readLog() {
    for (const event of await readSince(store, seq, 10_000)) {
      seq = event.seq;
      const at = Date.parse(event.at);
      const { type, subjectId } = event;
      if (isStateChange(event))
        history.push({ is: "state", at, monitor: subjectId, to: type.slice(8) as State });
      const { data } = event;
      if (data === undefined || !("updateId" in data) || data.updateId === null) continue;
      const of = (await api("GET", `/api/v1/incidents/${subjectId}`)).json.data.monitorId;
      const automatic = data.automatic === true;
      if (type === "incident.opened") incidents.push(subjectId);
      history.push({ is: "incident", at, incident: subjectId, type, of, automatic });
    }
  }

  /** Every action has its own timestamp. */
  const tick = () => void (time.now += 1);

  function waiting(channel: string) {
    const arrived = new Set(
      attempts
        .filter(({ reply }) => reply === "well")
        .flatMap((one) => one.alerts.map((alert) => keyOf({ ...alert, channel: one.channel }))),
    );
    return expectedNotifications(history)
      .filter((one) => one.channel === channel && !arrived.has(keyOf(one)))
      .map(keyOf);
  }

  async function report(index: number, status: "up" | "down" | "slow") {
    tick();
    const held = { countsUptime: false };
    const maintenanceOf = ({ id }: { id: string }) => (inMaintenance.has(id) ? held : null);
    const engine = new CheckEngine({ ...appliance, monotonic: () => time.now, maintenanceOf });
    const latencyMs = status === "slow" ? 500 : 1;
    const found = status === "down" ? "down" : "up";
    await engine.report(job(index).token, { status: found, message: null, latencyMs });
    await readLog();
  }

  const monitorIs = (index: number, now: object) =>
    void history.push({ is: "monitor", at: time.now, monitor: job(index).id, now });

  async function change(index: number, fields: object, now: object) {
    expect((await made.changeMonitor(job(index).id, fields)).status).toBe(200);
    monitorIs(index, now);
  }

  const does = {
    report,
    look,
    async pass(seconds: number, looks = 1) {
      for (let i = 0; i < looks; i++) {
        time.now += Math.round((seconds * 1000) / looks);
        await look();
      }
    },
    /** Changes the state several times, with the alert engine running or paused. */
    async flutter(index: number, times: number, seconds: number, isAwake: boolean) {
      for (let i = 0; i < times; i++) {
        await report(index, i % 2 === 0 ? "down" : "up");
        time.now += seconds * 1000;
        if (isAwake) await look();
      }
    },
    restart() {
      alerts = alertsOn(appliance);
    },
    mute: (index: number, muted: boolean) => change(index, { muted }, { muted }),
    muteGroup(muted: boolean) {
      database.run("UPDATE monitor_groups SET muted = ? WHERE id = ?", [muted, group.id]);
      for (const index of [0, 1]) monitorIs(index, { groupMuted: muted });
    },
    async pause(index: number, paused: boolean) {
      if (job(index).paused === paused) return;
      job(index).paused = paused;
      await change(index, { paused }, {});
      tick();
      history.push({ is: "state", at: time.now, monitor: job(index).id, to: "pending" });
    },
    async renew(index: number) {
      await does.pause(index, true);
      await look();
      await does.pause(index, false);
    },
    maintain(index: number, isOn: boolean) {
      if (isOn) inMaintenance.add(job(index).id);
      else inMaintenance.delete(job(index).id);
    },
    async attach(index: number, wanted: readonly number[]) {
      const attached = wanted.flatMap((slot) => slots[slot] ?? []);
      await change(index, { alertChannelIds: attached }, { attached });
    },
    remind: (index: number, seconds: number | null) =>
      change(
        index,
        { reminderInterval: seconds },
        { reminderMs: seconds === null ? null : seconds * 1000 },
      ),
    automatic: (index: number, isOn: boolean) =>
      change(index, { autoIncidentSeverity: isOn ? "minor" : null }, {}),
    async create(slot: number, isDefault: boolean) {
      if (slots[slot] !== null) return;
      const path = `/${group.id}/${paths.size}`;
      const fields = { type: "webhook", name: path, url: server.at(path), default: isDefault };
      const { id } = await made.channel(fields);
      paths.set(id, path);
      slots[slot] = id;
      const now = { enabled: true, incidents: true, default: isDefault };
      history.push({ is: "channel", at: time.now, channel: id, now });
      does.receive(slot, "well");
    },
    receive(slot: number, mode: Reply) {
      const channel = slots[slot];
      if (typeof channel !== "string") return;
      modes.set(channel, mode);
      server.reply((response) => {
        const { headers, body } = server.asked.at(-1) as Target["asked"][number];
        const sent = JSON.parse(body);
        const alerts = (sent.type === "digest" ? sent.data.alerts : [sent]).map(arrived);
        const delivery = String(headers["webhook-id"]);
        attempts.push({ channel, delivery, at: time.now, body, alerts, reply: mode });
        replies[mode](response);
      }, paths.get(channel));
    },
    async patch(
      slot: number,
      fields: { enabled?: boolean; incidents?: boolean; default?: boolean },
    ) {
      const channel = slots[slot];
      if (typeof channel !== "string") return;
      const { status } = await api("PATCH", `/api/v1/alert-channels/${channel}`, { body: fields });
      expect(status).toBe(200);
      history.push({ is: "channel", at: time.now, channel, now: fields });
      if (fields.enabled === false) for (const key of waiting(channel)) doubtful.add(key);
    },
    async remove(slot: number) {
      const channel = slots[slot];
      if (typeof channel !== "string") return;
      for (const key of waiting(channel)) lost.add(key);
      expect((await api("DELETE", `/api/v1/alert-channels/${channel}`)).status).toBe(200);
      slots[slot] = null;
      history.push({ is: "channel", at: time.now, channel, now: null });
    },
    async open(of: number | null) {
      tick();
      const monitorId = of === null ? null : job(of).id;
      await api("POST", "/api/v1/incidents", { body: { title: "Slow", monitorId } });
    },
    async post(which: number, body: object) {
      tick();
      const id = incidents.at(-1 - which);
      if (id !== undefined) await api("PATCH", `/api/v1/incidents/${id}`, { body });
    },
    /** Makes all monitors recover and sends all deliveries. */
    async heal() {
      for (const slot of slots.keys()) does.receive(slot, "well");
      for (const index of jobs.keys()) await does.remind(index, null);
      for (const seconds of [3_600, 3_600, 20, 20]) await does.pass(seconds);
    },
  };

  for (const slot of slots.keys()) await does.create(slot, slot === 2);
  for (const index of [0, 1, 2]) {
    const fields = { name: `Job ${index}`, retries: 0, interval: 86_400, degradedAfterMs: 100 };
    const groupId = index < 2 ? group.id : null;
    const { id, pushUrl } = await made.monitor({ type: "push", groupId, ...fields });
    const token = sha256(new URL(pushUrl).pathname.slice("/push/".length));
    jobs.push({ id, token, paused: false, attached: [] });
    monitorIs(index, { muted: false, groupMuted: false, attached: [], reminderMs: null });
    await does.attach(index, index === 2 ? [2] : [index, 2]);
    await does.report(index, "up");
  }
  await look();

  return {
    ...does,
    attempts,
    history,
    /** Expected and actual alerts, by channel and subject, in order. */
    compared() {
      const told = expectedNotifications(history);
      const well = attempts.filter(({ reply }) => reply === "well");
      const arrivedAt = (channel: string) =>
        well.filter((one) => one.channel === channel).flatMap((one) => one.alerts);
      const pairs = [...paths.keys()].map((channel) => {
        const got = arrivedAt(channel);
        const keys = new Set(got.map((one) => keyOf({ ...one, channel })));
        const isLost = (one: (typeof told)[number]) =>
          lost.has(keyOf(one)) || (doubtful.has(keyOf(one)) && !keys.has(keyOf(one)));
        return {
          path: `channel ${[...paths.keys()].indexOf(channel)}`,
          wanted: arriving(told, channel, isLost),
          got,
        };
      });
      const named = nameSubjects();
      const lines = (side: "wanted" | "got") =>
        Object.fromEntries(pairs.map((pair) => [pair.path, bySubject(named, pair[side])]));
      return { wanted: lines("wanted"), got: lines("got") };
    },
    /** Violations of rules about deliveries and alerts. */
    oddities() {
      const odd: string[] = [];
      for (const [id, its] of Map.groupBy(attempts, ({ delivery }) => delivery)) {
        if (new Set(its.map(({ body }) => body)).size > 1) odd.push(`${id} had two bodies`);
        if (its.filter(({ reply }) => reply === "well").length > 1) odd.push(`${id} came twice`);
      }
      const alerts = attempts.flatMap((one) => one.alerts);
      const named = ({ type, subject, at }: (typeof alerts)[number]) => `${type} ${subject} ${at}`;
      for (const [name, its] of Map.groupBy(alerts, named))
        if (new Set(its.map(({ alertId }) => alertId)).size > 1) odd.push(`${name} had two ids`);
      return odd;
    },
  };

  function nameSubjects() {
    const names = new Map(jobs.map(({ id }, index) => [id, `job ${index}`]));
    incidents.forEach((id, index) => names.set(id, `incident ${index}`));
    [...paths.keys()].forEach((id, index) => names.set(id, `channel ${index}`));
    return (id: string) => names.get(id) ?? id;
  }
}

/** `10:00:05.001 monitor.down` of each subject, in order. */
function bySubject(
  named: (id: string) => string,
  all: readonly { subject: string; type: string; at: number }[],
) {
  const groups = Map.groupBy(all, ({ subject }) => named(subject));
  const line = ({ type, at }: { type: string; at: number }) =>
    `${new Date(at).toISOString()} ${type}`;
  return Object.fromEntries([...groups].map(([name, list]) => [name, list.map(line)]));
}

function arrived({ type, timestamp, data }: { type: string; timestamp: string; data: Json }) {
  const subject = (data.monitor ?? data.incident ?? data.channel).id as string;
  return { alertId: data.alertId as string, subject, type, at: Date.parse(timestamp) };
}

export type AlertedWorld = Awaited<ReturnType<typeof alertedWorld>>;
