/** An appliance with a recorded history of actions, for comparison with the alert model. */
import { createReport } from "../../src/monitoring/jobs/report-rules.ts";
import { expect } from "bun:test";
import { createAlertsEngine } from "./appliance.ts";
import { sha256 } from "../../src/core/ids.ts";
import { CheckEngine } from "../../src/monitoring/checks/engine/check-engine.ts";
import { findLastSeq, readSince } from "../../src/events/log.ts";
import {
  selectArriving,
  type Attempt,
  isGivenUp,
  readLost,
  maxRetryAfterSeconds,
  type Reply,
} from "./alert-model-deliveries.ts";
import { type ModelEvent, keyOf, type State, computeExpectedNotifications } from "./alert-model.ts";
import { createDashboard } from "./dashboard.ts";
import { replyWith, reset, type Target } from "./target.ts";
import { isStateChange } from "./check-board.ts";
import type { Json } from "./json.ts";

const replies = {
  well: replyWith(),
  broken: replyWith(500),
  busy: replyWith(429, "", { "retry-after": String(maxRetryAfterSeconds) }),
  closed: reset,
  refused: replyWith(403),
  gone: replyWith(410),
};

/** An appliance with jobs, channels and receivers, and the history of all actions on it. */
export async function createAlertedWorld(server: Target) {
  const board = await createDashboard();
  const { appliance, store, time, api, database } = board;
  const history: ModelEvent[] = [];
  const attempts: Attempt[] = [];
  /** Deliveries that were waiting when their channel was removed or disabled. */
  const lost = new Set<string>();
  const doubtful = new Set<string>();
  const inMaintenance = new Set<string>();
  const incidents: string[] = [];
  let seq = await findLastSeq(store);
  let seen = 0;
  let alerts = createAlertsEngine(appliance);

  const group = await board.group({ name: "Both" });
  const paths = new Map<string, string>();
  const modes = new Map<string, Reply>();
  const slots: (string | null)[] = [null, null, null];
  const jobs: { id: string; token: string; paused: boolean; attached: string[] }[] = [];
  const getJob = (index: number) => jobs[index] as (typeof jobs)[number];

  /** Messages that arrived since the last call. */
  function observe(): number {
    const fresh = attempts.slice(seen);
    seen = attempts.length;
    for (const one of fresh) {
      const earlierAttempts = attempts.slice(0, attempts.indexOf(one) + 1);
      const { channel, at } = one;
      const isOver = isGivenUp(earlierAttempts.filter((a) => a.channel === channel));
      if (isOver) for (const alert of one.alerts) lost.add(keyOf({ ...alert, channel }));
      // A permanent failure is recorded at once, and the next delivery is sent.
      if (!isOver && one.reply !== "refused") continue;
      const wasNotified = history.some(
        (event) =>
          event.kind === "given up" &&
          event.channel === channel &&
          !earlierAttempts.some(
            (a) => a.channel === channel && a.reply === "well" && a.at >= event.at,
          ),
      );
      if (!wasNotified) history.push({ kind: "given up", channel, at });
    }
    return fresh.length;
  }

  async function lookOnce() {
    do {
      await readLog();
      await alerts.runOnce();
      history.push({ kind: "look", at: time.now });
      history.push({ kind: "lost", at: time.now, expectedNotifications: readLost(database) });
    } while (observe() > 0);
  }

  async function readLog() {
    for (const event of await readSince(store, seq, 10_000)) {
      seq = event.seq;
      const at = Date.parse(event.at);
      const { type, subjectId } = event;
      if (isStateChange(event))
        history.push({ kind: "state", at, monitor: subjectId, to: type.slice(8) as State });
      const { data } = event;
      if (data === undefined || !("updateId" in data) || data.updateId === null) continue;
      const monitorId = (await api("GET", `/api/v1/incidents/${subjectId}`)).json.data.monitorId;
      const automatic = data.automatic === true;
      if (type === "incident.opened") incidents.push(subjectId);
      history.push({ kind: "incident", at, incident: subjectId, type, of: monitorId, automatic });
    }
  }

  /** Every action has its own timestamp. */
  const tick = () => void (time.now += 1);

  function listWaiting(channel: string) {
    const arrived = new Set(
      attempts
        .filter(({ reply }) => reply === "well")
        .flatMap((one) => one.alerts.map((alert) => keyOf({ ...alert, channel: one.channel }))),
    );
    return computeExpectedNotifications(history)
      .filter((one) => one.channel === channel && !arrived.has(keyOf(one)))
      .map(keyOf);
  }

  async function report(index: number, status: "up" | "down" | "slow") {
    tick();
    const held = { countsUptime: false };
    const maintenanceOf = ({ id }: { id: string }) => (inMaintenance.has(id) ? held : null);
    const engine = new CheckEngine({ ...appliance, monotonic: () => time.now, maintenanceOf });
    const latencyMs = status === "slow" ? 500 : 1;
    const kind = status === "down" ? "failure" : "success";
    await engine.report(getJob(index).token, createReport(kind, { latencyMs }));
    await readLog();
  }

  const recordMonitor = (index: number, now: object) =>
    void history.push({ kind: "monitor", at: time.now, monitor: getJob(index).id, now });

  async function change(index: number, fields: object, now: object) {
    expect((await board.changeMonitor(getJob(index).id, fields)).status).toBe(200);
    recordMonitor(index, now);
  }

  const does = {
    report,
    look: lookOnce,
    async passTime(seconds: number, looks = 1) {
      for (let i = 0; i < looks; i++) {
        time.now += Math.round((seconds * 1000) / looks);
        await lookOnce();
      }
    },
    /** Changes the state several times, with the alert engine running or paused. */
    async changeStateOften(index: number, times: number, seconds: number, isAwake: boolean) {
      for (let i = 0; i < times; i++) {
        await report(index, i % 2 === 0 ? "down" : "up");
        time.now += seconds * 1000;
        if (isAwake) await lookOnce();
      }
    },
    restart() {
      alerts = createAlertsEngine(appliance);
    },
    mute: (index: number, muted: boolean) => change(index, { muted }, { muted }),
    async muteGroup(muted: boolean) {
      await board.muteGroup(group.id, muted);
      for (const index of [0, 1]) recordMonitor(index, { groupMuted: muted });
    },
    async pause(index: number, paused: boolean) {
      if (getJob(index).paused === paused) return;
      getJob(index).paused = paused;
      await change(index, { paused }, {});
      tick();
      history.push({ kind: "state", at: time.now, monitor: getJob(index).id, to: "pending" });
    },
    async renew(index: number) {
      await does.pause(index, true);
      await lookOnce();
      await does.pause(index, false);
    },
    maintain(index: number, isOn: boolean) {
      if (isOn) inMaintenance.add(getJob(index).id);
      else inMaintenance.delete(getJob(index).id);
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
      const { id } = await board.channel(fields);
      paths.set(id, path);
      slots[slot] = id;
      const now = { enabled: true, incidents: true, default: isDefault };
      history.push({ kind: "channel", at: time.now, channel: id, now });
      does.receive(slot, "well");
    },
    receive(slot: number, mode: Reply) {
      const channel = slots[slot];
      if (typeof channel !== "string") return;
      modes.set(channel, mode);
      server.setReply((response) => {
        const { headers, body } = server.asked.at(-1) as Target["asked"][number];
        const sent = JSON.parse(body);
        const alerts = (sent.type === "digest" ? sent.data.alerts : [sent]).map(parseArrivedAlert);
        const delivery = String(headers["webhook-id"]);
        attempts.push({ channel, delivery, at: time.now, body, alerts, reply: mode });
        replies[mode](response);
      }, paths.get(channel));
    },
    async patchChannel(
      slot: number,
      fields: { enabled?: boolean; incidents?: boolean; default?: boolean },
    ) {
      const channel = slots[slot];
      if (typeof channel !== "string") return;
      const { status } = await api("PATCH", `/api/v1/alert-channels/${channel}`, { body: fields });
      expect(status).toBe(200);
      history.push({ kind: "channel", at: time.now, channel, now: fields });
      if (fields.enabled === false) for (const key of listWaiting(channel)) doubtful.add(key);
    },
    async remove(slot: number) {
      const channel = slots[slot];
      if (typeof channel !== "string") return;
      for (const key of listWaiting(channel)) lost.add(key);
      expect((await api("DELETE", `/api/v1/alert-channels/${channel}`)).status).toBe(200);
      slots[slot] = null;
      history.push({ kind: "channel", at: time.now, channel, now: null });
    },
    async open(of: number | null) {
      tick();
      const monitorId = of === null ? null : getJob(of).id;
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
      for (const seconds of [3_600, 3_600, 20, 20]) await does.passTime(seconds);
    },
  };

  for (const slot of slots.keys()) await does.create(slot, slot === 2);
  for (const index of [0, 1, 2]) {
    const fields = { name: `Job ${index}`, retries: 0, interval: 86_400, degradedAfterMs: 100 };
    const groupId = index < 2 ? group.id : null;
    const { id, pushUrl } = await board.monitor({ type: "push", groupId, ...fields });
    const token = sha256(new URL(pushUrl).pathname.slice("/push/".length));
    jobs.push({ id, token, paused: false, attached: [] });
    recordMonitor(index, { muted: false, groupMuted: false, attached: [], reminderMs: null });
    await does.attach(index, index === 2 ? [2] : [index, 2]);
    await does.report(index, "up");
  }
  await lookOnce();

  return {
    ...does,
    attempts,
    history,
    /** Expected and actual alerts, by channel and subject, in order. */
    compareAlerts() {
      const expected = computeExpectedNotifications(history);
      const well = attempts.filter(({ reply }) => reply === "well");
      const listArrived = (channel: string) =>
        well.filter((one) => one.channel === channel).flatMap((one) => one.alerts);
      const pairs = [...paths.keys()].map((channel) => {
        const got = listArrived(channel);
        const keys = new Set(got.map((one) => keyOf({ ...one, channel })));
        const isLost = (one: (typeof expected)[number]) =>
          lost.has(keyOf(one)) || (doubtful.has(keyOf(one)) && !keys.has(keyOf(one)));
        return {
          path: `channel ${[...paths.keys()].indexOf(channel)}`,
          wanted: selectArriving(expected, channel, isLost),
          got,
        };
      });
      const nameOfSubject = nameSubjects();
      const groupSide = (side: "wanted" | "got") =>
        Object.fromEntries(
          pairs.map((pair) => [pair.path, groupBySubject(nameOfSubject, pair[side])]),
        );
      return { wanted: groupSide("wanted"), got: groupSide("got") };
    },
    /** Violations of rules about deliveries and alerts. */
    findOddities() {
      const odd: string[] = [];
      for (const [id, ownAttempts] of Map.groupBy(attempts, ({ delivery }) => delivery)) {
        if (new Set(ownAttempts.map(({ body }) => body)).size > 1) odd.push(`${id} had two bodies`);
        if (ownAttempts.filter(({ reply }) => reply === "well").length > 1)
          odd.push(`${id} came twice`);
      }
      const alerts = attempts.flatMap((one) => one.alerts);
      const describeAlert = ({ type, subject, at }: (typeof alerts)[number]) =>
        `${type} ${subject} ${at}`;
      for (const [name, ownAlerts] of Map.groupBy(alerts, describeAlert))
        if (new Set(ownAlerts.map(({ alertId }) => alertId)).size > 1)
          odd.push(`${name} had two ids`);
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
function groupBySubject(
  named: (id: string) => string,
  all: readonly { subject: string; type: string; at: number }[],
) {
  const groups = Map.groupBy(all, ({ subject }) => named(subject));
  const formatLine = ({ type, at }: { type: string; at: number }) =>
    `${new Date(at).toISOString()} ${type}`;
  return Object.fromEntries([...groups].map(([name, list]) => [name, list.map(formatLine)]));
}

function parseArrivedAlert({
  type,
  timestamp,
  data,
}: {
  type: string;
  timestamp: string;
  data: Json;
}) {
  const subject = (data.monitor ?? data.incident ?? data.channel).id as string;
  return { alertId: data.alertId as string, subject, type, at: Date.parse(timestamp) };
}

export type AlertedWorld = Awaited<ReturnType<typeof createAlertedWorld>>;
