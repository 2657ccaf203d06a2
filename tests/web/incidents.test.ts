import { expect, test } from "bun:test";
import { compareBySeverity } from "../../web/pages/incidents/list/filters.ts";

test("open incidents are listed by severity, and within one as the server sorts them", () => {
  const severities = ["minor", "critical", "major", "critical"] as const;
  const listed = severities.map((severity, id) => ({ id, severity })).toSorted(compareBySeverity);
  expect(listed.map(({ id }) => id)).toEqual([1, 3, 2, 0]);
});
