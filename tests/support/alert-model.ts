/**
 * The rules of alerting as a slow and simple reference model. It derives every decision from the
 * complete history of events and notifications.
 */
export type State = "up" | "down" | "degraded" | "pending" | "maintenance";
type Monitor = {
  muted: boolean;
  groupMuted: boolean;
  attached: string[];
  reminderMs: number | null;
};
type Channel = { enabled: boolean; incidents: boolean; default: boolean };

export type ModelEvent = { at: number } & (
  | { kind: "look" }
  | { kind: "state"; monitor: string; to: State }
  | { kind: "monitor"; monitor: string; now: Partial<Monitor> }
  | { kind: "channel"; channel: string; now: Partial<Channel> | null }
  | { kind: "incident"; incident: string; type: string; of: string | null; automatic: boolean }
  | { kind: "given up"; channel: string }
  | { kind: "lost"; expectedNotifications: readonly string[] }
);
/** Channel `*` means all channels: the problem is over whether or not it was reported. */
export type ExpectedNotification = { channel: string; subject: string; type: string; at: number };

const minutes = 60_000;

/** All alerts that this history requires, in order. */
export function computeExpectedNotifications(
  history: readonly ModelEvent[],
): ExpectedNotification[] {
  const all: ExpectedNotification[] = [];
  history.forEach((one, index) => {
    if (one.kind !== "look") return;
    const past = history.slice(0, index);
    const from = past.findLastIndex(({ kind }) => kind === "look") + 1;
    const snapshot = buildWorld(past);
    for (let i = from; i < index; i++) judgeEvent(past, i, snapshot, all);
    for (const monitor of snapshot.monitors.keys())
      judgePassedTime(past, one.at, monitor, snapshot, all);
  });
  return all;
}

export const keyOf = ({ channel, subject, type, at }: ExpectedNotification) =>
  `${channel} ${subject} ${type} ${at}`;

function buildWorld(past: readonly ModelEvent[]) {
  const lost = new Set(
    past.flatMap((one) => (one.kind === "lost" ? one.expectedNotifications : [])),
  );
  const monitors = new Map<string, Monitor>();
  const channels = new Map<string, Channel>();
  for (const one of past) {
    if (one.kind === "monitor")
      monitors.set(one.monitor, { ...(monitors.get(one.monitor) as Monitor), ...one.now });
    if (one.kind === "channel" && one.now === null) channels.delete(one.channel);
    else if (one.kind === "channel")
      channels.set(one.channel, { ...(channels.get(one.channel) as Channel), ...one.now });
  }
  const isSilenced = (id: string) => monitors.get(id)?.muted || monitors.get(id)?.groupMuted;
  const able = [...channels.keys()].filter((id) => channels.get(id)?.enabled);
  const attachedTo = (id: string) => monitors.get(id)?.attached ?? [];
  const audience = (id: string) =>
    isSilenced(id) ? [] : attachedTo(id).filter((c) => able.includes(c));
  return { monitors, channels, able, quiet: isSilenced, attached: attachedTo, audience, lost };
}
type Snapshot = ReturnType<typeof buildWorld>;

/** Alerts that follow from one event. */
function judgeEvent(
  past: readonly ModelEvent[],
  index: number,
  snapshot: Snapshot,
  all: ExpectedNotification[],
) {
  const before = past.slice(0, index);
  const one = past[index] as ModelEvent;
  const { channels, able } = snapshot;
  const addNotifications = (to: string[], subject: string, type: string) =>
    all.push(...to.map((channel) => ({ channel, subject, type, at: one.at })));
  if (one.kind === "given up") {
    const others = able.filter((id) => id !== one.channel);
    const usual = others.filter((id) => channels.get(id)?.default);
    addNotifications(usual.length > 0 ? usual : others, one.channel, "channel.failed");
  } else if (one.kind === "incident") {
    const { incident, of, automatic } = one;
    const isQuiet = automatic && of !== null && snapshot.quiet(of);
    const ownNotifications = all.filter(
      (t) => t.subject === incident && !snapshot.lost.has(keyOf(t)),
    );
    const knowsIncident = (id: string) =>
      ownNotifications.findLast((t) => t.channel === id || t.channel === "*")?.channel === id;
    const to = (isQuiet ? [] : able)
      .filter((id) => channels.get(id)?.incidents)
      .filter((id) => !automatic || of === null || !snapshot.attached(of).includes(id))
      .filter((id) => one.type !== "incident.resolved" || knowsIncident(id));
    addNotifications(
      to,
      incident,
      one.type === "incident.reopened" ? "incident.updated" : one.type,
    );
    if (one.type === "incident.resolved") addNotifications(["*"], incident, one.type);
  } else if (one.kind === "state") {
    const { monitor, to } = one;
    if (to === "pending" || to === "maintenance") return;
    const previous = deriveState(before, monitor);
    const isNewsOnly = previous === "pending" || previous === "maintenance";
    const [was, is] = [isFlapping(before, monitor), isFlapping([...before, one], monitor)];
    if (is && !was) addNotifications(snapshot.audience(monitor), monitor, "monitor.flapping");
    if (!is) notifyOfState(monitor, to, one.at, isNewsOnly, snapshot, all);
  } else if (one.kind === "monitor" && isUnmute(one.now)) {
    const { monitor } = one;
    const state = deriveState(before, monitor);
    const isProblem = state === "down" || state === "degraded";
    // A later event reports its state itself.
    const isLast = deriveStart(past, monitor) < index;
    if (isProblem && isLast && !isFlapping(before, monitor) && !isRecorded(before, monitor))
      notifyOfState(monitor, state, one.at, true, snapshot, all);
  }
}

const isUnmute = ({ muted, groupMuted }: Partial<Monitor>) =>
  muted === false || groupMuted === false;

/** Whether the alert of a problem is open: a mute ends it, and a muted monitor opens none. */
function isRecorded(past: readonly ModelEvent[], id: string): boolean {
  const start = deriveStart(past, id);
  return past
    .slice(start)
    .every(
      (one, index) => one.kind !== "look" || !buildWorld(past.slice(0, start + index)).quiet(id),
    );
}

/** Alerts that follow from the passage of time. */
function judgePassedTime(
  past: ModelEvent[],
  now: number,
  id: string,
  snapshot: Snapshot,
  all: ExpectedNotification[],
) {
  const state = deriveState(past, id);
  if (isFlappingOver(past, id, now)) return notifyOfState(id, state, now, false, snapshot, all);
  if (isFlapping(past, id) || findNextReminder(past, id) > now) return;
  for (const channel of snapshot.audience(id))
    all.push({ channel, subject: id, type: "monitor.reminder", at: now });
}

const isFlappingOver = (past: readonly ModelEvent[], id: string, now: number) =>
  isFlapping(past, id) && !isFlapping([...past, { kind: "look", at: now }], id);

function notifyOfState(
  id: string,
  to: State,
  at: number,
  newsOnly: boolean,
  w: Snapshot,
  all: ExpectedNotification[],
) {
  const lastStateOf = (channel: string) => {
    const mine = all.filter(
      (t) => t.subject === id && [channel, "*"].includes(t.channel) && !w.lost.has(keyOf(t)),
    );
    const last = mine.at(-1)?.type.replace("monitor.", "") ?? "up";
    return last === "reminder" ? "down" : last;
  };
  const isNews = (channel: string) =>
    to === "up" ? lastStateOf(channel) !== "up" : !newsOnly || lastStateOf(channel) !== to;
  const type = `monitor.${to}`;
  const recipients = w.audience(id).filter(isNews);
  all.push(...recipients.map((channel) => ({ channel, subject: id, type, at })));
  if (to === "up") all.push({ channel: "*", subject: id, type, at });
}

const deriveStart = (past: readonly ModelEvent[], id: string) =>
  past.findLastIndex((one) => one.kind === "state" && one.monitor === id);

function deriveState(past: readonly ModelEvent[], id: string): State {
  const last = past.findLast((one) => one.kind === "state" && one.monitor === id);
  return last?.kind === "state" ? last.to : "pending";
}

/** Whether the monitor is flapping after these events. */
function isFlapping(past: readonly ModelEvent[], id: string): boolean {
  let counted: number[] = [];
  let [isOn, state] = [false, "pending"];
  for (const one of past) {
    const isSteady = isOn && one.at - (counted.at(-1) ?? 0) >= 10 * minutes;
    if (one.kind === "look" && isSteady) [isOn, counted] = [false, []];
    if (one.kind !== "state" || one.monitor !== id) continue;
    if (one.to === "pending" || one.to === "maintenance") [isOn, counted] = [false, []];
    else if (state !== "pending" && state !== "maintenance") counted.push(one.at);
    isOn ||= counted.filter((at) => one.at - at <= 30 * minutes).length > 10;
    state = one.to;
  }
  return isOn;
}

/**
 * Due time of the next reminder: an interval after the outage or the last reminder. A changed
 * interval counts from its change, unless a reminder was due earlier. A reminder that is due when
 * flapping ends waits.
 */
function findNextReminder(past: readonly ModelEvent[], id: string): number {
  if (deriveState(past, id) !== "down") return Infinity;
  const start = deriveStart(past, id);
  let interval = buildWorld(past.slice(0, start)).monitors.get(id)?.reminderMs ?? Infinity;
  let next = (past[start]?.at ?? 0) + interval;
  for (const [index, one] of past.entries()) {
    if (index <= start) continue;
    const isTurn = one.kind === "look" && one.at >= next;
    if (isTurn && !isFlappingOver(past.slice(0, index), id, one.at)) next = one.at + interval;
    if (one.kind !== "monitor" || one.monitor !== id || one.now.reminderMs === undefined) continue;
    interval = one.now.reminderMs ?? Infinity;
    next = interval === Infinity ? Infinity : Math.min(next, one.at + interval);
  }
  return next;
}
