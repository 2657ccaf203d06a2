import { cut, fitted } from "../messages.ts";
import { final, judged, overHttp, passing } from "../provider.ts";
import { objectIn } from "./shared-json.ts";

/**
 * `status` 1 is success; 4xx is not to be tried again, but for 429, the end of the month's messages.
 * https://pushover.net/api#response and https://pushover.net/api#friendly
 */
export const pushover = overHttp<"pushover">({
  request({ userKey, apiToken }, { title, lines, tone, url, at }) {
    const link = url.length <= 512 ? { url, url_title: "Open in Signalbox" } : {};
    return {
      url: "https://api.pushover.net/1/messages.json",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        token: apiToken,
        user: userKey,
        title: cut(title, 250),
        // Must not be blank.
        message: fitted(lines, 1_024).join("\n").trim() || title,
        // 2, emergency, repeats until somebody confirms: reminders are the monitor's to send.
        priority: tone === "down" ? "1" : "0",
        timestamp: String(Math.floor(Date.parse(at) / 1_000)),
        ...link,
      }).toString(),
    };
  },
  verdict(answer) {
    const { status, user, token } = objectIn(answer.body);
    if (answer.status === 429)
      return passing("Pushover says that the application has no messages left this month.");
    // Without it whoever answered is not Pushover.
    if (answer.status >= 500 || status !== 0) return judged(answer);
    if (token === "invalid")
      return final("Pushover says that the application's token is not valid.");
    if (user === "invalid") return final("Pushover says that the user key is not valid.");
    return final("Pushover refuses the message.");
  },
});
