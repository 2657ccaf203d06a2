/** Converts the text of PostgreSQL values to JSON values. */
import { maxResponseDepth } from "../../../core/text/json.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import {
  bytesToJson,
  parseFloatNumber,
  instantToJson,
  type RowBudget,
  parseWholeNumber,
} from "./rows.ts";

export const notPostgresError = () =>
  new TargetFailure("The response is not valid for PostgreSQL.");

type Read = (text: string, budget: RowBudget) => unknown;

const parseBytea: Read = (text, budget) => {
  budget.countBytes(text.length / 2);
  return bytesToJson(Buffer.from(text.replace(/^\\x/, ""), "hex"));
};
const parseJsonValue: Read = (text, budget) => budget.parseJson(text);

/** Types that are not converted to a JSON string, by OID. https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const scalars = new Map<number, Read>([
  [16, (text) => text === "t"],
  [17, parseBytea],
  [20, parseWholeNumber],
  [21, parseWholeNumber],
  [23, parseWholeNumber],
  [26, parseWholeNumber],
  [114, parseJsonValue],
  [3802, parseJsonValue],
  [700, parseFloatNumber],
  [701, parseFloatNumber],
  [1082, instantToJson],
  [1114, instantToJson],
  [1184, instantToJson],
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
export function convertPostgresValue(oid: number, text: string, budget: RowBudget): unknown {
  const element = arrays.get(oid);
  if (element !== undefined) return parseArray(element, text, budget);
  const read = scalars.get(oid);
  return read === undefined ? text : read(text, budget);
}

/** Parses an array: https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function parseArray(element: number, text: string, budget: RowBudget): unknown {
  const token = /[{}]|,|"(?:[^"\\]|\\.)*"|[^{},"]+/gsy;
  token.lastIndex = /^(?:\[[-\d]+:[-\d]+\])+=/.exec(text)?.[0].length ?? 0;
  const open: unknown[][] = [];
  for (;;) {
    const found = token.exec(text)?.[0];
    if (found === undefined) throw notPostgresError();
    if (found === ",") continue;
    if (found === "}") {
      const closedArray = open.pop();
      if (closedArray === undefined) throw notPostgresError();
      if (open.length === 0) return closedArray;
      continue;
    }
    budget.countValues(1);
    if (found === "{") {
      if (open.length >= maxResponseDepth)
        throw new TargetFailure(`An array is nested deeper than ${maxResponseDepth} levels.`);
      const inner: unknown[] = [];
      open.at(-1)?.push(inner);
      open.push(inner);
      continue;
    }
    const isQuoted = found.startsWith('"');
    const value = isQuoted ? found.slice(1, -1).replaceAll(/\\(.)/gs, "$1") : found;
    open
      .at(-1)
      ?.push(!isQuoted && value === "NULL" ? null : convertPostgresValue(element, value, budget));
  }
}
