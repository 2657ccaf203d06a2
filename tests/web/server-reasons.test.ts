/** Every reason that the server can give for a failure has a German text. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import ts from "typescript";
import germanReasons from "../../src/core/text/server-texts/de-reasons.json";
import german from "../../src/core/text/server-texts/de.json";
import { createTranslator } from "../../src/core/text/translator.ts";
import { Evaluator, gap, loadProgram, visitNodes } from "../support/server-sentences.ts";

const root = join(import.meta.dir, "..", "..");
const folders = [
  "src/core/outgoing",
  "src/monitoring",
  "src/accounts/single-sign-on",
  "src/alerting",
  "src/operations",
  "src/status-pages/subscribers",
];

/** Failures whose messages people read. */
const failures = new Set(["TargetFailure", "LocalFailure", "ProviderFailure"]);
const verdicts = /^fail(Temporarily|Permanently|Locally|Finally)$/;

const program = loadProgram(root, folders);
/** Schemas contain examples. */
const files = program
  .getSourceFiles()
  .filter(({ fileName }) => fileName.startsWith(`${root}/src/`) && !fileName.endsWith("schema.ts"));
const evaluator = new Evaluator(program, files);

const getBase = (node: ts.ClassLikeDeclaration) =>
  node.heritageClauses
    ?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
    ?.types[0]?.expression.getText() ?? "";

/** Classes of failures without a constructor of their own. */
const plainFailures = new Set(failures);
for (let size = 0; size !== failures.size;) {
  size = failures.size;
  for (const file of files)
    visitNodes(file, (node) => {
      if (!ts.isClassDeclaration(node) || !node.name || !failures.has(getBase(node))) return;
      failures.add(node.name.text);
      if (!node.members.some(ts.isConstructorDeclaration)) plainFailures.add(node.name.text);
    });
}

type Source = ts.Expression | ts.ShorthandPropertyAssignment;

/** Fields with sentences, by the folder of their type. */
const fields: readonly [path: RegExp, name: RegExp, beside: RegExp][] = [
  [/\/monitoring\/checks\//, /^(message|serverText)$/, /^(latencyMs|reason|status)$/],
  [/\/monitoring\/checks\//, /^serverText$/, /^/],
  [/\/checks\/protocols\/assertions/, /^message$/, /^/],
  [/\/alerting\/sending\/messages/, /^title$/, /^/],
  [/\/target-guard/, /^what$/, /^/],
  [/\/alerting\//, /^message$/, /^at$/],
  [/\/monitoring\/checks\//, /^unreadable$/, /^/],
  [/\/alerting\/provider/, /^(lost|note|detail|arrived)$/, /^/],
  [/\/single-sign-on\//, /^advice$/, /^/],
  [/\/(alerting\/sending|events|operations)\//, /^message$/, /^(key|name|severity)$/],
];

/** Whether a node is in the function that `converse` runs over a connection. It can return words. */
function isTalk(node: ts.Node): boolean {
  const { parent } = ts.findAncestor(node, ts.isFunctionLike) ?? {};
  return (
    parent !== undefined &&
    ts.isCallExpression(parent) &&
    parent.expression.getText() === "converse"
  );
}

/** Whether a node is in a function that writes the title or an update of an automatic incident. */
function isOfIncident(node: ts.Node): boolean {
  const name = ts.findAncestor(node, ts.isFunctionDeclaration)?.name?.text ?? "";
  return /^(composeIncidentTitle|describeAutomaticUpdate)$/.test(name);
}

/** Returns the words of a success, to which the time is added. */
function listWords(node: ts.Node): string[] {
  if (ts.isReturnStatement(node) && node.expression && isTalk(node))
    return evaluator.listTexts(node.expression);
  const isWords = /\/checks\/kinds\//.test(node.getSourceFile().fileName);
  if (!isWords || !/^words\b/.test(node.getText())) return [];
  if (ts.isPropertyAssignment(node)) return evaluator.listTexts(node.initializer);
  return ts.isShorthandPropertyAssignment(node) ? evaluator.listShorthandTexts(node) : [];
}

/** Returns the expressions at a node that create sentences which people read. */
function listSources(node: ts.Node): Source[] {
  const path = node.getSourceFile().fileName;
  if (ts.isNewExpression(node) && plainFailures.has(node.expression.getText()))
    return [...(node.arguments ?? [])].filter((_, index) => index !== 1);
  if (ts.isReturnStatement(node) && node.expression && isOfIncident(node)) return [node.expression];
  if (ts.isCallExpression(node)) {
    if (verdicts.test(node.expression.getText())) return node.arguments.slice(0, 1);
    if (node.expression.kind !== ts.SyntaxKind.SuperKeyword) return [];
    const { parent } = ts.findAncestor(node, ts.isConstructorDeclaration) ?? {};
    return parent && failures.has(getBase(parent)) ? node.arguments.slice(0, 1) : [];
  }
  if (!ts.isPropertyAssignment(node) && !ts.isShorthandPropertyAssignment(node)) return [];
  const siblings = node.parent.properties.map((one) => one.name?.getText() ?? "");
  const isShown = fields.some(
    ([folder, name, beside]) =>
      folder.test(path) &&
      name.test(node.name.getText()) &&
      siblings.some((sibling) => beside.test(sibling)),
  );
  if (!isShown) return [];
  return [ts.isPropertyAssignment(node) ? node.initializer : node];
}

const sentences = new Set<string>();
/** Parts of sentences. */
const parts = evaluator.parts;
for (const file of files)
  visitNodes(file, (node) => {
    for (const source of listSources(node))
      for (const text of ts.isShorthandPropertyAssignment(source)
        ? evaluator.listShorthandTexts(source)
        : evaluator.listTexts(source))
        sentences.add(text);
    // Texts that `runCheck` adds to a reason.
    if (ts.isBinaryExpression(node) && /\.(part|silence)$/.test(node.left.getText()))
      for (const text of evaluator.listTexts(node.right))
        sentences.add(text.endsWith(".") ? text : `${text}: ${gap}`).add(text);
    for (const words of listWords(node)) sentences.add(`${words} in ${gap} ms.`);
    // Tables of the reasons that services give by code.
    const isTable = ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node);
    if (
      isTable &&
      node.initializer &&
      /alerting|checks|target-guard/.test(file.fileName) &&
      /(ranges|reasons|titles)$/i.test(node.name.getText())
    )
      for (const text of evaluator.listMemberTexts(node.initializer)) parts.add(text);
  });

/** Combinations that never occur. */
const impossible = [
  // Presence is compared without a value, and everything else with one.
  /must (not )?be there ./,
  /must (not )?(be( (less|greater) than| at (most|least)| within)?|contain|match)($|,|\.)/,
  // Headers and values of JSON have a path, and nothing else has.
  /the (header|value at) must|the (body|status|latency in ms|days .*|number of redirects) 7 must/,
  // A missing number is not on its way back.
  /there is no number.* \(back at/,
  // Alerts are sent to channels, and notices to subscribers.
  /(alerts|alert channels) .*subscribers|(notices|subscribers) .*alert channels/,
  // Codes, commands and names of containers are not empty.
  /\(\)|responded to  with|^, |: [.;]/,
  // The title of this type is shown instead. Names are not empty.
  /^(appliance|certificate|channel|incident|monitor|source)\.\w+$|quiet hours of {2}held/,
  // The name of the service is in front of it.
  /not: (refused|says) /,
  // Reasons and words from a variable, which have their own entries.
  /^7 (in 7 ms\.$|Good result)/,
  // A number of days is not 1 in this form, and `de.json` has each status of an incident.
  /in 7 day$|^Incident, 7: 7$/,
];

/** Texts that are chosen at run time: states, and what monitors have in common. */
const chosenLater =
  /^(up|degraded|down|And \{count\} more\.|with the same .*|(on|behind)( the .*)? \{host\})$/;

/** Names and codes within a sentence, which stay as they are. */
const sameEverywhere =
  /^([A-Z0-9][\w.]*( (Assistant|Chat|over|Talk|Server|HTTPS|Service|Management))*|incident\.io|mysql_\w+|ntfy|running|seven\.io|systemd|unknown)$/;

const used = new Set<string>();
let kept: string[] = [];
const translate = createTranslator(
  { ...german, ...germanReasons },
  { onUse: (english) => used.add(english), onKeep: (text) => kept.push(text) },
);

test("each reason has a German text", () => {
  const missing: string[] = [];
  const all = [
    ...sentences,
    ...Array.from(parts, (part) => `Expected to fail, but did not: ${part}`),
  ];
  for (const sentence of all.map((one) => one.replaceAll(gap, "7"))) {
    kept = [];
    const translated = translate(sentence);
    const isEnglish = kept.some(
      (text) => /[a-z]{2}/.test(text) && translated.includes(text) && !sameEverywhere.test(text),
    );
    if (isEnglish && !impossible.some((one) => one.test(sentence))) missing.push(sentence);
  }
  expect(missing).toEqual([]);
});

test("each German text translates a reason", () => {
  const unused = Object.keys(germanReasons).filter(
    (english) => !used.has(english) && !chosenLater.test(english),
  );
  expect(unused).toEqual([]);
});
