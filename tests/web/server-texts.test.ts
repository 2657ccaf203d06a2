/** The German translations of the server's English texts. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import german from "../../src/core/text/server-texts/de.json";
import germanReasons from "../../src/core/text/server-texts/de-reasons.json";
import { createTranslator } from "../../src/core/text/translator.ts";
import { translateError } from "../../web/language/server-texts.ts";
import { placeholders } from "../../src/core/text/plain-texts.ts";

const translate = createTranslator({ ...german, ...germanReasons });

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

test.each([
  [
    "HTTP 503 (Service Unavailable), expected 200-299 or 404.",
    "HTTP 503 (Service Unavailable), erwartet: 200-299 oder 404.",
  ],
  [
    'Step 2 (Log in): HTTP 200 (OK), but assertion 1 failed: the value at $.a must be less than 7, received "x, y".',
    'Schritt 2 (Log in): HTTP 200 (OK), aber Bedingung 1 ist verletzt: der Wert bei $.a muss kleiner als 7 sein, erhalten: "x, y".',
  ],
  [
    "Timed out after 10 s while waiting for the response. Good result 1 of 2.",
    "Zeitlimit nach 10 s überschritten: Warten auf die Antwort. Gutes Ergebnis 1 von 2.",
  ],
  [
    "The queue does not exist: no queue 'Orders is down'.",
    "Die Queue gibt es nicht: no queue 'Orders is down'.",
  ],
  ["Not judged: this machine had no network.", "Nicht bewertet: dieser Rechner hatte kein Netz."],
  ["This machine has no ping command.", "Auf diesem Rechner gibt es kein ping."],
  [
    "The proxy can't be reached: the connection was refused.",
    "Der Proxy ist nicht erreichbar: Die Verbindung wurde abgelehnt.",
  ],
  [
    "1 of 3 are up, 2 must be. Shop and Search are down.",
    "1 von 3 sind verfügbar, nötig sind 2. Shop und Search sind ausgefallen.",
  ],
  ["Backup failed: disk full. See the log.", "Backup failed: disk full. See the log."],
])("%p keeps its values and the words of others", (english, words) => {
  expect(translate(english)).toBe(words);
});

/** Texts that the server composes from parts. */
const composed =
  /^(Incident, \w+: |is wrong: |(Opened|Changed|Acknowledged|Resolved) (1|\{count\}) alerts?\.$)|in (1 day|PEM)$/;

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
