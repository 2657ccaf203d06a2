import { expect, test } from "bun:test";
import { findInternalNames } from "../../web/pages/incidents/internal-names.ts";

const monitors = [
  { id: "1", name: "PostgreSQL primary", groupId: "db" },
  { id: "2", name: "Shop", groupId: "front" },
  { id: "3", name: "Queue", groupId: null },
  { id: "4", name: "Web", groupId: "front" },
];
const pages = [
  {
    sections: [
      { groupId: null, monitors: [{ id: "1", name: "Orders" }] },
      { groupId: "front", monitors: [{ id: "4", name: "Web shop" }] },
    ],
  },
];
const find = (text: string) => findInternalNames(text, monitors, pages);

test("a public text that names a monitor by its internal name gets the name that customers know", () => {
  expect(find("PostgreSQL primary is slow.")).toEqual([
    { name: "PostgreSQL primary", publicName: "Orders" },
  ]);
  expect(find("Queue, and Queue again")).toEqual([{ name: "Queue", publicName: null }]);
  // Names on the page, parts of public names, parts of words, and other cases are no findings.
  for (const text of [
    "Shop is down",
    "Web is down",
    "Queues grow",
    "The queue grows",
    "",
    "Übershop",
  ])
    expect([text, find(text)]).toEqual([text, []]);
  expect(findInternalNames("Queue", monitors, [])).toEqual([]);
});

test("internal addresses in a public text are found", () => {
  const names = (text: string) => find(text).map(({ name }) => name);
  expect(names("10.20.0.14 and db-1.lan:5432 via 172.20.1.1")).toEqual([
    "10.20.0.14",
    "172.20.1.1",
    "db-1.lan",
  ]);
  expect(names("8.8.8.8, 172.40.1.1, version 10.2.1, local.example")).toEqual([]);
});
