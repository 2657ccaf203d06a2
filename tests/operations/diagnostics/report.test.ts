import { expect, test } from "bun:test";
import {
  createOkFinding,
  createProblemFinding,
  createSkippedFinding,
  createUnusableFinding,
  createWarningFinding,
} from "../../../src/core/finding.ts";
import { summarizeReport, formatReport } from "../../../src/operations/diagnostics/report.ts";

const path = "/var/lib/signalbox/a/path/that/is/longer/than/any/line/of/a/terminal/has/columns/for";
const report = [
  { area: "Data", ...createOkFinding("data directory", "/data") },
  {
    area: "Data",
    ...createProblemFinding("permissions", `${path} is open to others`, `chmod 600 ${path}`),
  },
  { area: "Clock", ...createSkippedFinding("clock", "no time server is configured") },
  {
    area: "Disk",
    ...createWarningFinding(
      "growth",
      "it grows by 35 MiB a day: the disk is full in 21 days, sooner with more monitors",
      "Make room, or move the data directory to a larger disk.",
    ),
  },
];

test("a report has a paragraph per area, 80 columns wide, with next steps behind arrows", () => {
  expect(formatReport(report)).toBe(`Data
ok       data directory: /data
problem  permissions:
         ${path}
         is open to others
         → chmod 600
           ${path}

Clock
skipped  clock: no time server is configured

Disk
warning  growth: it grows by 35 MiB a day: the disk is full in 21 days, sooner
         with more monitors
         → Make room, or move the data directory to a larger disk.
`);
});

test("a summary counts the next steps", () => {
  const dataArea = { area: "Data" };
  expect(
    summarizeReport([
      { ...dataArea, ...createOkFinding("a", "b") },
      { ...dataArea, ...createSkippedFinding("a", "b") },
    ]),
  ).toBe(null);
  expect(summarizeReport(report)).toBe("1 problem and 1 warning");
  expect(
    summarizeReport([
      { ...dataArea, ...createUnusableFinding("a", "b", "c") },
      ...report,
      ...report,
    ]),
  ).toBe("1 that keep `serve` from starting and 2 problems and 2 warnings");
});
