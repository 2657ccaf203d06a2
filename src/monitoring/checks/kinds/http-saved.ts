import { captured } from "../../../core/text/expressions.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Save } from "../../monitors/request-schema.ts";
import { LongNumber } from "../../../core/text/decimals.ts";
import type { SavedValue } from "../../../core/text/placeholders.ts";
import type { Received } from "../protocols/assertions.ts";
import type { CheckContext } from "../check.ts";

/** Maximum characters of a saved value: enough for tokens and IDs, but not for pages. */
const maxLength = 8 * 1024;

/**
 * Extracts a value from a response for later steps. Throws TargetFailure, whose message does not quote the response.
 */
export async function savedValue(
  { name, expression }: Save[number],
  received: Received,
  opening: string,
  { inTurn, signal }: Pick<CheckContext, "inTurn" | "signal">,
): Promise<SavedValue> {
  const nothing = (why: string) =>
    new TargetFailure(`${opening}, but nothing could be saved as ${name}: ${why}.`);
  if ("unreadable" in received) throw nothing(received.unreadable);
  const { value } = received;
  if (value === undefined) throw nothing("there is nothing");
  if (typeof value === "object" && value !== null && !(value instanceof LongNumber))
    throw nothing("it is a list or an object");
  const scalar = value as SavedValue;
  const found =
    expression === null
      ? { text: scalar }
      : await captured(expression, String(scalar), inTurn, signal);
  if (found === "too much work") throw nothing("its expression takes too much work on this answer");
  if (found === null) throw nothing("its expression finds nothing");
  if (String(found.text).length > maxLength) throw nothing("it is longer than 8 KiB");
  return found.text;
}
