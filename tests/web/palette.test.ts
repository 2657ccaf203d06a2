import { expect, test } from "bun:test";
import { type Command, rankCommands, selectForActions } from "../../web/shell/palette-rules.ts";

const buildCommand = (label: string, keywords = ""): Command => ({
  key: label,
  label,
  keywords,
  icon: "bell",
  run: () => {},
});

const commands = [
  buildCommand("Checkout API", "api.acme.example/checkout prod"),
  buildCommand("Großhandel Köln"),
  buildCommand("Create monitor"),
  buildCommand("Search", "search.acme.example pci"),
];
const findOutcome = (text: string) => rankCommands(commands, text).map(({ label }) => label);

test("matches at the start are first, then matches inside, then addresses and tags", () => {
  expect(findOutcome("search")).toEqual(["Search"]);
  expect(findOutcome("api")).toEqual(["Checkout API"]);
  expect(findOutcome("acme check")).toEqual(["Checkout API"]);
  expect(findOutcome("pci")).toEqual(["Search"]);
});

test("letters can be omitted and accents need not be typed, but not every entry matches", () => {
  expect(findOutcome("chkout")).toEqual(["Checkout API"]);
  expect(findOutcome("grosshandel koln")).toEqual(["Großhandel Köln"]);
  expect(findOutcome("crmon")).toEqual(["Create monitor"]);
  expect(findOutcome("xyz")).toEqual([]);
  expect(findOutcome("aeo")).toEqual([]);
});

test("without a text, the records last opened are first, then the common commands", () => {
  const all = [
    { ...buildCommand("Web shop"), hint: "Monitor" },
    { ...buildCommand("Go to Alerts"), common: true },
    ...Array.from({ length: 6 }, (_, index) => buildCommand(`Disk ${index}`)),
  ];
  const list = (recent: string[]) =>
    rankCommands(all, " ", recent).map(({ label, hint }) => [label, hint]);
  expect(list([])).toEqual([["Go to Alerts", undefined]]);
  expect(list(["deleted", "Web shop"])).toEqual([
    ["Web shop", "Recent · Monitor"],
    ["Go to Alerts", undefined],
  ]);
  const disks = Array.from({ length: 6 }, (_, index) => `Disk ${index}`);
  expect(list(disks)).toHaveLength(6);
  expect(rankCommands(all, "web", disks).map(({ label }) => label)).toEqual(["Web shop"]);
});

test("actions are offered on records that the text names, and on a few others", () => {
  const records = Array.from({ length: 1_000 }, (_, index) => ({ name: `Disk ${index}` }));
  const names = selectForActions([...records, { name: "Großer Shop" }], "pause grosser").map(
    ({ name }) => name,
  );
  expect(names[0]).toBe("Großer Shop");
  expect(names.length).toBeLessThan(50);
});
