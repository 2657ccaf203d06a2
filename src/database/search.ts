import { AppError } from "../core/errors.ts";
import { searchBounds } from "../core/limits.ts";
import { turn } from "../core/time/yielding.ts";
import type { Parameter, Store } from "./store.ts";

/** The condition that a column contains a text, and what it costs per row: 1 for a plain text. */
export type Containing = { text: string; parameters: readonly string[]; cost: number };

/** What replacing one character costs, compared with the search itself. */
const replacementCost = 0.5;

/**
 * The condition that a column contains a text in any case. SQLite folds ASCII alone, so other letters of the
 * text are replaced by one of their cases first. `instr` compares bytes: no text makes it slow, as patterns do.
 */
export function containing(column: string, text: string): Containing {
  const characters = Array.from(text);
  const folded = characters.map(foldedCase).join("");
  const replaced = new Map(
    characters.flatMap((one) => {
      const to = foldedCase(one);
      return casesOf(one).flatMap((from) => (from === to || isAscii(from) ? [] : [[from, to]]));
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

/** Cases of a character that are single characters themselves; `ß` is `SS` in capitals. */
function casesOf(character: string): string[] {
  const upper = character.toUpperCase();
  const cases = [character, character.toLowerCase(), upper, upper.toLowerCase()];
  return [...new Set(cases)].filter((one) => Array.from(one).length === 1);
}

/** The case that stands for all of a character's: an ASCII one where there is one, else the small letter. */
function foldedCase(character: string): string {
  const cases = casesOf(character);
  const small = character.toUpperCase().toLowerCase();
  return cases.find(isAscii)?.toLowerCase() ?? (cases.includes(small) ? small : character);
}

export type Condition = { text: string; parameters: readonly Parameter[]; cost: number };

/** Rows that one statement compares: about 10 ms of work at the longest texts. */
export const strideFor = (cost: number) =>
  Math.max(10, Math.floor(searchBounds.stride.value / cost));

/** Counts the work of a search. Throws VALIDATION_ERROR at `q` beyond its bound. */
export function searchWork(cost: number) {
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
  /** The column whose values are unique and give the order. */
  id: string;
  where: Condition;
};

/**
 * Ids of the rows for which all conditions hold, highest id first, in portions. `where` selects the rows
 * that are read, by an index; `matching` is judged for each of them. Other requests are served between two statements.
 */
export async function* matchingIds(
  { store, from, id, where }: Source,
  matching: Condition,
  signal: AbortSignal | null = null,
): AsyncGenerator<string[]> {
  const stride = strideFor(matching.cost);
  const count = searchWork(matching.cost);
  const place = `from ${from} where ${where.text} and ${id} < ?`;
  const endText = `select ${id} as id ${place} order by ${id} desc limit 1 offset ${stride - 1}`;
  const foundText = `select ${id} as id ${place} and ${id} >= ? and ${matching.text} order by ${id} desc`;
  for (let end = afterAllIds; ;) {
    if (signal?.aborted) throw new AppError("UNAVAILABLE", "The client disconnected.");
    const position = [...where.parameters, end];
    const [last] = await store.query<{ id: string }>(endText, position);
    const start = last?.id ?? "";
    const found = await store.query<{ id: string }>(foundText, [
      ...position,
      start,
      ...matching.parameters,
    ]);
    yield found.map((row) => row.id);
    if (last === undefined) return;
    count(stride);
    end = start;
    await turn();
  }
}

/** Greater than every id, which are lower-case hexadecimal. */
const afterAllIds = "~";

/** The ids of one page among all that match, and how many those are. */
export async function pageOfIds(
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

/** All of these conditions together. */
export function allOf(conditions: readonly Condition[]): Condition {
  return {
    text: conditions.map(({ text }) => `(${text})`).join(" and ") || "true",
    parameters: conditions.flatMap(({ parameters }) => parameters),
    cost: Math.max(
      1,
      conditions.reduce((sum, { cost }) => sum + cost, 0),
    ),
  };
}
