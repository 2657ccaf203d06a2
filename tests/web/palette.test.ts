import { expect, test } from "bun:test";
import { type Command, rankCommands } from "../../web/shell/palette-rules.ts";

const command = (label: string, keywords = ""): Command => ({
  key: label,
  label,
  keywords,
  icon: "bell",
  run: () => {},
});

const commands = [
  command("Checkout API", "api.acme.example/checkout prod"),
  command("Großhandel Köln"),
  command("Create monitor"),
  command("Search", "search.acme.example pci"),
];
const found = (text: string) => rankCommands(commands, text).map(({ label }) => label);

test("matches at the start are first, then matches inside, then addresses and tags", () => {
  expect(found("search")).toEqual(["Search"]);
  expect(found("api")).toEqual(["Checkout API"]);
  expect(found("acme check")).toEqual(["Checkout API"]);
  expect(found("pci")).toEqual(["Search"]);
});

test("letters can be omitted and accents need not be typed, but not every entry matches", () => {
  expect(found("chkout")).toEqual(["Checkout API"]);
  expect(found("grosshandel koln")).toEqual(["Großhandel Köln"]);
  expect(found("crmon")).toEqual(["Create monitor"]);
  expect(found("xyz")).toEqual([]);
  expect(found("aeo")).toEqual([]);
});
