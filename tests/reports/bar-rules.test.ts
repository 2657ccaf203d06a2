import { expect, test } from "bun:test";
import { findBarPart } from "../../src/reports/bar-rules.ts";
import type { ReportDay } from "../../src/reports/schema.ts";

const day = (fields: Partial<ReportDay>): ReportDay => ({
  date: "2026-11-20",
  tone: "down",
  ratio: 0.9,
  upSeconds: 0,
  degradedSeconds: 0,
  downSeconds: 0,
  maintenanceSeconds: 0,
  ...fields,
});

test("a short outage of one of many monitors colors less of a day than an outage of all", () => {
  const oneDown = day({ upSeconds: 77 * 86_400 - 300, downSeconds: 300 });
  const halfDown = day({ upSeconds: 60, downSeconds: 40 });
  const allDown = day({ upSeconds: 10, downSeconds: 90 });
  expect([oneDown, halfDown, allDown].map(findBarPart)).toEqual([18, 65, 100]);
  expect(findBarPart(day({ tone: "degraded", upSeconds: 95, degradedSeconds: 5 }))).toBe(40);
  expect(findBarPart(day({ tone: "up", upSeconds: 100 }))).toBeNull();
});
