/** Searches texts for RE2 expressions, in short slices between which the event loop serves other work. */
import type { RE2Set } from "re2js";
import { mailBounds, monitorBounds } from "../limits.ts";
import { setRecent } from "../collections/recent-set.ts";
import { yieldToEventLoop } from "../time/event-loop.ts";

/** Maximum instructions of a compiled expression, which limits the cost of one step. */
const maxSize = monitorBounds.expressionSize.value;
/** Maximum work of a search: states, weighted by their instructions. Takes 0.15 to 0.5 s. */
const maxWork = mailBounds.searchWork.value;
/** Milliseconds per event-loop turn for all new searches together, and again for all queued searches. */
const sliceMs = 5;
/** Maximum instructions of cached expressions, about 10 MB. */
const cachedSize = 100_000;
/** Maximum bytes of an automaton's states: during a search, and between two searches. */
const searchBytes = 1024 * 1024;
const retainedBytes = 32 * 1024;

/** Code points between two readings of the clock. */
const pointsBetween = 2_048;
/** Work between two readings of the clock, and the fixed cost of a new state. */
const workBetween = 1_000;
const stateWork = 20;

/** Estimated instructions of a large character class. */
const classSize = 32;

/** Represents the end of the text. */
const endOfText = -1;
const unanchored = 0;
/** Input flags of the library for the start of a text. */
const beginOfText = { context: () => 4 };

/** Escapes text for RE2, and for JavaScript with or without the flag `u`. */
export const escapeExpression = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Work that is left for searches. Searches of the same text can share it. */
export type SearchBudget = { work: number; steps: number };

export const createSearchBudget = (): SearchBudget => ({ work: maxWork, steps: maxSteps });

type SearchOptions = { signal?: AbortSignal; budget?: SearchBudget };

type State = { isMatch: boolean; nfaStates: readonly number[]; next: (State | null)[] | null };
export type SearchOutcome = boolean | "too much work";
type Captured = { text: string } | null | "too much work";
/** Result of a slice whose search is not finished. */
const unfinishedSearch = Symbol("unfinished");

/** Cached expressions, least recently used first. */
const compiledExpressions = new Map<string, RE2Set>();
let compiledSize = 0;

type Library = typeof import("re2js");
let libraryLoad: Promise<Library> | null = null;

/** Loads the library on first use, because loading takes 10 ms. Then yields to the event loop. */
function loadLibrary(): Promise<Library> {
  libraryLoad ??= import("re2js").then(async (loaded) => {
    await yieldToEventLoop();
    return loaded;
  });
  return libraryLoad;
}

/** Returns the error of an expression in RE2 syntax; null if it is valid. */
export async function findExpressionIssue(expression: string): Promise<string | null> {
  const loaded = await loadLibrary();
  try {
    return compileExpression(loaded, expression) === null
      ? "must be a simpler expression: with its repetitions written out it is too long"
      : null;
  } catch (error) {
    if (!(error instanceof loaded.RE2JSSyntaxException)) throw error;
    return `must be a regular expression as RE2 has them: ${error.getDescription()}`;
  }
}

/** Compiles an expression; null if it is too large. Estimates the size first, because compiling takes longer. */
function compileExpression({ RE2Set }: Library, expression: string): RE2Set | null {
  const known = compiledExpressions.get(expression);
  if (known !== undefined) {
    compiledExpressions.delete(expression);
    compiledExpressions.set(expression, known);
    return known;
  }
  const expressionSet = new RE2Set(RE2Set.UNANCHORED, 0, searchBytes);
  expressionSet.add(expression);
  if (estimateSize(expressionSet.regexps[0] as Node, maxSize) >= maxSize) return null;
  expressionSet.compile();
  compiledExpressions.set(expression, expressionSet);
  compiledSize += expressionSet.prog.numInst();
  for (const [oldest, set] of compiledExpressions) {
    if (compiledSize <= cachedSize) break;
    compiledExpressions.delete(oldest);
    compiledSize -= set.prog.numInst();
  }
  return expressionSet;
}

type Node = { subs: readonly Node[]; runes: readonly number[] | null };

/** Estimates the number of instructions, up to a limit. Counts each repetition. */
function estimateSize({ subs, runes }: Node, limit: number): number {
  // More runes than a literal can have are the ranges of a class such as \p{L}, which compiles to few instructions.
  const length = runes?.length ?? 0;
  let size = 1 + (length > monitorBounds.assertionExpression.value ? classSize : length);
  for (const sub of subs) {
    if (size >= limit) return size;
    size += estimateSize(sub, limit - size);
  }
  return size;
}

/**
 * Prepares a search with RE2's lazy automaton, which takes linear time for every expression. The returned function
 * continues the search until the given time (`performance.now()`).
 */
function prepareSearch(
  loaded: Library,
  expression: string,
  text: string,
  budget: SearchBudget,
): (until: number) => SearchOutcome | typeof unfinishedSearch {
  const set = compileExpression(loaded, expression);
  if (set === null) return () => "too much work";
  const { dfa } = set;
  let state = dfa.start(beginOfText, 0) as State | null;
  let at = 0;

  /** Computes the state after another code point; null if the search exceeds its limits. */
  function computeNextState(from: State, rune: number): State | null {
    const group = rune === endOfText ? dfa.numClasses : (dfa.runeClass(rune) as number);
    let next = dfa.step(from, group, rune, unanchored) as State | null;
    if (next === null) {
      const retainedState = dfa.resetCache(from) as State | null;
      next = retainedState && (dfa.step(retainedState, group, rune, unanchored) as State | null);
    }
    budget.work -= stateWork + from.nfaStates.length + (next?.nfaStates.length ?? 0);
    return budget.work < 0 ? null : next;
  }

  function finishSearch(found: SearchOutcome) {
    if (dfa.stateBudget - dfa.memBudget > retainedBytes) dfa.clearCache();
    return found;
  }

  return (until) => {
    const { latin1Class } = dfa;
    let look = at + pointsBetween;
    let workAtClockCheck = budget.work - workBetween;
    while (state !== null && !state.isMatch) {
      if (at >= text.length)
        return finishSearch(computeNextState(state, endOfText)?.isMatch ?? "too much work");
      if (at >= look || budget.work <= workAtClockCheck) {
        if (performance.now() >= until) return unfinishedSearch;
        look = at + pointsBetween;
        workAtClockCheck = budget.work - workBetween;
      }
      const rune = text.codePointAt(at) as number;
      at += rune > 0xffff ? 2 : 1;
      const group = rune < 256 ? latin1Class[rune] : (dfa.runeClass(rune) as number);
      state = state.next?.[group as number] ?? computeNextState(state, rune);
    }
    return finishSearch(state === null ? "too much work" : true);
  };
}

/** Maximum automaton threads that a capturing search steps through. Takes about 0.5 s. */
const maxSteps = 8_000_000;
const stepsBetween = 1_000;

type Queue = { size: number; mainThreads: number };
/** The library's automaton for captured groups (Pike VM). */
type Machine = {
  q0: Queue;
  q1: Queue;
  matched: boolean;
  init(captures: number): void;
  matchcap: Int32Array;
  add(q: Queue, pc: number, at: number, captures: Int32Array, offset: number, flag: number): void;
  step(
    from: Queue,
    to: Queue,
    at: number,
    next: number,
    rune: number,
    flag: number,
    anchor: number,
    atEnd: boolean,
  ): void;
};
type Compiled = {
  prog: { start: number };
  prefix: string;
  numSubexp: number;
  get(): Machine | null;
  doExecuteNFA(input: object, at: number, anchor: number, captures: number): unknown;
};

const automata = new Map<string, Compiled>();
const maxAutomata = 100;

/** Dummy input, because the library creates its automaton only during a search. */
const emptyInput = {
  step: () => -8,
  context: () => 0,
  endPos: () => 0,
  canCheckPrefix: () => false,
};

function createMachine({ RE2JS }: Library, expression: string) {
  const known = automata.get(expression);
  const re2 = known ?? (RE2JS.compile(expression).re2() as unknown as Compiled);
  setRecent(automata, expression, re2, maxAutomata);
  re2.doExecuteNFA(emptyInput, 0, unanchored, 2);
  return { re2, machine: re2.get() as Machine };
}

const isWord = (code: number) =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  code === 95;

/** Returns the library's flags for a position in a text: ends of the text and of lines, and word boundaries. */
function computeContext(text: string, at: number): number {
  const before = at === 0 ? -1 : text.charCodeAt(at - 1);
  const after = at === text.length ? -1 : text.charCodeAt(at);
  const startFlags = before === -1 ? 5 : before === 10 ? 1 : 0;
  const ends = after === -1 ? 10 : after === 10 ? 2 : 0;
  return startFlags | ends | (isWord(before) === isWord(after) ? 32 : 16);
}

/** Finds the first group of the first match, or the whole match. Runs the library's loop in slices. */
function prepareCapture(
  loaded: Library,
  expression: string,
  text: string,
  budget: SearchBudget,
): (until: number) => Captured | typeof unfinishedSearch {
  if (compileExpression(loaded, expression) === null) return () => "too much work";
  const { re2, machine } = createMachine(loaded, expression);
  const hasGroup = re2.numSubexp > 0;
  machine.init(hasGroup ? 4 : 2);
  machine.matched = false;
  let [queue, next] = [machine.q0, machine.q1];
  let at = 0;
  return (until) => {
    let look = budget.steps - stepsBetween;
    for (;;) {
      if (queue.mainThreads === 0 && machine.matched) break;
      if (queue.size === 0 && re2.prefix !== "") {
        at = text.indexOf(re2.prefix, at);
        if (at === -1) return null;
      }
      if (!machine.matched) {
        machine.matchcap[0] = at;
        machine.add(queue, re2.prog.start, at, machine.matchcap, 0, computeContext(text, at));
      }
      const rune = text.codePointAt(at) ?? endOfText;
      const width = rune > 0xffff ? 2 : rune === endOfText ? 0 : 1;
      budget.steps -= 1 + queue.size;
      const flag = computeContext(text, at + width);
      machine.step(queue, next, at, at + width, rune, flag, unanchored, width === 0);
      if (width === 0) break;
      at += width;
      [queue, next] = [next, queue];
      if (budget.steps < 0) return "too much work";
      if (budget.steps <= look) {
        if (performance.now() >= until) return unfinishedSearch;
        look = budget.steps - stepsBetween;
      }
    }
    if (!machine.matched) return null;
    const [from = -1, to = -1] = machine.matchcap.subarray(hasGroup ? 2 : 0);
    return from === -1 ? null : { text: text.slice(from, to) };
  };
}

/** Milliseconds that searches can still use in this turn of the event loop. */
let leftMs = sliceMs;

function spendTime(ms: number) {
  if (leftMs === sliceMs) setImmediate(() => (leftMs = sliceMs));
  leftMs -= ms;
}

type InTurn<T> = (rest: () => Promise<T>) => Promise<T>;

/** Whether a valid expression matches in the text. Runs like `searched`. */
export const isFound = (
  expression: string,
  text: string,
  inTurn: InTurn<SearchOutcome>,
  { signal, budget = createSearchBudget() }: SearchOptions = {},
): Promise<SearchOutcome> =>
  searchInSlices((loaded) => prepareSearch(loaded, expression, text, budget), inTurn, signal);

/** Returns the first group of the first match of a valid expression, or the whole match. Runs like `searched`. */
export const captureGroup = (
  expression: string,
  text: string,
  inTurn: InTurn<Captured>,
  { signal, budget = createSearchBudget() }: SearchOptions = {},
): Promise<Captured> =>
  searchInSlices((loaded) => prepareCapture(loaded, expression, text, budget), inTurn, signal);

/**
 * Searches in the remaining time of this event-loop turn. A longer search continues through `inTurn`, one slice per
 * turn, until the signal aborts it.
 */
async function searchInSlices<T>(
  startSearch: (loaded: Library) => (until: number) => T | typeof unfinishedSearch,
  inTurn: InTurn<T | "too much work">,
  signal?: AbortSignal,
): Promise<T | "too much work"> {
  const loaded = await loadLibrary();
  let search: ReturnType<typeof startSearch> | null = null;
  const runSlice = () => {
    const startedAt = performance.now();
    search ??= startSearch(loaded);
    const found = search(startedAt + sliceMs);
    spendTime(performance.now() - startedAt);
    return found;
  };
  const atOnce = leftMs > 0 ? runSlice() : unfinishedSearch;
  if (atOnce !== unfinishedSearch) return atOnce;
  return inTurn(async () => {
    for (;;) {
      await yieldToEventLoop();
      const found = signal?.aborted === true ? "too much work" : runSlice();
      if (found !== unfinishedSearch) return found;
    }
  });
}
