import { expect, test } from "bun:test";
import {
  findConflict,
  findPolicyOfIncident,
  findPolicyOfMonitor,
} from "../../../src/alerting/policies/rules.ts";
import type { EscalationPolicy } from "../../../src/alerting/policies/schema.ts";

type Choice = Pick<EscalationPolicy, "id" | "default" | "incidentSeverities">;
const buildPolicy = (id: string, more: Partial<Choice> = {}): Choice => ({
  id,
  default: false,
  incidentSeverities: [],
  ...more,
});

test("a monitor has its own policy, otherwise the default one, otherwise none", () => {
  const [own, usual] = [buildPolicy("own"), buildPolicy("usual", { default: true })];
  const findPolicyId = (all: Choice[], escalationPolicyId: string | null) =>
    findPolicyOfMonitor(all, { escalationPolicyId })?.id ?? null;
  expect(findPolicyId([own, usual], "own")).toBe("own");
  expect(findPolicyId([own, usual], null)).toBe("usual");
  expect(findPolicyId([usual], "deleted")).toBe("usual");
  expect(findPolicyId([own], null)).toBe(null);
});

test("an incident has the policy of its severity, and never the default one", () => {
  const all = [
    buildPolicy("usual", { default: true }),
    buildPolicy("urgent", { incidentSeverities: ["major", "critical"] }),
  ];
  expect(findPolicyOfIncident(all, "critical")?.id).toBe("urgent");
  expect(findPolicyOfIncident(all, "major")?.id).toBe("urgent");
  expect(findPolicyOfIncident(all, "minor")).toBe(null);
});

test("a second default policy and a second policy of a severity are conflicts", () => {
  const all = [
    buildPolicy("a", { default: true }),
    buildPolicy("b", { incidentSeverities: ["minor"] }),
  ];
  const conflictOf = (one: Choice) => {
    const found = findConflict(one, all);
    return found && [found.field, found.policy.id];
  };
  expect(conflictOf(buildPolicy("c", { default: true }))).toEqual(["default", "a"]);
  expect(conflictOf(buildPolicy("c", { incidentSeverities: ["minor", "major"] }))).toEqual([
    "incidentSeverities",
    "b",
  ]);
  expect(conflictOf(buildPolicy("a", { default: true, incidentSeverities: ["major"] }))).toBe(null);
});
