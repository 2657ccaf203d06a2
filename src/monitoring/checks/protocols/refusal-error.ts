import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { excerptText } from "../../../core/text/formatting.ts";
import { repeatsSecret } from "./assertions.ts";

/** Creates a failure. The organization also sees the text of the server, unless it contains a secret. */
export function refusalError(sentence: string, text: string, ...secrets: string[]): TargetFailure {
  const serverText = text.trim();
  const canBeShown = serverText !== "" && !repeatsSecret(serverText, () => secrets);
  return new TargetFailure(
    sentence,
    false,
    canBeShown ? `${sentence.slice(0, -1)}: ${excerptText(serverText, 200)}` : undefined,
  );
}
