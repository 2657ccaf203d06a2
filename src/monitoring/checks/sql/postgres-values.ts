/** Converts the text of PostgreSQL values to JSON values. */
import { maxAnswerDepth } from "../../../core/text/json.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { bytesInJson, floatNumber, instantInJson, type RowBudget, wholeNumber } from "./rows.ts";

export const notPostgres = () => new TargetFailure("The answer is not valid for PostgreSQL.");

type Read = (text: string, budget: RowBudget) => unknown;

const bytea: Read = (text, budget) => {
  budget.takeBytes(text.length / 2);
  return bytesInJson(Buffer.from(text.replace(/^\\x/, ""), "hex"));
};
const json: Read = (text, budget) => budget.parseJson(text);

/** Types that are not converted to a JSON string, by OID. https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const scalars = new Map<number, Read>([
  [16, (text) => text === "t"],
  [17, bytea],
  [20, wholeNumber],
  [21, wholeNumber],
  [23, wholeNumber],
  [26, wholeNumber],
  [114, json],
  [3802, json],
  [700, floatNumber],
  [701, floatNumber],
  [1082, instantInJson],
  [1114, instantInJson],
  [1184, instantInJson],
]);

/** Element types of arrays, by OID of the array type. */
const arrays = new Map<number, number>([
  [199, 114],
  [651, 650],
  [791, 790],
  [1000, 16],
  [1001, 17],
  [1002, 18],
  [1003, 19],
  [1005, 21],
  [1007, 23],
  [1009, 25],
  [1014, 1042],
  [1015, 1043],
  [1016, 20],
  [1021, 700],
  [1022, 701],
  [1028, 26],
  [1040, 829],
  [1041, 869],
  [1115, 1114],
  [1182, 1082],
  [1183, 1083],
  [1185, 1184],
  [1187, 1186],
  [1231, 1700],
  [1270, 1266],
  [1561, 1560],
  [1563, 1562],
  [2951, 2950],
  [3807, 3802],
]);

/** Converts the text of a column to a JSON value. Throws TargetFailure for a value that exceeds the budget. */
export function postgresValue(oid: number, text: string, budget: RowBudget): unknown {
  const element = arrays.get(oid);
  if (element !== undefined) return arrayValue(element, text, budget);
  const read = scalars.get(oid);
  return read === undefined ? text : read(text, budget);
}

/** Parses an array: https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function arrayValue(element: number, text: string, budget: RowBudget): unknown {
  const token = /[{}]|,|"(?:[^"\\]|\\.)*"|[^{},"]+/gsy;
  token.lastIndex = /^(?:\[[-\d]+:[-\d]+\])+=/.exec(text)?.[0].length ?? 0;
  const open: unknown[][] = [];
  for (;;) {
    const found = token.exec(text)?.[0];
    if (found === undefined) throw notPostgres();
    if (found === ",") continue;
    if (found === "}") {
      const closed = open.pop();
      if (closed === undefined) throw notPostgres();
      if (open.length === 0) return closed;
      continue;
    }
    budget.takeValues(1);
    if (found === "{") {
      if (open.length >= maxAnswerDepth)
        throw new TargetFailure(`An array is nested deeper than ${maxAnswerDepth} levels.`);
      const inner: unknown[] = [];
      open.at(-1)?.push(inner);
      open.push(inner);
      continue;
    }
    const isQuoted = found.startsWith('"');
    const value = isQuoted ? found.slice(1, -1).replaceAll(/\\(.)/gs, "$1") : found;
    open.at(-1)?.push(!isQuoted && value === "NULL" ? null : postgresValue(element, value, budget));
  }
}
