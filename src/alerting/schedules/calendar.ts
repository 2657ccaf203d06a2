/** Serves the shifts of a schedule as iCalendar, at an address that is its credential. */
import { findMemberNames } from "../../accounts/people/store.ts";
import { rateLimitError } from "../../core/errors.ts";
import { sha256 } from "../../core/ids.ts";
import { writeCalendar } from "../../core/text/ical.ts";
import { type Clock, dayMs, formatTimestamp } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import { consumeLimit, type NetworkLimit, type RateLimit } from "../../http/access/rate-limit.ts";
import { unknownPathError } from "../../http/responses/error-response.ts";
import { listShifts } from "./rules.ts";
import { maxSpanMs } from "./service.ts";
import { addOverrides, findScheduleByToken } from "./store.ts";

/** Path of a calendar. The token is in the schedule's `calendarUrl`. */
export const calendarRoute = "/calendars/:token";

export type CalendarLimits = {
  /** Limit of wrong tokens per client network and minute. */
  wrongTokens: NetworkLimit;
  /** Limit of requests per schedule and minute. */
  reads: RateLimit;
};

/** Past days in a calendar. */
const pastDays = 14;

/**
 * Returns the calendar of a token. Throws NOT_FOUND for a wrong token, and RATE_LIMITED for too many requests or wrong
 * tokens.
 */
export async function serveCalendar(
  token: string,
  address: string,
  { store, clock }: { store: Store; clock: Clock },
  { wrongTokens, reads }: CalendarLimits,
): Promise<Response> {
  const schedule = await findScheduleByToken(store, sha256(token.replace(/\.ics$/, "")));
  if (schedule === null) {
    const waitSeconds = wrongTokens.take(address);
    if (waitSeconds > 0)
      throw rateLimitError(waitSeconds, "Too many wrong calendar addresses from this network.");
    throw unknownPathError();
  }
  const { organizationId, id, name, layers, updatedAt } = schedule;
  consumeLimit(reads, id);
  const tenant = { store, organizationId };
  const from = clock() - pastDays * dayMs;
  const until = from + maxSpanMs;
  const [timed] = await addOverrides(tenant, [schedule], from, until);
  const spans = timed === undefined || layers.length === 0 ? [] : listShifts(timed, from, until);
  const names = await findMemberNames(
    tenant,
    spans.flatMap(({ personId }) => personId ?? []),
  );
  const events = spans.values().map(({ start, end, personId }) => ({
    uid: `${id}-${start}`,
    changedAt: updatedAt,
    startsAt: formatTimestamp(start),
    endsAt: formatTimestamp(end),
    title: personId === null ? "Nobody on call" : `On call: ${names.get(personId) ?? "someone"}`,
  }));
  const text = [...writeCalendar("On-call schedule", `On call: ${name}`, events)].join("");
  return new Response(text, {
    headers: { "Content-Type": "text/calendar; charset=utf-8", "Cache-Control": "no-store" },
  });
}
