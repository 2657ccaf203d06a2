/** Notifies people before their shifts start, once per shift. */
import { scheduleBounds } from "../../core/limits.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { toLocal } from "../../core/time/time-zones.ts";
import type { AlertData } from "../alert.ts";
import { planContactMethods } from "../contact-methods/rules.ts";
import { findNotices, findUpcoming, type ShiftStart } from "../schedules/rules.ts";
import { delayNotices, insertNotice, type TimedSchedule } from "../schedules/store.ts";
import type { Decision, Timer } from "./decide.ts";
import { createAlert } from "./records.ts";

/** Announces the next shifts of a schedule, and plans when to examine it again. */
export function announceShifts(decision: Decision, { monitorId: id, dueAt = 0 }: Timer) {
  const { snapshot, out, now } = decision;
  const found = snapshot.shifts.get(id);
  if (found === undefined || found.schedule.noticeHours === null) return;
  const { schedule, announced } = found;
  const { due, nextAt } = findNotices(schedule, found.schedule.noticeHours, announced, now);
  const { organizationId } = snapshot;
  for (const shift of due) {
    const to = listChannels(decision, shift.personId);
    // A person who can be reached later is notified then.
    if (to.length === 0) continue;
    if (out.isFull()) return out.deferRest();
    out.notify(
      createAlert("shift.starting", formatTimestamp(now), describe(decision, schedule, shift), now),
      to,
      false,
      null,
    );
    if (out.rest() !== null) return;
    out.write(insertNotice({ organizationId, scheduleId: id, ...shift }));
  }
  out.write(delayNotices(organizationId, id, { from: dueAt, to: nextAt }));
}

/** Returns the contact methods of a person that a page uses first. */
function listChannels({ snapshot }: Decision, personId: string): string[] {
  const own = [...snapshot.escalation.channels.values()].filter((one) => one.personId === personId);
  const usual = planContactMethods(own, "normal");
  const planned = usual.length > 0 ? usual : planContactMethods(own, "critical");
  return planned
    .filter(({ afterMinutes }) => afterMinutes === planned[0]?.afterMinutes)
    .map(({ method }) => method.id);
}

function describe(
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
