import { expect, test } from "bun:test";
import type { PageLanguage } from "../../src/core/languages.ts";
import {
  buildTranslations,
  listTargetLanguages,
  nameLanguages,
} from "../../web/pages/incidents/translations.ts";

const buildPage = (...languages: PageLanguage[]) => ({
  id: "1",
  slug: "a",
  title: "A",
  subscribers: 0,
  languages,
});

test("a message is translated into the languages of its pages, except their common default", () => {
  expect(listTargetLanguages([])).toEqual([]);
  expect(listTargetLanguages([buildPage("en")])).toEqual([]);
  expect(listTargetLanguages([buildPage("en", "de"), buildPage("en", "fr", "de")])).toEqual([
    "de",
    "fr",
  ]);
  expect(listTargetLanguages([buildPage("en", "de"), buildPage("de")])).toEqual(["en", "de"]);
});

test("only entered texts in offered languages are sent, and the button counts them", () => {
  const sent = buildTranslations({ de: "Hallo", fr: " ", ja: "x" }, ["de", "fr"]);
  expect(sent).toEqual({ de: { message: "Hallo" } });
  expect(nameLanguages("Post to 1 page", sent)).toBe("Post to 1 page in 2 languages");
  expect(nameLanguages("Post update", {})).toBe("Post update");
});
