import { expect, test } from "bun:test";
import { fine, problem, skipped, unusable, warning } from "../../../src/core/finding.ts";
import { summaryOf, textOf } from "../../../src/operations/diagnostics/report.ts";

const path = "/var/lib/signalbox/a/path/that/is/longer/than/any/line/of/a/terminal/has/columns/for";
const report = [
  { area: "Data", ...fine("data directory", "/data") },
  { area: "Data", ...problem("permissions", `${path} is open to others`, `chmod 600 ${path}`) },
  { area: "Clock", ...skipped("clock", "no time server is configured") },
  {
    area: "Disk",
    ...warning(
      "growth",
      "it takes 35 MiB more a day: the disk is full in 21 days, sooner with more monitors",
      "Make room, or move the data directory to a larger disk.",
    ),
  },
];

test("a report has a paragraph per area, 80 columns wide, with next steps behind arrows", () => {
  expect(textOf(report)).toBe(`Data
ok       data directory: /data
problem  permissions:
         ${path}
         is open to others
         → chmod 600
           ${path}

Clock
skipped  clock: no time server is configured

Disk
warning  growth: it takes 35 MiB more a day: the disk is full in 21 days, sooner
         with more monitors
         → Make room, or move the data directory to a larger disk.
`);
});

test("a summary counts the next steps", () => {
  const ofArea = { area: "Data" };
  expect(
    summaryOf([
      { ...ofArea, ...fine("a", "b") },
      { ...ofArea, ...skipped("a", "b") },
    ]),
  ).toBe(null);
  expect(summaryOf(report)).toBe("1 problem and 1 warning");
  expect(summaryOf([{ ...ofArea, ...unusable("a", "b", "c") }, ...report, ...report])).toBe(
    "1 that keep `serve` from starting and 2 problems and 2 warnings",
  );
});
