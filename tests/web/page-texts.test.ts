/** Tests that the texts of the admin page are complete in each language, and finds texts that are not translatable. */
import { afterAll, describe, expect, test } from "bun:test";
import { Glob } from "bun";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import {
  dictionaryFolder,
  type FindText,
  listTextCalls,
  loadDictionary,
  parseFile,
  selectPart,
  type Texts,
  translateSource,
} from "../../release/page-texts.ts";
import { adminLanguages } from "../../src/core/admin-languages.ts";
import { placeholders } from "../../src/core/text/texts.ts";

const root = join(import.meta.dir, "..", "..");
const languages = adminLanguages.filter((language) => language !== "en");

type Source = { path: string; file: ts.SourceFile };

const sources: Source[] = [...new Glob("{src,web}/**/*.{ts,tsx}").scanSync(root)]
  .filter((path) => path.startsWith("web") || /[tT]exts\.ts"/.test(read(path)))
  .map((path) => ({ path, file: parseFile(path, read(path)) }));

function read(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** Marked texts with their files. The functions that mark them call each other. */
const marked = sources
  .filter(({ path }) => !/language\/text\.ts$|core\/text\/(plain-)?texts\.ts$/.test(path))
  .flatMap(({ path, file }) =>
    listTextCalls(file).map(({ kind, texts }) => ({ path, kind, texts, key: texts.at(-1) ?? "" })),
  );

const listNames = (text: string) =>
  [...new Set(Array.from(text.matchAll(placeholders), ([name]) => name))].sort();

describe.each(languages)("the dictionaries of %s", (language) => {
  const parts = new Map<string, Texts>(
    readdirSync(join(dictionaryFolder, language)).map((name) => [
      name.replace(".json", ""),
      JSON.parse(readFileSync(join(dictionaryFolder, language, name), "utf8")) as Texts,
    ]),
  );

  test("translate each text, with the same placeholders", async () => {
    const find = await loadDictionary(language);
    const wrong = marked.flatMap(({ path, kind, texts, key }) => {
      const found = find(key, path);
      if (found === undefined) return [`${path}: “${key}” is missing`];
      const isCount = kind === "tCount";
      if (isCount !== (typeof found !== "string")) return [`${path}: “${key}” has other forms`];
      const forms = typeof found === "string" ? [found] : [found.one, found.other];
      const ownNames = listNames(texts.join(""));
      // The form for one can have the number as a word.
      const isSame = forms.every((form) =>
        isCount
          ? listNames(form).every((name) => ownNames.includes(name))
          : Bun.deepEquals(listNames(form), ownNames),
      );
      return isSame ? [] : [`${path}: “${key}” has other placeholders`];
    });
    expect(wrong).toEqual([]);
  });

  test("have no unused text", () => {
    const used = new Map<string, Set<string>>();
    const add = (part: string, key: string) =>
      (used.get(part) ?? used.set(part, new Set()).get(part))?.add(key);
    for (const { path, key } of marked) {
      const part = selectPart(path);
      add(parts.get(part)?.[key] === undefined ? "common" : part, key);
    }
    const unused = [...parts].flatMap(([part, texts]) =>
      Object.keys(texts)
        .filter((key) => used.get(part)?.has(key) !== true)
        .map((key) => `${part}.json: ${key}`),
    );
    expect(unused).toEqual([]);
  });

  test("are sorted by their English texts", () => {
    for (const [part, texts] of parts)
      expect([part, Object.keys(texts)]).toEqual([part, Object.keys(texts).sort()]);
  });
});

/** Attributes whose values are shown to people. */
const shownAttributes = new Set([
  "alt",
  "aria-label",
  "cancel",
  "data-tip",
  "description",
  "error",
  "hint",
  "label",
  "nothingFound",
  "nothingFoundMessage",
  "placeholder",
  "submit",
  "title",
  "verb",
  "what",
  "words",
]);

/** Names and examples of code, which are the same in each language. */
const sameEverywhere = new Set([
  "-----BEGIN CERTIFICATE-----",
  "Acme GmbH",
  "Markdown",
  "Prometheus",
  "Signalbox",
  "X-Team",
  "curl",
  "https:// link",
  "iCal",
  "signalbox-admins",
  "token",
]);

/** Addresses, paths, rules and abbreviations. */
const isCode = (text: string) => /^\S*[./=]\S*$|^[A-Z]+$|<\S+@\S+>$/.test(text);

const hasWords = (text: string) =>
  /\p{L}{2}/u.test(text) && !isCode(text.trim()) && !sameEverywhere.has(text.trim());

/** Elements whose text is code. */
const isInCode = (node: ts.Node): boolean =>
  ts.findAncestor(
    node,
    (one) => ts.isJsxElement(one) && /^(code|pre|kbd)$/.test(one.openingElement.tagName.getText()),
  ) !== undefined;

/** Returns the literals that an expression can have as its value. */
function listLiterals(node: ts.Expression | undefined): string[] {
  if (node === undefined) return [];
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node))
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
  if (ts.isConditionalExpression(node))
    return [...listLiterals(node.whenTrue), ...listLiterals(node.whenFalse)];
  if (ts.isParenthesizedExpression(node)) return listLiterals(node.expression);
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    const isChoice = [
      ts.SyntaxKind.AmpersandAmpersandToken,
      ts.SyntaxKind.BarBarToken,
      ts.SyntaxKind.QuestionQuestionToken,
      ts.SyntaxKind.PlusToken,
    ].includes(kind);
    return isChoice ? [...listLiterals(node.left), ...listLiterals(node.right)] : [];
  }
  return [];
}

/** Lists texts of elements, and of attributes that people see, which are not marked. */
function listUnmarked(file: ts.SourceFile): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isJsxText(node) && !isInCode(node)) found.push(node.text.trim());
    if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent) && !isInCode(node))
      found.push(...listLiterals(node.expression));
    if (ts.isJsxAttribute(node) && shownAttributes.has(node.name.getText())) {
      const { initializer } = node;
      if (initializer !== undefined && ts.isStringLiteral(initializer))
        found.push(initializer.text);
      if (initializer !== undefined && ts.isJsxExpression(initializer))
        found.push(...listLiterals(initializer.expression));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found.filter(hasWords);
}

test("all texts of elements and their attributes are marked", () => {
  const unmarked = sources
    .filter(({ path }) => path.endsWith(".tsx") && path.startsWith("web"))
    .flatMap(({ path, file }) => listUnmarked(file).map((text) => `${path}: ${text}`));
  expect(unmarked).toEqual([]);
});

test("unmarked texts are found in elements, choices and attributes", () => {
  const source = `
    <p title={isOpen ? "Close it" : t("Open it")} className="two words">
      Some text {t("marked")} {"more"} {isOpen && "shown"} {count === 1 ? "one" : "two"}
      <code>curl</code> · {\`\${count} monitors\`}
    </p>`;
  expect(listUnmarked(parseFile("x.tsx", source))).toEqual([
    "Close it",
    "Some text",
    "more",
    "shown",
    "one",
    "two",
    " monitors",
  ]);
});

describe("the build", () => {
  const german: Texts = {
    Save: "Speichern",
    "Delete {name}?": "{name} löschen?",
    "Use {{name}} or {x}": "{x} oder {{name}} verwenden",
    "{who} saw {what}": "{what} von {who} gesehen",
    "{count} monitors": { one: "{count} Monitor", other: "{count} Monitore" },
    "`{a}` costs ${b}": "`{a}` kostet ${b}, \\",
  };
  const find: FindText = (text) => german[text];
  const head = `import { t, tCount, tNode } from "../language/text.ts";\n`;
  const translate = (source: string) =>
    translateSource("web/x.tsx", head + source, find)
      .slice(head.trim().length)
      .trim();

  test.each([
    [`a(t("Save"))`, `a("Speichern")`],
    [`a(t("Other"))`, `a("Other")`],
    [`t("Delete {name}?", { name })`, "`${name} löschen?`"],
    [`t("Delete {name}?", { name: one.name })`, "`${one.name} löschen?`"],
    [`t("Use {{name}} or {x}", { x })`, "`${x} oder {{name}} verwenden`"],
    ['t("`{a}` costs ${b}", { a, b })', "`\\`${a}\\` kostet $${b}, \\\\`"],
    [`t("Delete {name}?", { name: t("Save") })`, '`${"Speichern"} löschen?`'],
    [`t("{who} saw {what}", { who: a(b), what: "x" })`, '`${"x"} von ${a(b)} gesehen`'],
    [
      `tCount(n, "{count} monitor", "{count} monitors")`,
      `tCount(n, "{count} Monitor", "{count} Monitore")`,
    ],
    [`tCount(n, "{count} day", "{count} days")`, `tCount(n, "{count} day", "{count} days")`],
    [
      `<p title={t("Save")}>{tNode("{who} saw {what}", { who: <b>{t("Save")}</b>, what })}</p>`,
      `<p title={"Speichern"}>{what}{" von "}{<b>{"Speichern"}</b>}{" gesehen"}</p>`,
    ],
    [`const x = tNode("Delete {name}?", { name: <b/> });`, `const x = <>{<b/>}{" löschen?"}</>;`],
    [`at("Save"); x.t("Save")`, `at("Save"); x.t("Save")`],
  ])("replaces %s", (source, expected) => {
    expect(translate(source)).toBe(expected);
  });

  test.each([
    [`t(text)`, "x.tsx:2: The text of a translation must be a literal."],
    [`t("Delete {name}?")`, "has a placeholder without a value"],
    [`t("{count} monitors", { count })`, "has no plural forms"],
    [`tCount(n, "1 save", "Save")`, "two forms in each language"],
    [`t("Delete {name}?", values)`, "Values must be an object literal."],
  ])("rejects %s", (source, expected) => {
    expect(() => translate(source)).toThrow(expected);
  });

  test("leaves files without texts of the page unchanged", () => {
    const source = `const t = (x: string) => x;\nt("Save");`;
    expect(translateSource("src/x.ts", source, find)).toBe(source);
  });
});

describe("the page in German", async () => {
  const folder = await mkdtemp(join(tmpdir(), "page-texts-"));
  const find = await loadDictionary("de");
  const build = async (path: string) => {
    const { outputs } = await Bun.build({
      entrypoints: [join(root, path)],
      outdir: folder,
      target: "bun",
      plugins: [
        {
          name: "german",
          setup: (builder) =>
            void builder.onLoad({ filter: /[\\/](src|web)[\\/].*\.tsx?$/ }, async (file) => ({
              contents: translateSource(file.path, await Bun.file(file.path).text(), find),
              loader: "ts",
            })),
        },
      ],
    });
    return outputs[0]?.path ?? "";
  };
  const formatting = (await import(
    await build("src/core/text/formatting.ts")
  )) as typeof import("../../src/core/text/formatting.ts");
  const times = (await import(
    await build("src/core/time/times.ts")
  )) as typeof import("../../src/core/time/times.ts");
  const rules = (await import(
    await build("web/components/forms/date-time-rules.ts")
  )) as typeof import("../../web/components/forms/date-time-rules.ts");
  afterAll(() => rm(folder, { recursive: true }));
  const zone = "Europe/Berlin";
  // A Friday.
  const now = Date.parse("2026-11-20T13:31:05Z");

  test("formats numbers, sizes and times as Germans write them", () => {
    const { formatBytes, formatCount, formatDuration, formatLatency, formatPercent } = formatting;
    expect(formatCount(1204)).toBe("1.204");
    expect(formatPercent(0.9998)).toBe("99,98\u202f%");
    expect(formatLatency(12_400)).toBe("12,4\u202fs");
    expect(formatBytes(12_400_000)).toBe("12,4 MB");
    expect(formatDuration(0)).toBe("weniger als eine Sekunde");
    expect(times.formatDateTime(zone, now - 3 * 86_400_000, now)).toBe("17. Nov. 14:31");
    expect(times.formatPeriod(zone, now - 65_000, now - 5_000, now)).toBe("Heute 14:30–14:31");
    expect(times.formatTimeSpan(zone, now, now + 60_000, now)).toBe(
      "Fr., 20. Nov. 14:31–14:32 MEZ",
    );
    expect(times.formatUntil(zone, [now, now + 1], now)).toBe(", die erste bis 14:31");
  });

  test.each([
    ["jetzt", "2026-11-20T14:31"],
    ["morgen 09:00", "2026-11-21T09:00"],
    ["bis morgen 9 uhr 30", null],
    ["Montag 09:00", "2026-11-23T09:00"],
    ["am nächsten Di. 8:15", "2026-11-24T08:15"],
    ["in 2 Tagen", "2026-11-22T14:31"],
    ["für 1 Stunde", "2026-11-20T15:31"],
    ["vor 7 Tagen", "2026-11-13T14:31"],
    ["26. Nov. 19:00", "2026-11-26T19:00"],
    ["3. März 2027, 19:00", "2027-03-03T19:00"],
    ["26.11. 19:00", "2026-11-26T19:00"],
    ["26.11.2026 19:00", "2026-11-26T19:00"],
    ["So. 22. Nov. 2026 02:00", "2026-11-22T02:00"],
    ["tomorrow 09:00", "2026-11-21T09:00"],
  ])("reads the typed time %j", (typed, expected) => {
    expect(rules.parseDateTime(typed, { now, zone })).toBe(expected);
  });

  test("reads its own writing, and the choices of its fields", () => {
    const written = rules.formatLocal("2026-11-22T02:00");
    expect(written).toBe("So. 22. Nov. 2026 02:00");
    expect(rules.parseDateTime(written, { now, zone })).toBe("2026-11-22T02:00");
    const path = "web/components/forms/date-time-field.tsx";
    const choices = listTextCalls(parseFile(path, read(path)))
      .map(({ texts: [text = ""] }) => find(text, path) as string)
      .filter((text) =>
        /^(jetzt|heute|gestern|morgen|Montag|in \d|für \d|vor \d|bis |\d)/.test(text),
      );
    expect(choices.length).toBeGreaterThan(20);
    for (const choice of choices)
      expect([
        choice,
        rules.parsePastTime(choice, { now, zone }) ?? rules.parseDateTime(choice, { now, zone }),
      ]).not.toContain(null);
  });
});
