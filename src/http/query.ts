import type { z } from "zod";
import { excerptText } from "../core/text/formatting.ts";
import { invalidFieldError, parse } from "../core/validation.ts";

/** Parses the query with its schema. Ignores the parameter `except`, and rejects unknown parameters. */
export function parseQuery<T extends z.ZodType>(
  url: string,
  schema: T,
  except?: string,
): z.output<T> {
  const start = url.indexOf("?");
  const text = start === -1 ? "" : (url.slice(start + 1).split("#", 1)[0] ?? "");
  const query: Record<string, string> = Object.create(null);
  if (text !== "") {
    assertDecodable(text);
    for (const [name, value] of new URLSearchParams(text)) {
      if (name in query) throw invalidFieldError(excerptText(name), "must be given only once");
      query[name] = value;
    }
    if (except !== undefined) delete query[except];
  }
  return parse(schema, { ...query }, "query");
}

/** Throws for invalid escapes, which URLSearchParams would silently replace with U+FFFD. */
function assertDecodable(text: string) {
  try {
    decodeURIComponent(text);
  } catch {
    throw invalidFieldError("query", "must be percent-encoded UTF-8");
  }
}
