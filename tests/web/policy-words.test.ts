import { expect, test } from "bun:test";
import type { EscalationPolicy } from "../../src/alerting/policies/schema.ts";
import { describePolicy } from "../../web/pages/on-call/policy-words.ts";

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
