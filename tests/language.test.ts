/** Rejects unclear phrases, most of them translated word by word, in comments, messages and documents. */
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { join } from "node:path";

/** Each phrase, by a plain alternative. */
const phrases: Record<string, RegExp> = {
  "name the person or client": /\bwho(m)?ever\b|\bnobody's\b|\bof wh(om|ich) nobody\b/i,
  "name the number": /\b(up to|as) so many\b|^\W*so (many|much|long|often)\b/im,
  "notify, report or show": /\b(is|are|was|were|be|been|being) told\b|\bt(ells?|old) of\b/i,
  "use a noun": /\bwhat (somebody|nobody|whoever|many)\b|\b(those|ones?) that (has|have) /i,
  "next to, or in addition to": /\bbeside\b/i,
  automatically: /\bby (itself|themselves)\b/i,
  "regardless of, or any": /, whatever\b/i,
  "must or will": /\b(is|are) to (be|have|go|come)\b/i,
  "is in, or is": /\bstands? (in|at|there|under|behind|as)\b/i,
  "imported, in use or accepted": /\bnot taken\b|\bis taken by\b/i,
  "reports or shows": /\b[A-Z]\w+ says that\b/,
  "for objects, or if several": /(^\W*|[.:] )Of [a-z][^.#]*, /m,
  "belongs to": /\b(is|are) of (this|that|these|all)\b/,
  "even if, even after": /\balso (if|when|while|after|without)\b/i,
  again: /\banew\b/,
  "take turns": /\b(have|has|get|gets) (their|its) turns?\b/i,
};

const files = ["*.md", "docs/**/*.md", "{src,web,tests,release}/**/*.{ts,tsx}"];
const commentOrText =
  /\/\*[^]*?\*\/|(?<=^|[\s,;{}()])\/\/.*$|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[>}]\s*)[^<>{}=;()]{8,}(?=[<{])/gm;

test("comments, messages and documents use plain English", async () => {
  const root = join(import.meta.dir, "..");
  const found: { file: string; advice: string; text: string }[] = [];
  for (const file of files.flatMap((pattern) => [...new Glob(pattern).scanSync(root)])) {
    const whole = await Bun.file(join(root, file)).text();
    const texts = file.endsWith(".md") ? whole.split("\n") : (whole.match(commentOrText) ?? []);
    for (const text of texts)
      for (const [advice, phrase] of Object.entries(phrases))
        if (phrase.test(text)) found.push({ file, advice, text });
  }
  expect(found).toEqual([]);
});

test("comments name only identifiers that exist", async () => {
  const root = join(import.meta.dir, "..");
  const texts = await Promise.all(
    [...new Glob("{src,web,tests,release}/**/*.{ts,tsx}").scanSync(root)].map(async (file) => ({
      file,
      text: await Bun.file(join(root, file)).text(),
    })),
  );
  const comment = /\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm;
  const known = new Set(texts.flatMap(({ text }) => text.replace(comment, "").match(/\w+/g) ?? []));
  const found = texts.flatMap(({ file, text }) =>
    (text.match(comment) ?? [])
      .flatMap((one) => [
        ...[...one.matchAll(/`([a-z]+[A-Z]\w*)(?:\(\))?`/g)].map(([, name = ""]) => name),
        ...[...one.matchAll(/\bthrows ((?:an? |(?:and|or) |[A-Z]\w+,? ?)+)/gi)].flatMap(
          ([, errors = ""]) => errors.match(/[A-Z]\w+/g) ?? [],
        ),
      ])
      .flatMap((name) => (known.has(name) ? [] : [{ file, name }])),
  );
  expect(found).toEqual([]);
});
