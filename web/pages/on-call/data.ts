/** Queries and writes of the on-call pages. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type {
  OnCall,
  Schedule,
  ScheduleLayer,
  ScheduleOverride,
} from "../../../src/alerting/schedules/schema.ts";
import { hourMs } from "../../../src/core/time/clock.ts";
import { formatDateTime } from "../../../src/core/time/times.ts";
import { holdDeletion } from "../../components/deletion.ts";
import { notifyDone, notifyError } from "../../components/toasts.tsx";
import { dashboard, unwrapData, v1, addIdempotencyKey, addIfMatch } from "../../data/client.ts";
import { listKey, recordKey, uneditedKey } from "../../data/keys.ts";
import { createDataQuery, queryClient } from "../../data/query.ts";
import { createProvisionalId, useRecord } from "../../data/record.ts";
import { t, tCount } from "../../language/text.ts";

const { schedules } = v1;

/** The schedules with who is on call now. Shifts end without an event, so it is polled. */
export const useOnCall = (enabled = true) =>
  useQuery({
    enabled,
    ...createDataQuery([...listKey("schedule"), "on-call"], (options) =>
      v1["on-call"].get(options),
    ),
    refetchInterval: 60_000,
  });

/** Contact methods and drills change it without an event of the schedule, so it is polled. */
export const useReadiness = () =>
  useQuery({
    ...createDataQuery([...listKey("schedule"), "readiness"], (options) =>
      v1["on-call"].readiness.get(options),
    ),
    refetchInterval: 60_000,
  });

export const useSchedule = (id: string) =>
  useRecord(
    "schedule",
    id,
    createDataQuery(recordKey("schedule", id), (options) => schedules({ id }).get(options)),
  );

export const useOnCallIn = (id: string) =>
  useQuery({
    ...createDataQuery([...recordKey("schedule", id), "on-call"], (options) =>
      schedules({ id })["on-call"].get(options),
    ),
    refetchInterval: 60_000,
  });

/** The shifts of a span, RFC 3339, with its gaps. */
export const useShifts = (id: string, from: string, until: string) =>
  useQuery({
    ...createDataQuery([...recordKey("schedule", id), "shifts", from, until], (options) =>
      schedules({ id }).shifts.get({ query: { from, until }, ...options }),
    ),
    placeholderData: keepPreviousData,
  });

export const useOverrides = (id: string, from: string, until: string) =>
  useQuery({
    ...createDataQuery([...uneditedKey(id), "overrides", from, until], (options) =>
      schedules({ id }).overrides.get({ query: { from, until }, ...options }),
    ),
    placeholderData: keepPreviousData,
  });

export type Draft = {
  id?: string;
  timeZone: string;
  layers: ScheduleLayer[];
  from: string;
  until: string;
};

/** Shifts of layers that are not saved; null while they are incomplete. Shows the previous ones while it loads. */
export const usePreview = (draft: Draft | null) =>
  useQuery({
    queryKey: [...listKey("schedule"), "preview", draft],
    queryFn: () => unwrapData(dashboard.schedules.preview.post(draft as Draft)),
    enabled: draft !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });

export const deleteSchedule = (schedule: Schedule) =>
  holdDeletion((query) =>
    schedules({ id: schedule.id }).delete(undefined, { query, ...addIfMatch(schedule) }),
  );

type Times = { startsAt: string; endsAt: string };

/** Without it, a page shows overrides only after the live stream reported them. */
const refreshSchedule = (id: string) =>
  Promise.all(
    [recordKey("schedule", id), uneditedKey(id)].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  );

export async function deleteOverride(scheduleId: string, overrideId: string) {
  await unwrapData(schedules({ id: scheduleId }).overrides({ overrideId }).delete());
  await refreshSchedule(scheduleId);
}

const offeredHours = [1, 2, 4, 8, 24];

/** The times for which a person can take over, to choose from. */
export const listTakeOvers = (onCall: Pick<OnCall, "scheduleId">, personId: string, zone: string) =>
  offeredHours.map((hours) => ({
    label: tCount(hours, "for {count} hour", "for {count} hours"),
    run: () => void takeOver(onCall, personId, hours, zone).catch(notifyError),
  }));

/** Puts the person on call from now on. */
async function takeOver(
  { scheduleId }: Pick<OnCall, "scheduleId">,
  personId: string,
  hours: number,
  zone: string,
) {
  const now = Date.now();
  await createOverride(
    scheduleId,
    {
      personId,
      startsAt: new Date(now).toISOString(),
      endsAt: new Date(now + hours * hourMs).toISOString(),
    },
    ({ endsAt }) =>
      t("You are on call until {time}", { time: formatDateTime(zone, Date.parse(endsAt), now) }),
  );
}

/** Creates an override, and offers to undo it. */
export async function createOverride(
  scheduleId: string,
  body: Times & { personId: string },
  describe: (created: ScheduleOverride) => string,
  idempotencyKey: string = createProvisionalId(),
) {
  const created = await unwrapData(
    schedules({ id: scheduleId }).overrides.post(body, addIdempotencyKey(idempotencyKey)),
  );
  await refreshSchedule(scheduleId);
  notifyDone(describe(created), () => deleteOverride(scheduleId, created.id));
}

/** Exchanges the people of two shifts, and offers to undo it. */
export async function swapShifts(scheduleId: string, first: Times, second: Times, text: string) {
  const pick = ({ startsAt, endsAt }: Times) => ({ startsAt, endsAt });
  const created = await unwrapData(
    schedules({ id: scheduleId }).swaps.post(
      { first: pick(first), second: pick(second) },
      addIdempotencyKey(createProvisionalId()),
    ),
  );
  await refreshSchedule(scheduleId);
  notifyDone(text, () => Promise.all(created.map(({ id }) => deleteOverride(scheduleId, id))));
}

export async function renewCalendar(schedule: Schedule) {
  const renewed = await unwrapData(schedules({ id: schedule.id }).calendar.renew.post());
  queryClient.setQueryData(recordKey("schedule", schedule.id), renewed);
}
