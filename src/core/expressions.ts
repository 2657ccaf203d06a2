import type { RE2Set } from "re2js";
import { assertionLimits } from "./limits.ts";

/** Instructions of a compiled expression: what one step of a search costs at most. */
const maxSize = 2_000;
/** States that a search makes, by the instructions in each: some 0.3 s of work. */
const maxWork = 1_000_000;
/** The event loop is held no longer at a time. */
const sliceMs = 5;
/** Compiled expressions that are kept for the next check, and the memory that each keeps its states in. */
const keptExpressions = 500;
const keptBytes = 32 * 1024;
const searchBytes = 1024 * 1024;

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
const beginOfText = { context: () => 4 };

type State = { isMatch: boolean; nfaStates: readonly number[]; next: (State | null)[] | null };
/** What one search has found: null while it goes on. */
type Found = Searched | null;
export type Searched = boolean | "too much work";

const compiled = new Map<string, RE2Set>();

// Loaded when first used: it costs a start 10 ms.
const library = () => import("re2js");

/** Why it can't be used as an expression (RE2's syntax); null when it can. */
export async function expressionIssue(expression: string): Promise<string | null> {
  const { RE2JSSyntaxException } = await library();
  try {
    return (await compiledOf(expression)) === null
      ? "must be a simpler expression: its counted repetitions make it too long"
      : null;
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return `must be a regular expression as RE2 has them: ${error.getDescription()}`;
  }
}

/** Null for one that is too large: its size is known before it is compiled, which takes longer. */
async function compiledOf(expression: string): Promise<RE2Set | null> {
  const known = compiled.get(expression);
  if (known !== undefined) {
    compiled.delete(expression);
    compiled.set(expression, known);
    return known;
  }
  const { RE2Set } = await library();
  const made = new RE2Set(RE2Set.UNANCHORED, 0, searchBytes);
  made.add(expression);
  if (sizeOf(made.regexps[0] as Node, maxSize) >= maxSize) return null;
  made.compile();
  compiled.set(expression, made);
  const [oldest] = compiled.keys();
  if (compiled.size > keptExpressions && oldest !== undefined) compiled.delete(oldest);
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
 * text whatever the expression. `run` works for some milliseconds.
 */
async function searchFor(expression: string, text: string): Promise<{ run(): Found }> {
  const set = await compiledOf(expression);
  if (set === null) return { run: () => "too much work" };
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

  return {
    run() {
      const until = performance.now() + sliceMs;
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
    },
  };
}

/**
 * Whether a valid expression is found in the text. What is not found within some milliseconds is looked for
 * by `inTurn`, one turn of the event loop after the other, until the signal ends it.
 */
export async function isFound(
  expression: string,
  text: string,
  inTurn: (rest: () => Promise<Searched>) => Promise<Searched>,
  signal?: AbortSignal,
): Promise<Searched> {
  const search = await searchFor(expression, text);
  const rest = async () => {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const found = signal?.aborted === true ? "too much work" : search.run();
      if (found !== null) return found;
    }
  };
  return search.run() ?? inTurn(rest);
}
