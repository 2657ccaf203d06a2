/** PagerDuty and Opsgenie as fakes, with open cases and pages. */
import {
  exchange as real,
  type Exchange,
  type ShortAnswer,
} from "../../src/core/outgoing/http/exchange.ts";
import { TargetFailure } from "../../src/core/outgoing/failures.ts";
import type { Json } from "./json.ts";

/** A case in the incident service. */
type Case = {
  key: string;
  status: "triggered" | "acknowledged" | "resolved";
  /** Severity at opening; neither service raises it later. */
  severity: string;
  title: string;
};

/** How a service responds: normally, not at all, after accepting, or as a proxy error. */
export type ServiceMode = "well" | "broken" | "deaf" | "lost" | "forbidden";

/**
 * PagerDuty and Opsgenie according to their documentation. A trigger opens a case, or changes
 * nothing if one with its key is open. Closing an unknown case does nothing.
 * https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
 * https://support.atlassian.com/opsgenie/docs/what-is-alert-de-duplication/
 */
export function createCaseServices() {
  const cases: Record<"pagerduty" | "opsgenie", Case[]> = { pagerduty: [], opsgenie: [] };
  /** Pages sent to a person, in order. */
  const pages: string[] = [];
  let mood: ServiceMode = "well";

  function open(service: keyof typeof cases, found: Omit<Case, "status">) {
    const same = cases[service].find(
      ({ key, status }) => key === found.key && status !== "resolved",
    );
    if (same !== undefined) return;
    cases[service].push({ ...found, status: "triggered" });
    pages.push(`${service} ${found.severity} ${found.title}`);
  }

  function close(service: keyof typeof cases, key: string) {
    for (const one of cases[service]) if (one.key === key) one.status = "resolved";
  }

  function takeRequest(url: URL, body: Json) {
    if (url.hostname === "events.pagerduty.com") {
      const { dedup_key: key, event_action: action, payload } = body;
      if (action === "resolve") close("pagerduty", key);
      else open("pagerduty", { key, severity: payload.severity, title: payload.summary });
      return;
    }
    const closing = /^\/v2\/alerts\/([^/]+)\/close$/.exec(url.pathname);
    if (closing !== null) close("opsgenie", decodeURIComponent(closing[1] ?? ""));
    else open("opsgenie", { key: body.alias, severity: body.priority, title: body.message });
  }

  const exchange: Exchange = async (request, context): Promise<ShortAnswer> => {
    const { url, body } = request;
    if (!/pagerduty|opsgenie/.test(url.hostname)) return real(request, context);
    const createAnswer = (status: number) => ({ status, headers: new Map(), body: "{}" });
    if (mood === "broken") return createAnswer(500);
    if (mood === "forbidden") return createAnswer(403);
    if (mood === "deaf") throw new TargetFailure("The connection was closed.");
    takeRequest(url, JSON.parse(String(body)));
    if (mood === "lost") throw new TargetFailure("The connection was closed.");
    return createAnswer(202);
  };

  return {
    exchange,
    pages,
    cases,
    behave: (next: ServiceMode) => void (mood = next),
    /** Acknowledges every open case. */
    acknowledge: () => {
      for (const one of [...cases.pagerduty, ...cases.opsgenie])
        if (one.status === "triggered") one.status = "acknowledged";
    },
    /** Open cases, as `critical Shop is down`. */
    open: (service: keyof typeof cases = "pagerduty") =>
      cases[service]
        .filter(({ status }) => status !== "resolved")
        .map(({ severity, title }) => `${severity} ${title}`)
        .toSorted(),
  };
}
