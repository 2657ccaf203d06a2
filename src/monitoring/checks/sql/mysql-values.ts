import {
  bytesToJson,
  parseFloatNumber,
  instantToJson,
  type RowBudget,
  parseWholeNumber,
} from "./rows.ts";

export type MysqlColumn = {
  name: string;
  type: number;
  charset: number;
  length: number;
  /** Whether a text column of MariaDB contains JSON. */
  isJson: boolean;
};

/** Column types: https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html */
const types = {
  whole: new Set([1, 2, 3, 8, 9, 13]),
  float: new Set([4, 5]),
  instant: new Set([7, 10, 12]),
  bit: 16,
  json: 245,
  bytes: new Set([249, 250, 251, 252, 253, 254, 255]),
};
const binaryCharset = 63;

/** Converts the bytes of a column to a JSON value. Throws TargetFailure for a value that exceeds the budget. */
export function convertMysqlValue(
  { type, charset, length, isJson }: MysqlColumn,
  bytes: Buffer,
  budget: RowBudget,
): unknown {
  if (type === types.bit) return length === 1 ? bytes[0] === 1 : convertBytes(bytes, budget);
  const text = bytes.toString();
  if (type === types.json || isJson) return budget.parseJson(text);
  if (types.whole.has(type)) return parseWholeNumber(text);
  if (types.float.has(type)) return parseFloatNumber(text);
  if (types.instant.has(type)) return instantToJson(text);
  return types.bytes.has(type) && charset === binaryCharset ? convertBytes(bytes, budget) : text;
}

function convertBytes(bytes: Buffer, budget: RowBudget) {
  budget.countBytes(bytes.length);
  return bytesToJson(bytes);
}
