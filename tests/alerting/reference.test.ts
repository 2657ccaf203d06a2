import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import {
  stepAfterChange,
  stepAfterFlapping,
  stepAfterMute,
  stepAfterReminder,
  emptyHistory,
  type Step,
  type NotifiedState,
} from "../../src/alerting/deciding/rules.ts";
import { type AlertedWorld, createAlertedWorld } from "../support/alert-model-world.ts";
import { type ModelEvent, computeExpectedNotifications } from "../support/alert-model.ts";
import { type Target, startTarget } from "../support/target.ts";
import { limitTries } from "../support/property-runs.ts";
import type { StoredStatus } from "../../src/core/statuses.ts";

let server: Target;
beforeAll(async () => void (server = await startTarget()));
afterAll(() => server[Symbol.asyncDispose]());

type Action = readonly [keyof AlertedWorld, ...unknown[]];

/** Ends all problems; then every channel must have its expected alerts, in order. */
async function runActions(...actions: readonly Action[]) {
  const snapshot = await createAlertedWorld(server);
  for (const [name, ...parts] of actions) {
    await (snapshot[name] as (...parts: unknown[]) => unknown)(...parts);
    await snapshot.look();
  }
  await snapshot.heal();
  const { wanted, got } = snapshot.compareAlerts();
  expect(got).toEqual(wanted);
  expect(snapshot.findOddities()).toEqual([]);
}

/** Mostly the first one: errors need several actions on the same subject. */
const index = fc.constantFrom(0, 0, 0, 1, 2);
const anyBoolean = fc.boolean();
const seconds = fc.constantFrom(1, 3, 6, 11, 60, 200, 400, 600, 1_200, 1_800, 3_600, 14_400);
const post = [
  { message: "More." },
  { status: "resolved" },
  { status: "identified" },
  { severity: "major" },
];
const weighAction = (
  weight: number,
  name: keyof AlertedWorld,
  ...parts: fc.Arbitrary<unknown>[]
) => ({
  weight,
  arbitrary: fc.tuple(fc.constant(name), ...parts) as unknown as fc.Arbitrary<Action>,
});

const action = fc.oneof(
  weighAction(40, "report", index, fc.constantFrom("up", "down", "slow")),
  weighAction(30, "passTime", seconds, fc.constantFrom(1, 1, 2, 5)),
  weighAction(2, "passTime", fc.constant(100_000), fc.constantFrom(7, 40)),
  weighAction(
    8,
    "changeStateOften",
    index,
    fc.integer({ min: 3, max: 13 }),
    fc.constantFrom(5, 60, 160),
    anyBoolean,
  ),
  weighAction(4, "restart"),
  weighAction(5, "mute", index, anyBoolean),
  weighAction(3, "muteGroup", anyBoolean),
  weighAction(5, "pause", index, anyBoolean),
  weighAction(5, "renew", index),
  weighAction(5, "maintain", index, anyBoolean),
  weighAction(5, "attach", index, fc.subarray([0, 1, 2])),
  weighAction(5, "remind", index, fc.constantFrom(null, 300, 600, 3_600)),
  weighAction(3, "automatic", index, anyBoolean),
  weighAction(3, "create", index, anyBoolean),
  // The last channel remains: without one, nothing is counted or stored.
  weighAction(2, "remove", fc.constantFrom(0, 1)),
  weighAction(
    4,
    "patchChannel",
    index,
    fc.record(
      { enabled: anyBoolean, incidents: anyBoolean, default: anyBoolean },
      { requiredKeys: [] },
    ),
  ),
  weighAction(
    10,
    "receive",
    index,
    fc.constantFrom("well", "well", "broken", "closed", "busy", "refused", "gone"),
  ),
  weighAction(3, "open", fc.option(index)),
  weighAction(6, "post", fc.nat(1), fc.constantFrom(...post)),
);

test("a pause resets a monitor's flapping", () =>
  runActions(
    ["changeStateOften", 0, 11, 5, true],
    ["renew", 0],
    ["report", 0, "down"],
    ["report", 0, "up"],
  ));

const listLossActions = (word: Action): Action[] => [
  ["passTime", 10],
  ["receive", 0, "gone"],
  word,
  ["passTime", 10],
  ["receive", 0, "well"],
];

test.each<[string, Action[]]>([
  [
    "a degradation, but not of the later outage",
    [["report", 0, "slow"], ...listLossActions(["report", 0, "down"]), ["report", 0, "up"]],
  ],
  [
    "an outage, but disabled during its reminder",
    [
      ["remind", 0, 300],
      ["report", 0, "down"],
      ["passTime", 20],
      ["passTime", 299],
      ["patchChannel", 0, { enabled: false }],
      ["passTime", 30],
      ["patchChannel", 0, { enabled: true }],
      ["report", 0, "up"],
    ],
  ],
  [
    "an incident, but not of all its updates",
    [["open", null], ...listLossActions(["post", 0, post[0]]), ["post", 0, post[1]]],
  ],
])("a channel that was notified of %s is notified of the end", (_, actions) =>
  runActions(...actions),
);

test("channels get the alerts of the model, for any sequence of events", async () => {
  const actions = fc.array(action, { minLength: 1, maxLength: 40, size: "max" });
  await fc.assert(
    fc.asyncProperty(actions, (all) => runActions(...all)),
    limitTries(12),
  );
});

/** Alerts according to the pure rules for a history of one monitor. */
function deriveMessages(history: readonly ModelEvent[], reminderMs: number | null): string[] {
  const lines: string[] = [];
  const message = new Map<string, { state: NotifiedState }>();
  let memory = emptyHistory;
  let status: StoredStatus = "pending";
  let facts = { muted: false, attached: [] as string[] };
  let isRecorded = false;
  const follow = (step: Step, at: number) => {
    ({ memory } = step);
    for (const channel of step.alert?.to ?? []) {
      lines.push(`${at} ${channel} ${step.alert?.type}`);
      if (step.notifiedState !== null) message.set(channel, { state: step.notifiedState });
    }
    if (step.isOver) message.clear();
  };
  for (const [index, one] of history.entries()) {
    const { at } = one;
    if (one.kind === "monitor") facts = { ...facts, ...one.now };
    const audience = { muted: facts.muted, channels: facts.attached };
    const isUnmuted = one.kind === "monitor" && one.now.muted === false && !isRecorded;
    if (isUnmuted && (status === "down" || status === "degraded"))
      if (history[index + 1]?.kind !== "state")
        follow(stepAfterMute(memory, message, status, audience), at);
    if (one.kind === "state") isRecorded = true;
    else if (one.kind === "look" && facts.muted) isRecorded = false;
    if (one.kind === "state") {
      follow(
        stepAfterChange(memory, message, { from: status, to: one.to, at }, audience, reminderMs),
        at,
      );
      status = one.to;
    }
    if (one.kind !== "look") continue;
    const steady = stepAfterFlapping(memory, message, status, audience, at);
    if (steady !== null) follow(steady, at);
    else if (memory.remindAt !== null && memory.remindAt <= at)
      follow(stepAfterReminder(memory, status, audience, reminderMs, at), at);
  }
  return lines;
}

const working = fc.constantFrom("up", "down", "degraded");
const not = fc.constantFrom("pending", "maintenance");
const moment = fc.record({
  wait: fc.constantFrom(1, 1, 10, 10, 40, 150, 170, 300, 601, 1_700),
  to: fc.oneof({ weight: 12, arbitrary: working }, { weight: 1, arbitrary: not }),
  muted: fc.constantFrom(null, null, null, null, null, null, true, false, false),
  attached: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.subarray(["a", "b", "c"]) },
  ),
});

const plain = { enabled: true, incidents: true, default: false };

test("the rules agree with the model over random histories of a monitor", () => {
  const courses = fc.array(moment, { minLength: 1, maxLength: 40, size: "max" });
  fc.assert(
    fc.property(courses, fc.constantFrom(null, 300_000, 1_000_000), (course, reminderMs) => {
      const monitor = "m";
      const current = { muted: false, groupMuted: false, attached: ["a", "b"], reminderMs };
      const history: ModelEvent[] = [{ kind: "monitor", at: 0, monitor, now: current }];
      for (const channel of ["a", "b", "c"])
        history.push({ kind: "channel", at: 0, channel, now: plain });
      let [at, state]: [number, StoredStatus] = [0, "pending"];
      for (const { wait, to, muted, attached } of course) {
        at += wait * 1000 + 1;
        history.push({ kind: "look", at });
        const changes = { ...(muted !== null && { muted }), ...(attached && { attached }) };
        history.push({ kind: "monitor", at, monitor, now: changes });
        if (to !== state) history.push({ kind: "state", at, monitor, to });
        state = to;
        history.push({ kind: "look", at });
      }
      const expected = computeExpectedNotifications(history).filter(
        ({ channel }) => channel !== "*",
      );
      expect(deriveMessages(history, reminderMs).toSorted()).toEqual(
        expected.map((one) => `${one.at} ${one.channel} ${one.type}`).toSorted(),
      );
    }),
    limitTries(600),
  );
});
