import { expect, test } from "bun:test";
import { sortRows } from "../../web/pages/reports/sorting.ts";

test("a report's rows without a value are last in both directions, and equal rows keep their order", () => {
  const rows = [
    { name: "Shop", ratio: null },
    { name: "Web 10", ratio: 0.9 },
    { name: "Web 9", ratio: 0.9 },
    { name: "Blog", ratio: 1 },
  ];
  const sort = (by: "name" | "ratio", isDescending: boolean) =>
    sortRows(rows, (row) => row[by], isDescending).map(({ name }) => name);
  expect(sort("ratio", true)).toEqual(["Blog", "Web 10", "Web 9", "Shop"]);
  expect(sort("ratio", false)).toEqual(["Web 10", "Web 9", "Blog", "Shop"]);
  expect(sort("name", false)).toEqual(["Blog", "Shop", "Web 9", "Web 10"]);
});
