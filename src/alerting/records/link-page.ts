/** Serves the page of a signed link. It needs no sign-in: GET shows an alert, and only POST acknowledges it. */
import type { Log } from "../../core/log.ts";
import { formatUtcMinute } from "../../core/time/clock.ts";
import type { ScopeServices } from "../../events/scope.ts";
import type { NetworkLimit, RateLimit } from "../../http/access/rate-limit.ts";
import { respondWithSmallPage, respondTooManyRequests } from "../../http/responses/small-page.ts";
import type { Alert } from "../alert.ts";
import { buildAlertUrl } from "../sending/messages.ts";
import { acknowledgeAsChannel } from "./actions.ts";
import { acknowledgePath, isSigned, parseToken } from "./links.ts";
import type { LinkTarget } from "./rules.ts";
import type { AlertSummary } from "./schema.ts";
import { toSummary } from "./service.ts";
import { findAcknowledgments, findLinkedAlert, type RecordRow } from "./store.ts";

/** Path of the page. The token is in messages about the alert. */
export const acknowledgeRoute = `${acknowledgePath}:token` as const;

/** A port that serves this page. On the port of public pages, it is the only page of the admin page. */
export type LinkPort = AlertLinkLimits & { isPublic?: boolean };

export type AlertLinkLimits = {
  /** Limit of links that are not valid, per client network and minute. */
  wrongTokens: NetworkLimit;
  /** Limit of requests per link and minute. */
  requests: RateLimit;
  /** Base URL of the links; null if only people can reach them. */
  linkOrigin?: () => string | null;
};

/** Dependencies of the page on the port of public pages. */
export type PublicLinks = {
  services: ScopeServices;
  limits: AlertLinkLimits;
  addressOf: (request: Request) => string;
  log: Log;
};

/** A verified link to an alert. */
type Link = {
  target: LinkTarget;
  record: RecordRow;
  /** Name of the channel, or of the person whose contact method it is. */
  name: string;
};

/** Shows the alert of a link, or acknowledges it. Forged, revoked and old links get the same page. */
export async function serveLink(
  request: Request,
  token: string,
  address: string,
  services: ScopeServices,
  { wrongTokens, requests, isPublic = false }: LinkPort,
): Promise<Response> {
  const link = await findVisibleLink(token, services);
  if (link === null) return respondInvalidLink(wrongTokens, address);
  const waitSeconds = requests.take(`${link.target.recordId} ${link.target.channelId}`);
  if (waitSeconds > 0) return respondTooManyRequests(String(waitSeconds));
  if (request.method !== "POST" || link.record.resolvedAt !== null)
    return respondWithAlert(link, await readSummary(link, services), isPublic);
  const alert = await acknowledgeAsChannel(services, link.target, link.name);
  if (alert !== null) return respondWithAlert(link, alert, isPublic);
  // The alert has ended in the meantime.
  const ended = await findVisibleLink(token, services);
  return ended === null
    ? respondInvalidLink(wrongTokens, address)
    : respondWithAlert(ended, await readSummary(ended, services), isPublic);
}

export async function findLink(
  token: string,
  { store, vault }: ScopeServices,
): Promise<Link | null> {
  const parsed = parseToken(token);
  if (parsed === null) return null;
  const { target, signature } = parsed;
  const found = await findLinkedAlert(store, target);
  if (found === null || !isSigned(vault, target, found.record.linkKey, signature)) return null;
  return { target, ...found };
}

/** Returns a link to an open alert, or to a drill that an acknowledgment ended. */
async function findVisibleLink(token: string, services: ScopeServices): Promise<Link | null> {
  const link = await findLink(token, services);
  const isVisible =
    link?.record.resolvedAt === null || link?.record.resolvedBecause === "acknowledged";
  return isVisible ? link : null;
}

async function readSummary({ target, record }: Link, { store }: ScopeServices) {
  const { organizationId, recordId } = target;
  const acknowledgments = await findAcknowledgments({ store, organizationId }, [recordId]);
  return toSummary(record, acknowledgments);
}

/** Shows an alert. The button is missing after an acknowledgment with this link. */
function respondWithAlert(
  { target, record, name }: Link,
  alert: AlertSummary,
  isPublic: boolean,
): Response {
  const { title, since, snoozedUntil, acknowledgments } = alert;
  const names = [...new Set(acknowledgments.map((one) => one.name))];
  const first = acknowledgments[0];
  const isOwn = alert.acknowledgments.some(
    ({ type, id }) => type === "link" && id === target.channelId,
  );
  const state =
    snoozedUntil !== null
      ? `Snoozed until ${formatUtcMinute(snoozedUntil)}.`
      : first === undefined
        ? "Nobody has acknowledged it."
        : `Acknowledged by ${names.join(", ")}.`;
  const subjectPath = buildAlertUrl({ ...record, data: alert.data } as unknown as Alert, "") || "/";
  const hasButton = alert.resolvedAt === null && (!isOwn || snoozedUntil !== null);
  const button = `<button>Acknowledge</button><p>You acknowledge as ${Bun.escapeHTML(name)}.</p>`;
  const content = [
    `<p>Since ${formatUtcMinute(since)}</p>`,
    `<p role="status">${Bun.escapeHTML(state)}</p>`,
    ...(first === undefined
      ? []
      : [
          `<p>${names.length > 1 ? "First acknowledged" : "Acknowledged"} on ${formatUtcMinute(first.at)}</p>`,
        ]),
    ...(hasButton ? [button] : []),
    ...(isPublic ? [] : [`<p><a href="${Bun.escapeHTML(subjectPath)}">Open in Signalbox</a></p>`]),
  ];
  return respondWithPage(title, content.join(""), { isForm: hasButton });
}

/** Responds to a link that is malformed, forged or revoked, or whose alert or channel no longer exists. */
export function respondInvalidLink(wrongTokens: NetworkLimit, address: string): Response {
  const waitSeconds = wrongTokens.take(address);
  if (waitSeconds > 0) return respondTooManyRequests(String(waitSeconds));
  const text = "The alert has ended, or the link is incomplete or was revoked.";
  return respondWithPage("This link is no longer valid", `<p>${text}</p>`, { status: 404 });
}

/** Creates a page that no search engine may list. `content` is HTML. The button of a form sends a POST. */
function respondWithPage(
  heading: string,
  content: string,
  { status = 200, isForm = false }: { status?: number; isForm?: boolean } = {},
): Response {
  const [start, end] = isForm
    ? ['<form class="lock" method="post">', "</form>"]
    : ['<div class="lock">', "</div>"];
  const title = `<h1 dir="auto">${Bun.escapeHTML(heading)}</h1>`;
  const headers = { "X-Robots-Tag": "noindex, nofollow" };
  return respondWithSmallPage(heading, `${start}${title}${content}${end}`, status, headers);
}
