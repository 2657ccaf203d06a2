/** Searches texts regardless of case, in limited steps. */
import { AppError } from "../core/errors.ts";
import { searchBounds } from "../core/limits.ts";
import { yieldToEventLoop } from "../core/time/event-loop.ts";
import type { Parameter, Store } from "./store.ts";

/** Condition that a column contains a text. `cost` is the relative cost per row: 1 for a plain text. */
type SearchCondition = { text: string; parameters: readonly string[]; cost: number };

/** Cost of replacing one character, relative to the search itself. */
const replacementCost = 0.5;

/**
 * Creates a case-insensitive condition that a column contains a text. SQLite folds only ASCII, so other letters are
 * replaced with one of their cases first. Unlike patterns, `instr` is fast for any text.
 */
export function buildContains(column: string, text: string): SearchCondition {
  const characters = Array.from(text);
  const folded = characters.map(foldCase).join("");
  const replaced = new Map(
    characters.flatMap((one) => {
      const to = foldCase(one);
      return listCases(one).flatMap((from) => (from === to || isAscii(from) ? [] : [[from, to]]));
    }) as [string, string][],
  );
  const foldedColumn = [...replaced].reduce(
    (inner) => `replace(${inner}, ?, ?)`,
    `lower(${column})`,
  );
  return {
    text: `instr(${foldedColumn}, ?) > 0`,
    parameters: [...[...replaced].flat(), folded],
    cost: 1 + replaced.size * replacementCost,
  };
}

const isAscii = (character: string) => character.charCodeAt(0) < 0x80;

/** Returns all single-character cases of a character. Excludes `SS` for `ß`. */
function listCases(character: string): string[] {
  const upper = character.toUpperCase();
  const cases = [character, character.toLowerCase(), upper, upper.toLowerCase()];
  return [...new Set(cases)].filter((one) => Array.from(one).length === 1);
}

/** Returns the canonical case of a character: ASCII if possible, otherwise lower case. */
function foldCase(character: string): string {
  const cases = listCases(character);
  const small = character.toUpperCase().toLowerCase();
  return cases.find(isAscii)?.toLowerCase() ?? (cases.includes(small) ? small : character);
}

export type Condition = { text: string; parameters: readonly Parameter[]; cost: number };

/** Rows per statement, for at most about 10 ms of work. */
export const computeStride = (cost: number) =>
  Math.max(10, Math.floor(searchBounds.stride.value / cost));

/** Creates a counter of a search's work. It throws VALIDATION_ERROR for `q` above the limit. */
export function createWorkCounter(cost: number) {
  let work = 0;
  return (rows: number) => {
    work += rows * cost;
    if (work > searchBounds.work.value)
      throw new AppError("VALIDATION_ERROR", "The search would read too much.", {
        details: [
          {
            path: "q",
            message: "must be shorter or be sent with a filter: too many records to search",
          },
        ],
      });
  };
}

type Source = {
  store: Store;
  /** Tables with their aliases. */
  from: string;
  /** Unique column by which results are sorted. */
  id: string;
  where: Condition;
};

/**
 * Yields batches of matching IDs in descending order. `where` selects rows by an index; `matching` is evaluated per
 * row. Other requests can run between statements.
 */
export async function* findMatchingIds(
  { store, from, id, where }: Source,
  matching: Condition,
  signal: AbortSignal | null = null,
): AsyncGenerator<string[]> {
  const stride = computeStride(matching.cost);
  const count = createWorkCounter(matching.cost);
  const rangeSql = `from ${from} where ${where.text} and ${id} < ?`;
  const portionEndSql = `select ${id} as id ${rangeSql} order by ${id} desc limit 1 offset ${stride - 1}`;
  const matchesSql = `select ${id} as id ${rangeSql} and ${id} >= ? and ${matching.text} order by ${id} desc`;
  for (let end = afterAllIds; ;) {
    if (signal?.aborted) throw new AppError("UNAVAILABLE", "The client disconnected.");
    const position = [...where.parameters, end];
    const [last] = await store.query<{ id: string }>(portionEndSql, position);
    const start = last?.id ?? "";
    const found = await store.query<{ id: string }>(matchesSql, [
      ...position,
      start,
      ...matching.parameters,
    ]);
    yield found.map((row) => row.id);
    if (last === undefined) return;
    count(stride);
    end = start;
    await yieldToEventLoop();
  }
}

/** Sorts after all IDs, which are lower-case hexadecimal. */
export const afterAllIds = "~";

/** Returns one page of matching IDs, and the total number of matches. */
export async function collectPage(
  portions: AsyncIterable<readonly string[]>,
  offset: number,
  count: number,
): Promise<{ ids: string[]; total: number }> {
  const ids: string[] = [];
  let total = 0;
  for await (const found of portions) {
    const from = Math.max(0, offset - total);
    ids.push(...found.slice(from, from + count - ids.length));
    total += found.length;
  }
  return { ids, total };
}

/** Combines conditions with AND. */
export function combineConditions(conditions: readonly Condition[]): Condition {
  return {
    text: conditions.map(({ text }) => `(${text})`).join(" and ") || "true",
    parameters: conditions.flatMap(({ parameters }) => parameters),
    cost: Math.max(
      1,
      conditions.reduce((sum, { cost }) => sum + cost, 0),
    ),
  };
}
