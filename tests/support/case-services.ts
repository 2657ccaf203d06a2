/** PagerDuty, Opsgenie and Jira Service Management as fakes, with open cases and pages. */
import {
  exchange as real,
  type Exchange,
  type ShortResponse,
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
  /** Notes of changes, which PagerDuty has none of. */
  notes?: string[];
};

type Service = "pagerduty" | "opsgenie" | "jsm";

/** How a service responds: normally, not at all, after accepting, or as a proxy error. */
export type ServiceMode = "well" | "broken" | "deaf" | "lost" | "forbidden";

/**
 * The services according to their documentation. A trigger opens a case, or changes nothing if one
 * with its key is open, acknowledged or not. Changing or closing an unknown case does nothing. Only
 * Opsgenie can remove an acknowledgment, and then pages again.
 * https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
 * https://support.atlassian.com/opsgenie/docs/what-is-alert-de-duplication/
 * https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events/
 */
export function createCaseServices() {
  const cases: Record<Service, Case[]> = { pagerduty: [], opsgenie: [], jsm: [] };
  /** Pages sent to a person, in order. */
  const pages: string[] = [];
  let mood: ServiceMode = "well";

  function open(service: keyof typeof cases, found: Omit<Case, "status">) {
    const sameCase = cases[service].find(
      ({ key, status }) => key === found.key && status !== "resolved",
    );
    if (sameCase !== undefined) return;
    cases[service].push({ ...found, status: "triggered" });
    pages.push(`${service} ${found.severity} ${found.title}`);
  }

  function close(service: keyof typeof cases, key: string) {
    for (const one of cases[service]) if (one.key === key) one.status = "resolved";
  }

  function change(service: Service, key: string, action: string, note?: string) {
    const one = cases[service].find((found) => found.key === key && found.status !== "resolved");
    if (one === undefined) return;
    if (note !== undefined) one.notes = [...(one.notes ?? []), note];
    if (action === "acknowledge") one.status = "acknowledged";
    if (action !== "unacknowledge" || one.status !== "acknowledged") return;
    one.status = "triggered";
    pages.push(`${service} ${one.severity} ${one.title}`);
  }

  /** Returns the status of the response. */
  function takeRequest(url: URL, body: Json): number {
    if (url.hostname === "events.pagerduty.com") {
      const { dedup_key: key, event_action: action, payload } = body;
      if (action === "resolve") close("pagerduty", key);
      else if (action === "acknowledge") change("pagerduty", key, action);
      else if (action === "trigger")
        open("pagerduty", { key, severity: payload.severity, title: payload.summary });
      else return 400;
      return 202;
    }
    const service = url.hostname === "api.atlassian.com" ? "jsm" : "opsgenie";
    const [, path = "", action] =
      /\/v2\/alerts(?:\/([^/]+)\/(close|acknowledge|unacknowledge))?$/.exec(url.pathname) ?? [];
    const key = decodeURIComponent(path);
    if (action !== undefined && url.searchParams.get("identifierType") !== "alias") return 422;
    if (action === "unacknowledge" && service === "jsm") return 404;
    if (action === undefined)
      open(service, { key: body.alias, severity: body.priority, title: body.message });
    else if (action === "close") close(service, key);
    else change(service, key, action, body.note);
    return 202;
  }

  const exchange: Exchange = async (request, context): Promise<ShortResponse> => {
    const { url, body } = request;
    if (!/pagerduty|opsgenie|atlassian/.test(url.hostname)) return real(request, context);
    const createAnswer = (status: number) => ({ status, headers: new Map(), body: "{}" });
    if (mood === "broken") return createAnswer(500);
    if (mood === "forbidden") return createAnswer(403);
    if (mood === "deaf") throw new TargetFailure("The connection was closed.");
    const status = takeRequest(url, JSON.parse(String(body)));
    if (mood === "lost") throw new TargetFailure("The connection was closed.");
    return createAnswer(status);
  };

  return {
    exchange,
    pages,
    cases,
    behave: (next: ServiceMode) => void (mood = next),
    /** Acknowledges every open case. */
    acknowledge: () => {
      for (const one of Object.values(cases).flat())
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
