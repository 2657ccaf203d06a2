/** The German translations of the server's English texts. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import german from "../../web/language/server/de.json";
import { createTranslator, translateError } from "../../web/language/server-texts.ts";
import { placeholders } from "../../src/core/text/plain-texts.ts";

const translate = createTranslator(german);

test("a form shows the errors of its fields in German", () => {
  const error = {
    message: "name must not be empty. interval must be at least 5.",
    details: [
      { path: "name", message: "must not be empty" },
      { path: "interval", message: "must be at least 5" },
    ],
  };
  expect(translateError(error, translate)).toEqual({
    message: "name darf nicht leer sein. interval muss mindestens 5 sein.",
    details: [
      { path: "name", message: "darf nicht leer sein" },
      { path: "interval", message: "muss mindestens 5 sein" },
    ],
  });
});

test("the most specific text decides, and unknown texts stay English", () => {
  expect(translate("Messages of Shop to Pager can't be delivered.")).toBe(
    "Nachrichten von Shop an Pager lassen sich nicht zustellen.",
  );
  expect(translate("Incident, identified: Search is down")).toBe(
    "Vorfall, Ursache gefunden: Search is down",
  );
  expect(translate("The moon is full.")).toBe("The moon is full.");
});

/** Texts that the server composes from parts. */
const composed = /^(Incident, \w+: |is wrong: )|in (1 day|PEM)$/;

test("each German text translates one that the server contains", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(`src/${name}`, "utf8"))
    .join("\n");
  const isKnown = (english: string) =>
    english
      .split(placeholders)
      .filter((_, index) => index % 2 === 0)
      .every((part) => part.trim() === "" || sources.includes(part.trim()));
  expect(
    Object.keys(german).filter((english) => !composed.test(english) && !isKnown(english)),
  ).toEqual([]);
});

test("each German text has the placeholders of the English one", () => {
  const list = (text: string) => [...text.matchAll(placeholders)].map(([, name]) => name);
  const differing = Object.entries(german).filter(([english, text]) =>
    list(english).some((name) => !list(text).includes(name)),
  );
  expect(differing).toEqual([]);
});
