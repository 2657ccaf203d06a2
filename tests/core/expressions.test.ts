import { afterEach, describe, expect, jest, spyOn, test } from "bun:test";
import fc from "fast-check";
import { RE2JS } from "re2js";
import {
  captureGroup,
  escapeExpression,
  findExpressionIssue,
  isFound,
  type SearchOutcome,
} from "../../src/core/text/expressions.ts";
import { badExpressions, createWorstText } from "../support/bad-expressions.ts";

afterEach(() => jest.restoreAllMocks());

const generateLetters = (length: number) => {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 2 === 0 ? "a" : "b";
  }).join("");
};

const bad = badExpressions.map(([expression]) => expression);
const runNow = <T>(work: () => Promise<T>) => work();

describe("an expression", () => {
  test("of escaped text finds this text, in RE2 and in JavaScript", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
        const expression = escapeExpression(text);
        expect(RE2JS.compile(expression).matches(text)).toBe(true);
        for (const flags of ["", "u", "su"])
          expect(new RegExp(`^${expression}$`, flags).test(text)).toBe(true);
      }),
    );
  });

  test("finds the same as RE2, for any expression and text", async () => {
    const texts = ["", "a", "b\n", "ab=aab c", "Größe 😀 1,2", "foobarbazz", generateLetters(300)];
    const usual = ["^$", "\\bab\\b", "(?i)GRÖSSE|größe", "a$", "^b$", "(?m)^b$", ".😀.\\d", "\\Ba"];
    for (const [expression, repeated] of [
      ...badExpressions,
      ...usual.map((one) => [one, one] as const),
    ])
      for (const text of [...texts, createWorstText(repeated, 300)])
        expect([expression, text, await isFound(expression, text, runNow)]).toEqual([
          expression,
          text,
          RE2JS.compile(expression).test(text),
        ]);
  });

  test("that is too long when expanded is rejected before it is compiled", async () => {
    for (const long of [
      "(\\w{30}){30}",
      `(${"abcdefghij".repeat(40)}){1000}`,
      "a{1000}".repeat(60),
    ])
      expect(await findExpressionIssue(long)).toBe(
        "must be a simpler expression: with its repetitions written out it is too long",
      );
    for (const fine of [...bad, "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "\\pL{1,50}"])
      expect([fine, await findExpressionIssue(fine)]).toEqual([fine, null]);
  });

  test("that RE2 rejects is reported with the reason, without the expression", async () => {
    for (const [wrong, why] of [
      ["(a", "missing closing )"],
      ["a**", "invalid nested repetition operator"],
      ["(?=a)", "invalid or unsupported Perl syntax"],
      ["(a)\\1", "invalid escape sequence"],
      ["[b-a]", "invalid character class range"],
      ["a{1001}", "invalid repeat count"],
    ] as const)
      expect(await findExpressionIssue(wrong)).toBe(
        `must be a regular expression as RE2 has them: ${why}`,
      );
  });
});

describe("a long search", () => {
  const text = generateLetters(1024 * 1024);
  const explodes = "(a|b)*a(a|b){30}c";

  /** Result of a search, and the number of event-loop turns that it took. */
  async function search(signal?: AbortSignal): Promise<[found: SearchOutcome, turns: number]> {
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    const countTurn = (rest: () => Promise<SearchOutcome>) => {
      count();
      return rest();
    };
    const found = await isFound(explodes, text, countTurn, signal && { signal });
    isOver = true;
    return [found, turns];
  }

  test("yields to the event loop, and stops after a limit of work or with its check", async () => {
    const [found, turns] = await search();
    expect(found).toBe("too much work");
    expect(turns).toBeGreaterThan(3);
    const [, ended] = await search(AbortSignal.abort());
    expect(ended).toBeLessThan(3);
  });

  test("of a short text does not yield", async () => {
    // On a busy machine even a short text can take long.
    spyOn(performance, "now").mockReturnValue(0);
    const rejectTurn = () => Promise.reject(new Error("It waits for its turn."));
    for (const [expression, found] of [
      ["^ab+", true],
      ["b$", false],
      ["c", false],
    ] as const) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(await isFound(expression, "abba", rejectTurn)).toBe(found);
    }
  });
});

describe("when each clock reading says that the turn is over", () => {
  /** Returns how often the clock is read, except at the start and end of each turn. */
  async function countClockReads<T>(search: () => Promise<T>): Promise<[found: T, reads: number]> {
    let calls = 0;
    spyOn(performance, "now").mockImplementation(() => ++calls * 1_000);
    const found = await search();
    jest.restoreAllMocks();
    return [found, Math.floor(calls / 3)];
  }

  test("every search reads the clock regularly, for any expression", async () => {
    for (const [expression, repeated] of badExpressions) {
      const text = createWorstText(repeated, 20_000);
      const [, reads] = await countClockReads(() => isFound(expression, text, runNow));
      const [, partReads] = await countClockReads(() => captureGroup(expression, text, runNow));
      expect([expression, reads >= 2, partReads >= 2]).toEqual([expression, true, true]);
    }
  });
});

describe("the matched part of a text", () => {
  const inTurn = <T>(work: () => Promise<T>) => work();
  const buildPart = (expression: string, text: string) => captureGroup(expression, text, inTurn);

  test("is the same as the library finds, for any expression and text", async () => {
    const atom = fc.constantFrom(
      "a",
      "b",
      ".",
      "[ab]",
      "\\w",
      "\\b",
      "^",
      "$",
      "\\n",
      "😀",
      "(?i:A)",
      "x",
    );
    const quantifier = fc.constantFrom("", "*", "+", "?", "*?", "{1,2}");
    const group = fc.constantFrom("", "(", "(?:");
    const piece = fc
      .tuple(
        group,
        fc.array(
          fc.tuple(atom, quantifier).map((both) => both.join("")),
          { minLength: 1, maxLength: 3 },
        ),
        fc.constantFrom("", "|b", "|"),
      )
      .map(([open, inner, other]) =>
        open === "" ? inner.join("") : `${open}${inner.join("")}${other})`,
      );
    const expression = fc
      .array(piece, { minLength: 1, maxLength: 3 })
      .map((pieces) => pieces.join(""));
    const letters = fc.array(fc.constantFrom("a", "b", "A", "\n", " ", "😀", "x"), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(expression, letters, async (expression, letters) => {
        if ((await findExpressionIssue(expression)) !== null) return;
        const text = letters.join("");
        const matcher = RE2JS.compile(expression).matcher(text);
        const isFound = matcher.find();
        const group = matcher.groupCount() > 0 ? 1 : 0;
        const expected = isFound ? matcher.group(group) : null;
        expect([expression, text, await buildPart(expression, text)]).toEqual([
          expression,
          text,
          expected === null ? null : { text: expected },
        ]);
      }),
      { numRuns: 200 },
    );
  });

  test("of a long text is found across several turns, up to a limit of work", async () => {
    let turns = 0;
    const readCounts = async <T>(work: () => Promise<T>) => {
      turns++;
      return work();
    };
    const text = `${"<p>".repeat(300_000)}token=abc;`;
    expect(await captureGroup("[<a-z]oken=(\\w+)", text, readCounts)).toEqual({ text: "abc" });
    expect(await captureGroup("(x+x+)+y", "x".repeat(1_000_000), readCounts)).toBe("too much work");
    expect(turns).toBeGreaterThan(0);
    expect(
      await captureGroup("token=(\\w+)", text, readCounts, { signal: AbortSignal.abort() }),
    ).not.toBeNull();
  });
});
