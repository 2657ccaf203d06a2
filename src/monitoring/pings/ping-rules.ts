/** Parses pings in the format of Healthchecks.io (https://healthchecks.io/docs/http_api/), and tokens of Gatus. */
import type { ReportKind } from "../../core/statuses.ts";

/** Returns the report of a ping, from the end of its path. */
export type PingAction = { kind: ReportKind; exitStatus: number | null };

const kinds: Readonly<Record<string, ReportKind>> = {
  "": "success",
  start: "start",
  fail: "failure",
  log: "log",
};

const maxExitStatus = 255;

/** Returns the action of the last part of a path; “invalid” for a wrong exit status, null for an unknown one. */
export function parseAction(part: string): PingAction | "invalid" | null {
  if (Object.hasOwn(kinds, part)) return { kind: kinds[part] ?? "success", exitStatus: null };
  if (!/^\d{1,20}$/.test(part)) return null;
  const exitStatus = Number(part);
  if (exitStatus > maxExitStatus) return "invalid";
  return { kind: exitStatus === 0 ? "success" : "failure", exitStatus };
}

/** Whether a run ID is a UUID in its canonical form, as Healthchecks requires. */
export const isRunId = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

const utf8 = new TextDecoder();

/** Decodes the output of a job. Removes escape sequences of terminals and other control characters. */
export function decodeOutput(bytes: Uint8Array): string | null {
  const text = utf8
    .decode(bytes)
    // The limit can cut the last character.
    .replace(/\ufffd+$/, "")
    // eslint-disable-next-line no-control-regex -- Each sequence starts with this control character.
    .replace(/\u001b\[[\d;?]*[a-z]/gi, "")
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "");
  return text.trim() === "" ? null : text;
}

/**
 * Whether a body is a webhook of Alertmanager (version 4) about resolved alerts. An alert that always fires, such as
 * Watchdog, is a ping; its end means that Prometheus has stopped to send it.
 */
export function isResolvedAlert(body: string): boolean {
  return (
    /"groupKey":/.test(body) &&
    /"version":\s*"4"/.test(body) &&
    /^\s*\{[^[]*"status":\s*"resolved"/.test(body)
  );
}

/**
 * Returns the push token of a job whose token other jobs of Gatus have, too. Gatus tells them apart by the key in the
 * path, which it derives from group and name.
 */
export const buildSharedToken = (key: string, token: string): string =>
  `${key.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "-")}:${token}`;
