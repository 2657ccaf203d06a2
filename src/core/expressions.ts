import type { RE2Set } from "re2js";
import { assertionLimits } from "./limits.ts";

/** Instructions of a compiled expression: what one step of a search costs at most. */
const maxSize = 2_000;
/** States that a search makes, by the instructions in each: some 0.15 s of work. */
const maxWork = 3_000_000;
/** All searches hold one turn of the event loop no longer, and those that wait for their turn as long again. */
const sliceMs = 5;
/** Instructions of the compiled expressions that are kept for the next check: some 10 MB. */
const keptSize = 100_000;
/** What the states of one may take during a search, and between two. */
const searchBytes = 1024 * 1024;
const keptBytes = 32 * 1024;

/** Code points from one look at the clock to the next. */
const pointsBetween = 8_192;
/** What reading the clock is worth, and what a new state costs beyond its instructions. */
const workBetween = 1_000;
const stateWork = 20;

/** What a large class of characters costs, in instructions. */
const classSize = 32;

/** What is behind the last code point. */
const end = -1;
const unanchored = 0;
/** The library's flags of what is around the beginning of a text. */
const beginOfText = { context: () => 4 };

type State = { isMatch: boolean; nfaStates: readonly number[]; next: (State | null)[] | null };
export type Searched = boolean | "too much work";

/** Those used last stand last. */
const compiled = new Map<string, RE2Set>();
let compiledSize = 0;

// Loaded when first used: it costs a start 10 ms.
const library = () => import("re2js");
type Library = Awaited<ReturnType<typeof library>>;

/** Why it can't be used as an expression (RE2's syntax); null when it can. */
export async function expressionIssue(expression: string): Promise<string | null> {
  const loaded = await library();
  try {
    return compiledOf(loaded, expression) === null
      ? "must be a simpler expression: with its repetitions written out it is too long"
      : null;
  } catch (error) {
    if (!(error instanceof loaded.RE2JSSyntaxException)) throw error;
    return `must be a regular expression as RE2 has them: ${error.getDescription()}`;
  }
}

/** Null for one that is too large: its size is known before it is compiled, which takes longer. */
function compiledOf({ RE2Set }: Library, expression: string): RE2Set | null {
  const known = compiled.get(expression);
  if (known !== undefined) {
    compiled.delete(expression);
    compiled.set(expression, known);
    return known;
  }
  const made = new RE2Set(RE2Set.UNANCHORED, 0, searchBytes);
  made.add(expression);
  if (sizeOf(made.regexps[0] as Node, maxSize) >= maxSize) return null;
  made.compile();
  compiled.set(expression, made);
  compiledSize += made.prog.numInst();
  for (const [oldest, set] of compiled) {
    if (compiledSize <= keptSize) break;
    compiled.delete(oldest);
    compiledSize -= set.prog.numInst();
  }
  return made;
}

type Node = { subs: readonly Node[]; runes: readonly number[] | null };

/** About how many instructions it makes, counted up to a bound: what is repeated stands there as often. */
function sizeOf({ subs, runes }: Node, most: number): number {
  // More than a literal can have are the ranges of a class such as \p{L}, which is one instruction.
  const length = runes?.length ?? 0;
  let size = 1 + (length > assertionLimits.expression ? classSize : length);
  for (const sub of subs) {
    if (size >= most) return size;
    size += sizeOf(sub, most - size);
  }
  return size;
}

/**
 * Looks for an expression in a text: a lazily made automaton of RE2, which takes time in proportion to the
 * text whatever the expression. The function that comes back works at it until then (performance.now()).
 */
function searchFor(
  loaded: Library,
  expression: string,
  text: string,
): (until: number) => Searched | null {
  const set = compiledOf(loaded, expression);
  if (set === null) return () => "too much work";
  const { dfa } = set;
  let state = dfa.start(beginOfText, 0) as State | null;
  let at = 0;
  let work = 0;

  /** The state after one more code point; null where the search may not make another. */
  function made(from: State, rune: number): State | null {
    const group = rune === end ? dfa.numClasses : (dfa.runeClass(rune) as number);
    let next = dfa.step(from, group, rune, unanchored) as State | null;
    if (next === null) {
      const kept = dfa.resetCache(from) as State | null;
      next = kept && (dfa.step(kept, group, rune, unanchored) as State | null);
    }
    work += stateWork + from.nfaStates.length + (next?.nfaStates.length ?? 0);
    return work > maxWork ? null : next;
  }

  function over(found: Searched) {
    if (dfa.stateBudget - dfa.memBudget > keptBytes) dfa.clearCache();
    return found;
  }

  return (until) => {
    const { latin1Class } = dfa;
    let look = at + pointsBetween;
    let lookWork = work + workBetween;
    while (state !== null && !state.isMatch) {
      if (at >= text.length) return over(made(state, end)?.isMatch ?? "too much work");
      if (at >= look || work >= lookWork) {
        if (performance.now() >= until) return null;
        look = at + pointsBetween;
        lookWork = work + workBetween;
      }
      const rune = text.codePointAt(at) as number;
      at += rune > 0xffff ? 2 : 1;
      const group = rune < 256 ? latin1Class[rune] : (dfa.runeClass(rune) as number);
      state = state.next?.[group as number] ?? made(state, rune);
    }
    return over(state === null ? "too much work" : true);
  };
}

/** Milliseconds that are left to searches in this turn of the event loop. */
let leftMs = sliceMs;

function spend(ms: number) {
  if (leftMs === sliceMs) setImmediate(() => (leftMs = sliceMs));
  leftMs -= ms;
}

/**
 * Whether a valid expression is found in the text. What is not found in what is left of the event loop's
 * turn is looked for by `inTurn`, one turn after the other, until the signal ends it.
 */
export async function isFound(
  expression: string,
  text: string,
  inTurn: (rest: () => Promise<Searched>) => Promise<Searched>,
  signal?: AbortSignal,
): Promise<Searched> {
  const loaded = await library();
  let search: ReturnType<typeof searchFor> | null = null;
  const work = () => {
    const startedAt = performance.now();
    search ??= searchFor(loaded, expression, text);
    const found = search(startedAt + sliceMs);
    spend(performance.now() - startedAt);
    return found;
  };
  const atOnce = leftMs > 0 ? work() : null;
  if (atOnce !== null) return atOnce;
  return inTurn(async () => {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const found = signal?.aborted === true ? "too much work" : work();
      if (found !== null) return found;
    }
  });
}
