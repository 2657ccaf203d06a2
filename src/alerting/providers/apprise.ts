import type { Tone } from "../sending/messages.ts";
import { judgeStatus, createHttpProvider, failTemporarily, failPermanently } from "../provider.ts";
import { joinUrl, joinWithin, listLinks, disarmMentions } from "./formatting.ts";

// Limit of the strictest common service behind Apprise.
const maxLength = 1_000;

/**
 * Notifies the services saved under the key, or `urls` if the server stores none. 200 is success;
 * 204 means that there are no services; 424 means that some of them failed.
 * https://github.com/caronc/apprise-api#persistent-storage-solution and, for `urls`,
 * #stateless-solution
 */
export const apprise = createHttpProvider<"apprise">({
  request({ server, key, tag, urls }, message) {
    const { title, lines, tone } = message;
    const links = listLinks(message).join("\n");
    const text = joinWithin(Math.max(100, maxLength - links.length), lines, disarmMentions);
    return {
      url: joinUrl(server, key === null ? "/notify/" : `/notify/${encodeURIComponent(key)}`),
      body: {
        title: joinWithin(250, [title], disarmMentions),
        body: `${text}\n\n${links}`,
        type: types[tone],
        format: "text",
        // Without a tag, Apprise would notify only services without tags.
        ...(key === null ? { urls } : { tag: tag ?? "all" }),
      },
    };
  },
  judge(response) {
    if (response.status === 204)
      return failPermanently("Apprise has no services under this key or these URLs.");
    if (response.status !== 424) return judgeStatus(response);
    const partly = failTemporarily("Apprise could not notify all of its services.");
    return { ...partly, progress: { reached: null, refused: [] } };
  },
});

const types: Record<Tone, string> = {
  down: "failure",
  degraded: "warning",
  up: "success",
  info: "info",
};
