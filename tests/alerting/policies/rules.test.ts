import { expect, test } from "bun:test";
import {
  describePolicy,
  findConflict,
  findPolicyOfIncident,
  findPolicyOfMonitor,
} from "../../../src/alerting/policies/rules.ts";
import type { EscalationPolicy } from "../../../src/alerting/policies/schema.ts";

type Choice = Pick<EscalationPolicy, "id" | "default" | "incidentSeverities">;
const policy = (id: string, more: Partial<Choice> = {}): Choice => ({
  id,
  default: false,
  incidentSeverities: [],
  ...more,
});

test("a monitor has its own policy, otherwise the default one, otherwise none", () => {
  const [own, usual] = [policy("own"), policy("usual", { default: true })];
  const of = (all: Choice[], escalationPolicyId: string | null) =>
    findPolicyOfMonitor(all, { escalationPolicyId })?.id ?? null;
  expect(of([own, usual], "own")).toBe("own");
  expect(of([own, usual], null)).toBe("usual");
  expect(of([usual], "deleted")).toBe("usual");
  expect(of([own], null)).toBe(null);
});

test("an incident has the policy of its severity, and never the default one", () => {
  const all = [
    policy("usual", { default: true }),
    policy("urgent", { incidentSeverities: ["major", "critical"] }),
  ];
  expect(findPolicyOfIncident(all, "critical")?.id).toBe("urgent");
  expect(findPolicyOfIncident(all, "major")?.id).toBe("urgent");
  expect(findPolicyOfIncident(all, "minor")).toBe(null);
});

test("a second default policy and a second policy of a severity are conflicts", () => {
  const all = [policy("a", { default: true }), policy("b", { incidentSeverities: ["minor"] })];
  const conflictOf = (one: Choice) => {
    const found = findConflict(one, all);
    return found && [found.field, found.policy.id];
  };
  expect(conflictOf(policy("c", { default: true }))).toEqual(["default", "a"]);
  expect(conflictOf(policy("c", { incidentSeverities: ["minor", "major"] }))).toEqual([
    "incidentSeverities",
    "b",
  ]);
  expect(conflictOf(policy("a", { default: true, incidentSeverities: ["major"] }))).toBe(null);
});

test("a policy is described in words", () => {
  const names: Record<string, string> = { 1: "Ada", 2: "Primary", 3: "#ops" };
  const describe = (steps: EscalationPolicy["steps"], repeat = 0) =>
    describePolicy({ steps, repeat }, ({ id }) => names[id] ?? null);
  const [ada, primary, ops] = [
    { type: "person" as const, id: "1" },
    { type: "schedule" as const, id: "2" },
    { type: "channel" as const, id: "3" },
  ];
  const steps = [
    { afterMinutes: 0, targets: [ada] },
    { afterMinutes: 10, targets: [primary] },
    { afterMinutes: 90, targets: [ops, ada, { type: "person" as const, id: "9" }] },
  ];
  expect(describe(steps, 2)).toBe(
    "At once Ada; after 10 min the person on call in Primary; after 1 h 30 min #ops, Ada and a deleted record. Repeated twice.",
  );
  expect(describe([{ afterMinutes: 5, targets: [ops, primary] }])).toBe(
    "After 5 min #ops and the person on call in Primary.",
  );
  expect(describe(steps.slice(0, 1), 9)).toBe("At once Ada. Repeated 9 times.");
  expect(describe([])).toBe("Notifies no one.");
});
