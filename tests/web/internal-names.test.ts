import { expect, test } from "bun:test";
import { findInternalNames } from "../../web/pages/incidents/internal-names.ts";

const buildMonitor = (
  id: string,
  name: string,
  groupId: string | null,
  target: string | null = null,
) => ({
  id,
  name,
  type: target?.startsWith("db") === true ? "tcp" : "http",
  groupId,
  target,
});
const known = {
  monitors: [
    buildMonitor("1", "PostgreSQL primary", "db", "db7.acme.example:5432"),
    buildMonitor("2", "Shop", "front", "shop.example/health"),
    buildMonitor("3", "Queue", null, "rabbit:15672/health"),
    buildMonitor("4", "Web", "front"),
  ],
  groups: [
    { id: "db", name: "Rack 4" },
    { id: "front", name: "Front end" },
  ],
  people: [{ name: "Ada Lovelace", email: "ada@acme.example" }],
};
const pages = [
  {
    title: "Acme",
    sections: [
      { name: "Core", groupId: null, monitors: [{ id: "1", name: "Orders" }] },
      { name: null, groupId: "front", monitors: [{ id: "4", name: "Web shop" }] },
    ],
  },
];
const find = (text: string) => findInternalNames(text, known, pages);

test("a public text that names a monitor by its internal name gets the name that customers know", () => {
  expect(find("PostgreSQL primary is slow.")).toEqual([
    { name: "PostgreSQL primary", publicName: "Orders", unknownOn: [] },
  ]);
  expect(find("Queue, and Queue again")).toEqual([
    { name: "Queue", publicName: null, unknownOn: [] },
  ]);
  // Names on the page, parts of public names, parts of words, and other cases are not findings.
  for (const text of [
    "Shop is down",
    "Web is down",
    "Queues grow",
    "The queue grows",
    "",
    "Übershop",
  ])
    expect([text, find(text)]).toEqual([text, []]);
  expect(findInternalNames("Queue", known, [])).toEqual([]);
});

test("internal addresses in a public text are found", () => {
  const buildNames = (text: string) => find(text).map(({ name }) => name);
  expect(buildNames("10.20.0.14 and db-1.lan:5432 via 172.20.1.1")).toEqual([
    "10.20.0.14",
    "172.20.1.1",
    "db-1.lan",
  ]);
  expect(buildNames("8.8.8.8, 172.40.1.1, version 10.2.1, local.example")).toEqual([]);
});

test("names of groups and people, e-mail addresses and hosts of monitors are found", () => {
  const buildNames = (text: string) => find(text).map(({ name }) => name);
  expect(buildNames("Ada Lovelace (ada@acme.example) moved Rack 4")).toEqual([
    "Rack 4",
    "Ada Lovelace",
    "ada@acme.example",
  ]);
  expect(buildNames("db7.acme.example and rabbit restarted")).toEqual([
    "db7.acme.example",
    "rabbit",
  ]);
  // The page has this group, this title, and customers open this address.
  for (const text of ["Front end is slow", "Acme is slow", "shop.example is slow"])
    expect([text, buildNames(text)]).toEqual([text, []]);
});

test("of several pages, those are named whose customers don't know the words", () => {
  const partners = {
    title: "Partners",
    sections: [{ name: "API", groupId: null, monitors: [{ id: "2", name: "Orders API" }] }],
  };
  expect(findInternalNames("Shop is down", known, [...pages, partners])).toEqual([
    { name: "Shop", publicName: "Orders API", unknownOn: ["Partners"] },
  ]);
});
