import type { Tone } from "../sending/messages.ts";
import { judged, overHttp, temporary, permanent } from "../provider.ts";
import { addressOn, textWithin, withoutMentions } from "./formatting.ts";

// What the strictest of the usual services behind it takes, less the address.
const maxLength = 1_000;

/**
 * Goes to what is saved under the key, or to `urls` where the server keeps nothing. 200 is success; 204
 * says that there is nobody, 424 that not all of it could be told.
 * https://github.com/caronc/apprise-api#persistent-storage-solution and, of `urls`, #stateless-solution
 */
export const apprise = overHttp<"apprise">({
  request({ server, key, tag, urls }, { title, lines, url, tone }) {
    const text = textWithin(Math.max(100, maxLength - url.length), lines, withoutMentions);
    return {
      url: addressOn(server, key === null ? "/notify/" : `/notify/${encodeURIComponent(key)}`),
      body: {
        title: textWithin(250, [title], withoutMentions),
        body: `${text}\n\n${url}`,
        type: types[tone],
        format: "text",
        // Without a tag only services that have none would be told.
        ...(key === null ? { urls } : { tag: tag ?? "all" }),
      },
    };
  },
  verdict(answer) {
    if (answer.status === 204)
      return permanent("Apprise has no services under this key or these URLs.");
    if (answer.status !== 424) return judged(answer);
    const partly = temporary("Apprise could not notify all of its services.");
    return { ...partly, progress: { reached: null, refused: [] } };
  },
});

const types: Record<Tone, string> = {
  down: "failure",
  degraded: "warning",
  up: "success",
  info: "info",
};
