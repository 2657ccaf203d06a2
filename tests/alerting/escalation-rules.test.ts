import { describe, expect, test } from "bun:test";
import type { QuietHours } from "../../src/alerting/channels/routing-schema.ts";
import {
  computeStageTime,
  type EscalationFacts,
  findStage,
  planStep,
  type Stage,
} from "../../src/alerting/deciding/escalation-rules.ts";

const plan = (minutes: readonly number[], repeat = 0) => ({
  steps: minutes.map((afterMinutes) => ({ afterMinutes })),
  repeat,
});

/** All stages of a policy, with their minutes. */
function listStages(minutes: readonly number[], repeat = 0): [Stage, number][] {
  const policy = plan(minutes, repeat);
  const all: [Stage, number][] = [];
  let stage = findStage(policy, { step: 0, round: 0 });
  for (;;) {
    all.push([stage, computeStageTime(policy, stage, 0) / 60_000]);
    if (stage === "end") return all;
    stage = findStage(policy, { step: stage.step + 1, round: stage.round });
  }
}

const timesOf = (minutes: readonly number[], repeat = 0) =>
  listStages(minutes, repeat).map(([, time]) => time);

describe("the steps of a policy", () => {
  test("run at their minutes, and end as long after the last one as it waited", () => {
    expect(timesOf([0, 10, 30])).toEqual([0, 10, 30, 50]);
    expect(timesOf([5])).toEqual([5, 10]);
    expect(timesOf([0])).toEqual([0, 5]);
    expect(timesOf([0, 2])).toEqual([0, 2, 7]);
  });

  test("are repeated with the same distances", () => {
    expect(timesOf([0, 10], 2)).toEqual([0, 10, 20, 30, 40, 50, 60]);
    expect(listStages([0, 10], 1).map(([stage]) => stage)).toEqual([
      { step: 0, round: 0 },
      { step: 1, round: 0 },
      { step: 0, round: 1 },
      { step: 1, round: 1 },
      "end",
    ]);
  });

  test("end at once without steps, and continue with the next round after steps were removed", () => {
    expect(findStage(plan([]), { step: 0, round: 0 })).toBe("end");
    expect(findStage(plan([0], 1), { step: 2, round: 0 })).toEqual({ step: 0, round: 1 });
    expect(findStage(plan([0], 1), { step: 2, round: 1 })).toBe("end");
    expect(findStage(plan([0, 5], 0), { step: 1, round: 3 })).toBe("end");
  });
});

const buildMethod = (id: string, fields: object = {}) => ({
  id,
  name: id,
  personId: "ada" as string | null,
  enabled: true,
  verifiedAt: "2026-11-20T00:00:00.000Z",
  isDefault: false,
  afterMinutes: 0 as number | null,
  criticalAfterMinutes: 0 as number | null,
  quietHours: null as QuietHours | null,
  ...fields,
});

const factsOf = (...contacts: ReturnType<typeof buildMethod>[]): EscalationFacts => ({
  at: 0,
  people: new Map([["ada", "Ada"]]),
  schedules: new Map([
    ["primary", { name: "Primary", personId: "ada" }],
    ["empty", { name: "Night", personId: null }],
  ]),
  channels: new Map(contacts.map((one) => [one.id, one])),
});

describe("a step", () => {
  const push = buildMethod("push", { criticalAfterMinutes: null });
  const call = buildMethod("call", { afterMinutes: 3 });
  const ops = { ...buildMethod("ops"), personId: null };

  test("notifies people by their verified methods, each after its minutes", () => {
    const facts = factsOf(push, call, buildMethod("new", { verifiedAt: null }), ops);
    expect(planStep([{ type: "person", id: "ada" }], "normal", facts)).toEqual({
      planned: [
        { channelId: "push", personId: "ada", delayMs: 0, heldUntil: null },
        { channelId: "call", personId: "ada", delayMs: 180_000, heldUntil: null },
      ],
      texts: ["Ada"],
    });
    expect(planStep([{ type: "person", id: "ada" }], "critical", facts).planned).toEqual([
      { channelId: "call", personId: "ada", delayMs: 0, heldUntil: null },
    ]);
  });

  test("notifies a channel or method once, and as early as a target wants", () => {
    const targets = [
      { type: "schedule", id: "primary" },
      { type: "person", id: "ada" },
      { type: "channel", id: "ops" },
    ] as const;
    const { planned, texts } = planStep(targets, "normal", factsOf(push, ops));
    expect(planned.map(({ channelId }) => channelId)).toEqual(["push", "ops"]);
    expect(texts).toEqual(["Ada (on call in Primary)", "Ada", "ops"]);
  });

  test("says why a target gets nothing", () => {
    const facts = factsOf({ ...ops, enabled: false });
    const print = (type: "person" | "schedule" | "channel", id: string) =>
      planStep([{ type, id }], "normal", facts);
    expect(print("schedule", "empty")).toEqual({
      planned: [],
      texts: ["nobody is on call in Night"],
    });
    expect(print("schedule", "gone").texts).toEqual(["a deleted schedule"]);
    expect(print("schedule", "primary").texts).toEqual([
      "Ada (on call in Primary) can't be reached",
    ]);
    expect(print("person", "gone").texts).toEqual(["a removed person can't be reached"]);
    expect(print("channel", "ops").texts).toEqual(["ops is disabled"]);
    expect(print("channel", "gone").texts).toEqual(["a deleted channel"]);
  });
});
