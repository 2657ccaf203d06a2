import { captureGroup } from "../../../core/text/expressions.ts";
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
export async function extractSavedValue(
  { name, expression }: Save[number],
  received: Received,
  opening: string,
  { inTurn, signal }: Pick<CheckContext, "inTurn" | "signal">,
): Promise<SavedValue> {
  const nothingSavedError = (why: string) =>
    new TargetFailure(`${opening}, but nothing could be saved as ${name}: ${why}.`);
  if ("unreadable" in received) throw nothingSavedError(received.unreadable);
  const { value } = received;
  if (value === undefined) throw nothingSavedError("there is nothing");
  if (typeof value === "object" && value !== null && !(value instanceof LongNumber))
    throw nothingSavedError("it is a list or an object");
  const scalar = value as SavedValue;
  const found =
    expression === null
      ? { text: scalar }
      : await captureGroup(expression, String(scalar), inTurn, { signal });
  if (found === "too much work")
    throw nothingSavedError("its expression is too expensive for this response");
  if (found === null) throw nothingSavedError("its expression finds nothing");
  if (String(found.text).length > maxLength) throw nothingSavedError("it is longer than 8 KiB");
  return found.text;
}
