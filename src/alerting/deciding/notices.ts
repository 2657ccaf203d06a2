/** Notifies people before their shifts start, once per shift. */
import { scheduleBounds } from "../../core/limits.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { toLocal } from "../../core/time/time-zones.ts";
import type { AlertData } from "../alert.ts";
import { findQuietSpan } from "../channels/rules.ts";
import { planContactMethods } from "../contact-methods/rules.ts";
import { findNotices, findUpcoming, type ShiftStart } from "../schedules/rules.ts";
import { delayNotices, insertNotice, type TimedSchedule } from "../schedules/store.ts";
import type { Decision, Timer } from "./decide.ts";
import type { Contact } from "./escalation-rules.ts";
import { createAlert } from "./records.ts";

/** Announces the next shifts of a schedule, and plans when to examine it again. */
export function announceShifts(decision: Decision, { monitorId: id, dueAt = 0 }: Timer) {
  const { snapshot, out, now } = decision;
  const found = snapshot.shifts.get(id);
  if (found === undefined || found.schedule.noticeHours === null) return;
  const { announced } = found;
  const schedule = { ...found.schedule, noticeHours: found.schedule.noticeHours };
  const { noticeHours } = schedule;
  const { due, nextAt } = findNotices(schedule, noticeHours, announced, now, (shift, plannedAt) =>
    findNoticeTime(listContacts(decision, shift.personId), shift.startsAt, plannedAt),
  );
  const { organizationId } = snapshot;
  for (const shift of due) {
    const to = listContacts(decision, shift.personId).map(({ id }) => id);
    // A person who can be reached later is notified then.
    if (to.length === 0) continue;
    if (out.isFull()) return out.deferRest();
    out.notify(
      createAlert(
        "shift.starting",
        formatTimestamp(now),
        describeNotice(decision, schedule, shift),
        now,
      ),
      to,
      false,
      null,
    );
    if (out.getRest() !== null) return;
    out.write(insertNotice({ organizationId, scheduleId: id, ...shift }));
  }
  out.write(delayNotices(organizationId, id, { from: dueAt, to: nextAt }));
}

/** Returns the contact methods of a person that a page uses first. */
function listContacts({ snapshot }: Decision, personId: string): Contact[] {
  const personalChannels = [...snapshot.escalation.channels.values()].filter(
    (one) => one.personId === personId,
  );
  const normalMethods = planContactMethods(personalChannels, "normal");
  const planned =
    normalMethods.length > 0 ? normalMethods : planContactMethods(personalChannels, "critical");
  return planned
    .filter(({ afterMinutes }) => afterMinutes === planned[0]?.afterMinutes)
    .map(({ method }) => method);
}

/** Time before quiet hours at which a notice is sent that they would hold. */
const beforeQuietMs = 60_000;

/**
 * Returns when the notice of a shift is sent through these contact methods: at the usual time, or before it, if the quiet
 * hours of all of them hold it until the shift has started.
 */
export function findNoticeTime(
  contacts: readonly Pick<Contact, "quietHours">[],
  startsAt: number,
  plannedAt: number,
): number {
  const starts = contacts.map(({ quietHours }) => {
    const quiet = findQuietSpan(quietHours, plannedAt);
    return quiet === null || quiet.end < startsAt ? plannedAt : quiet.start - beforeQuietMs;
  });
  return starts.length === 0 ? plannedAt : Math.max(...starts);
}

function describeNotice(
  { snapshot }: Decision,
  schedule: TimedSchedule,
  { personId, startsAt }: ShiftStart,
): AlertData["shift.starting"] {
  const { id, name, timeZone } = schedule;
  const personName = snapshot.escalation.people.get(personId) ?? "Someone";
  const last = startsAt + scheduleBounds.span.value * 1000;
  const endsAt = findUpcoming(schedule, startsAt, last).until;
  const format = (at: number) =>
    new Date(toLocal(at, timeZone)).toISOString().slice(0, 16).replace("T", " ");
  const end = endsAt === null ? "" : ` until ${format(endsAt)}`;
  return {
    shift: {
      scheduleId: id,
      scheduleName: name,
      personId,
      personName,
      startsAt: formatTimestamp(startsAt),
      endsAt: endsAt === null ? null : formatTimestamp(endsAt),
    },
    message: `${personName} is on call in ${name} from ${format(startsAt)}${end} (${timeZone}).`,
  };
}
