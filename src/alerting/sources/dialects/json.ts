/** Any JSON, whose fields are found by paths that people enter. */
import { invalidFieldError } from "../../../core/validation.ts";
import { findValue } from "../../../monitoring/checks/protocols/json-path.ts";
import {
  toText,
  pickLink,
  parsePriority,
  type Report,
  type SourceRequest,
} from "../report-rules.ts";
import type { SourceMapping } from "../schema.ts";

/** Reads one alert, or those of the list at `alerts`. Throws VALIDATION_ERROR with the path that finds nothing. */
export function readJson({ body }: SourceRequest, mapping: SourceMapping): Report[] {
  const { alerts } = mapping;
  if (alerts === null) return [readOne(body, mapping, "")];
  const list = findValue(body, alerts);
  if (!Array.isArray(list)) throw invalidFieldError(alerts, "must be a list in the request");
  return list.map((one: unknown, index) => readOne(one, mapping, ` of alert ${index + 1}`));
}

function readOne(value: unknown, mapping: SourceMapping, position: string): Report {
  const read = (path: string | null) => (path === null ? "" : toText(findValue(value, path)));
  const key = read(mapping.key);
  if (key === "") throw invalidFieldError(mapping.key, `finds no text or number${position}`);
  const status = statusOf(read(mapping.status), mapping, position);
  const title = read(mapping.title);
  if (title === "" && status === "open")
    throw invalidFieldError(mapping.title, `finds no text or number${position}`);
  return {
    key,
    status,
    title,
    text: read(mapping.text),
    priority: parsePriority(read(mapping.priority)),
    link: pickLink(read(mapping.link)),
  };
}

/** Without a path to the status, every request is a problem. A status that no list names is rejected, not guessed. */
function statusOf(value: string, mapping: SourceMapping, path: string): Report["status"] {
  if (mapping.status === null) return "open";
  const found = value.toLowerCase();
  const isIn = (values: readonly string[]) => values.some((one) => one.toLowerCase() === found);
  if (isIn(mapping.resolvedValues)) return "resolved";
  if (isIn(mapping.acknowledgedValues)) return "acknowledged";
  if (mapping.openValues.length === 0 || isIn(mapping.openValues)) {
    if (value !== "") return "open";
    throw invalidFieldError(mapping.status, `finds no text or number${path}`);
  }
  throw invalidFieldError(
    mapping.status,
    `finds ${JSON.stringify(value.slice(0, 50))}${path}, which is in none of openValues, acknowledgedValues and resolvedValues`,
  );
}
