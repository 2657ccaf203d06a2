/** Describes the input of each tool from the schemas of the REST API, and converts it to a REST request. */
import { mcpBounds } from "../core/limits.ts";
import { invalidFieldError, validationError } from "../core/validation.ts";
import type { Field, Json, Operation } from "./operations.ts";
import type { Tool } from "./tools.ts";

/** Hold of a change without `hold`, in seconds: the longest one, because a person reads the preview meanwhile. */
const usualHold = 60;
/** Entries of each list in a response. */
export const listLimits = { default: 10, max: mcpBounds.listed.value };

/** A request to the REST API. */
export type RestRequest = {
  params: Record<string, string>;
  query: Record<string, string>;
  body: Json | null;
};

const readFields: Record<string, Json> = {
  limit: {
    type: "integer",
    minimum: 1,
    maximum: listLimits.max,
    default: listLimits.default,
    description: "Entries of each list.",
  },
  detail: {
    type: "string",
    enum: ["short", "full"],
    default: "short",
    description: "`full` returns all fields, and longer texts.",
  },
};

const previewField: Json = {
  type: "boolean",
  default: false,
  description: "`true` changes nothing, and returns who would be notified.",
};

const holdField: Json = {
  type: "integer",
  minimum: 0,
  maximum: usualHold,
  default: usualHold,
  description:
    "Seconds for which the change is held. Until then nothing is stored, published or sent, and undo_change removes it.",
};

/** Fields of tools that no operation has. */
const listOwnFields = ({ audience }: Tool, operation: Operation | null): Record<string, Json> => ({
  ...(operation === null || operation.endpoint.access === "read"
    ? readFields
    : { detail: readFields["detail"] ?? {} }),
  ...(audience !== undefined && { preview: previewField }),
  ...(operation?.canHold === true && { hold: holdField }),
});

/** Returns the JSON Schema of a tool's input. */
export function describeInput(tool: Tool, operation: Operation | null): Json {
  const fields = tool.fields.map((name) => [name, findField(tool, operation, name)] as const);
  const required = fields
    .filter(([name, { isRequired }]) => isRequired || tool.required?.includes(name))
    .map(([name]) => name);
  return {
    type: "object",
    properties: {
      ...Object.fromEntries(fields.map(([name, { schema }]) => [name, schema])),
      ...listOwnFields(tool, operation),
    },
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function findField(tool: Tool, operation: Operation | null, name: string): Field {
  const field = operation?.fields.get(name);
  if (field === undefined) throw new Error(`${tool.name} has no field ${name} in the REST API.`);
  return field;
}

/** Input of a tool that no operation receives. */
export type Options = { limit: number; isFull: boolean; isPreview: boolean; hold: number };

/** Splits the input of a tool. Throws VALIDATION_ERROR; the REST API validates the values of its own fields. */
export function readInput(tool: Tool, operation: Operation | null, input: Json) {
  const ownFields = listOwnFields(tool, operation);
  const known = new Set([...tool.fields, ...Object.keys(ownFields)]);
  const unknown = Object.keys(input).filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw validationError(
      unknown.map((path) => ({ path: path.slice(0, 100), message: "is not a field of this tool" })),
    );
  const request = buildRequest(tool, operation, input);
  return { request, options: readOptions(ownFields, input, operation?.canHold === true) };
}

function readOptions(own: Record<string, Json>, input: Json, canHold: boolean): Options {
  const readInteger = (name: string, defaultValue: number, min: number, max: number) => {
    const value = input[name] ?? defaultValue;
    if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max)
      return Number(value);
    throw invalidFieldError(name, `must be a whole number from ${min} to ${max}`);
  };
  const { detail = "short", preview = false } = input;
  if (detail !== "short" && detail !== "full")
    throw invalidFieldError("detail", "must be one of: short, full");
  if (typeof preview !== "boolean") throw invalidFieldError("preview", "must be true or false");
  return {
    limit:
      "limit" in own
        ? readInteger("limit", listLimits.default, 1, listLimits.max)
        : listLimits.default,
    isFull: detail === "full",
    isPreview: preview,
    hold: canHold ? readInteger("hold", usualHold, 0, usualHold) : 0,
  };
}

function buildRequest(tool: Tool, operation: Operation | null, input: Json): RestRequest {
  const request: RestRequest = { params: {}, query: {}, body: null };
  const values = { ...input, ...tool.fixed };
  for (const name of new Set([...tool.fields, ...Object.keys(tool.fixed ?? {})])) {
    const field = findField(tool, operation, name);
    const value = values[name];
    if (value === undefined) {
      if (field.isRequired || tool.required?.includes(name))
        throw invalidFieldError(name, "is required");
      continue;
    }
    if (field.in === "path" && (typeof value !== "string" || !uuid.test(value)))
      throw invalidFieldError(name, "must be a UUID, as in the responses of other tools");
    if (field.in === "body") (request.body ??= {})[name] = value;
    else request[field.in === "path" ? "params" : "query"][name] = toText(name, value);
  }
  return request;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Converts a value for a path or a query. */
function toText(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw invalidFieldError(name, "must be a string");
}
