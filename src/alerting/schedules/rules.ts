/** Computes who is on call at a time, and the shifts in a span, from the layers and overrides of a schedule. */
import { t, tCount } from "../../core/text/texts.ts";
import { dayMs, hourMs } from "../../core/time/clock.ts";
import { getFormatter, minuteFormat } from "../../core/time/times.ts";
import {
  formatHours,
  isWithinHours,
  listWindows,
  type Span,
  toInstant,
  toLocal,
} from "../hours/rules.ts";
import type { RotationUnit, ScheduleLayer } from "./schema.ts";

/** A time in which a person is on call instead of the people in the layers. Times are RFC 3339 in UTC. */
export type Override = { id: string; personId: string; startsAt: string; endsAt: string };

/** A schedule for these rules. Overrides are in the order of their creation, and the last one decides. */
export type ScheduleTimes = {
  timeZone: string;
  layers: readonly ScheduleLayer[];
  overrides: readonly Override[];
};

/** Who is on call; by an override, or by a layer. */
type Duty = { personId: string; overrideId: string | null };

/** A span with one person on call, or with nobody: `personId` is then null. */
export type DutySpan = Span & Omit<Duty, "personId"> & { personId: string | null };

const unitMs: Record<RotationUnit, number> = {
  hours: hourMs,
  days: dayMs,
  weeks: 7 * dayMs,
};

/** Finds who is on call at `at`, in Unix milliseconds; null for nobody. */
export function findOnCall(
  { timeZone, layers, overrides }: ScheduleTimes,
  at: number,
): Duty | null {
  const override = overrides.findLast(
    ({ startsAt, endsAt }) => Date.parse(startsAt) <= at && at < Date.parse(endsAt),
  );
  if (override !== undefined) return { personId: override.personId, overrideId: override.id };
  for (const layer of layers.toReversed()) {
    const turn = findTurn(layer, timeZone, at);
    if (turn !== null && isWithinHours(layer.hours, timeZone, at))
      return { personId: turn.personId, overrideId: null };
  }
  return null;
}

/**
 * Lists who is on call from `from` until `until`, in Unix milliseconds. The spans cover the whole time; gaps have no
 * person. Adjacent shifts of the same person are one, except for overrides.
 */
export function listShifts(schedule: ScheduleTimes, from: number, until: number): DutySpan[] {
  if (until <= from) return [];
  const { timeZone, layers, overrides } = schedule;
  const gap = { start: from, end: until, personId: null, overrideId: null };
  const layerSpans = layers.map((layer) =>
    listTurns(layer, timeZone, from, until).map((turn): DutySpan => ({
      ...turn,
      overrideId: null,
    })),
  );
  const overrideSpans = overrides.flatMap(({ id, personId, startsAt, endsAt }) => {
    const start = Math.max(Date.parse(startsAt), from);
    const end = Math.min(Date.parse(endsAt), until);
    return start < end ? [[{ start, end, personId, overrideId: id }]] : [];
  });
  const base: DutySpan[] = [gap];
  return [...layerSpans, ...overrideSpans].reduce(overlaySpans, base).reduce(appendMerged, []);
}

/**
 * Returns the end of the duty at `at`, the next shift of a person, and the start of the next gap; null if they are not
 * before `until`.
 */
export function findUpcoming(schedule: ScheduleTimes, at: number, until: number) {
  const spans = listShifts(schedule, at, until);
  const current = spans[0]?.personId;
  const end = spans.find(({ personId }) => personId !== current)?.start ?? null;
  const next =
    end === null
      ? undefined
      : spans.find(({ start, personId }) => start >= end && personId !== null);
  const gap = spans.find(({ personId }) => personId === null);
  return { until: end, next: next ?? null, gapAt: gap?.start ?? null };
}

/** The start of a shift, in Unix milliseconds, and its person. */
export type ShiftStart = { personId: string; startsAt: number };

/** Identifies the notice of a shift: another person or another start is another shift. */
export const buildNoticeKey = ({ personId, startsAt }: ShiftStart) => `${personId} ${startsAt}`;

/** Longest time before the usual notice for which quiet hours can make it earlier. */
const maxEarlyNoticeMs = 8 * dayMs;

/**
 * Returns the shifts whose people are notified at `now`, and when to examine the schedule again: at most a day later.
 * The shift of a person begins when someone else, or nobody, was on call before. `noticeTimeOf` returns when the person of
 * a shift is notified, if that is before the usual time.
 */
export function findNotices(
  schedule: ScheduleTimes,
  noticeHours: number,
  announced: ReadonlySet<string>,
  now: number,
  noticeTimeOf: (shift: ShiftStart, usual: number) => number = (_, usual) => usual,
): { due: ShiftStart[]; nextAt: number } {
  const noticeMs = noticeHours * hourMs;
  const spans = listShifts(schedule, now, now + noticeMs + maxEarlyNoticeMs);
  const starts = spans.flatMap(({ start, personId }, index): ShiftStart[] =>
    index === 0 || personId === null || personId === spans[index - 1]?.personId
      ? []
      : [{ personId, startsAt: start }],
  );
  const notices = starts
    .filter((one) => !announced.has(buildNoticeKey(one)))
    .map((shift) => ({ shift, at: noticeTimeOf(shift, shift.startsAt - noticeMs) }));
  const later = notices.filter(({ at }) => at > now).map(({ at }) => at);
  return {
    due: notices.filter(({ at }) => at <= now).map(({ shift }) => shift),
    nextAt: Math.min(now + dayMs, ...later),
  };
}

/** Replaces the spans of `base` where `top` has spans. Both are sorted and without overlaps. */
function overlaySpans(base: readonly DutySpan[], top: readonly DutySpan[]): DutySpan[] {
  const result: DutySpan[] = [];
  const rest = base.values();
  let current = rest.next().value;
  for (const span of top) {
    while (current !== undefined && current.end <= span.start) {
      result.push(current);
      current = rest.next().value;
    }
    if (current !== undefined && current.start < span.start)
      result.push({ ...current, end: span.start });
    result.push(span);
    while (current !== undefined && current.end <= span.end) current = rest.next().value;
    if (current !== undefined && current.start < span.end)
      current = { ...current, start: span.end };
  }
  return current === undefined ? result : [...result, current, ...rest];
}

/** Appends a span, or extends the last one if it has the same person by the same override, or by none. */
function appendMerged(spans: DutySpan[], span: DutySpan): DutySpan[] {
  const last = spans.at(-1);
  const isSame = last?.personId === span.personId && last.overrideId === span.overrideId;
  if (isSame) spans[spans.length - 1] = { ...last, end: span.end };
  else spans.push(span);
  return spans;
}

/** Lists the shifts of a layer in a span, only within its hours. */
function listTurns(layer: ScheduleLayer, timeZone: string, from: number, until: number) {
  const always = [{ start: from, end: until }];
  const windows =
    layer.hours.length === 0 ? always : listWindows(layer.hours, timeZone, from, until);
  const turns: (Span & { personId: string })[] = [];
  let at = Math.max(from, toInstant(parseLocal(layer.start), timeZone));
  let window = 0;
  while (at < until) {
    const turn = findTurn(layer, timeZone, at);
    if (turn === null) break;
    while ((windows[window]?.end ?? Infinity) <= at) window++;
    for (let next = window; (windows[next]?.start ?? Infinity) < turn.end; next++) {
      const { start, end } = windows[next] as Span;
      turns.push({
        start: Math.max(start, at),
        end: Math.min(end, turn.end, until),
        personId: turn.personId,
      });
    }
    at = turn.end;
  }
  return turns;
}

/** Finds whose turn it is in a rotation, and until when; null before its start and after its end. Ignores its hours. */
function findTurn({ personIds, every, unit, start, end }: ScheduleLayer, zone: string, at: number) {
  const lengthMs = every * unitMs[unit];
  const first = parseLocal(start);
  const getHandOver = (index: number) => toInstant(first + index * lengthMs, zone);
  const lastEnd = end === null ? Infinity : toInstant(parseLocal(end), zone);
  // Starts one hand-over later, because in a repeated hour it occurs when the clock shows its time first.
  let index = Math.floor((toLocal(at, zone) - first) / lengthMs) + 1;
  let next = getHandOver(index + 1);
  for (let handOver = getHandOver(index); handOver > at; handOver = getHandOver(index))
    [next, index] = [handOver, index - 1];
  if (index < 0 || at >= lastEnd) return null;
  const personId = personIds[index % personIds.length] as string;
  return { personId, end: Math.min(next, lastEnd) };
}

/** Local time in milliseconds that look like UTC. */
const parseLocal = (text: string) => Date.parse(`${text}Z`);

const describeInterval: Record<RotationUnit, (every: number) => string> = {
  hours: (every) =>
    every === 1 ? t("every hour") : tCount(every, "every {count} hour", "every {count} hours"),
  days: (every) =>
    every === 1 ? t("every day") : tCount(every, "every {count} day", "every {count} days"),
  weeks: (every) =>
    every === 1 ? t("every week") : tCount(every, "every {count} week", "every {count} weeks"),
};

/** Formats a local time, such as `30 Nov 2026, 09:00`. */
const formatLocal = (text: string) => getFormatter("UTC", localFormat).format(parseLocal(text));

const localFormat = { day: "numeric", month: "short", year: "numeric", ...minuteFormat } as const;

/** Describes a layer, such as `Nights: Ann, Ben; every week from 30 Nov 2026, 09:00`. */
export function describeLayer(layer: ScheduleLayer, nameOf: (personId: string) => string): string {
  const { name, personIds, every, unit, start, end, hours } = layer;
  const interval = describeInterval[unit](every);
  const from = formatLocal(start);
  return [
    `${name}: ${personIds.map(nameOf).join(", ")}`,
    end === null
      ? t("{interval} from {from}", { interval, from })
      : t("{interval} from {from} to {to}", { interval, from, to: formatLocal(end) }),
    ...(hours.length === 0 ? [] : [formatHours(hours)]),
  ].join("; ");
}
