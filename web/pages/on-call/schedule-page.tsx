/** The page of one schedule: who is on call, the calendar, upcoming shifts, layers and the calendar address. */
import { Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { describeLayer } from "../../../src/alerting/schedules/rules.ts";
import type { Schedule, Shift } from "../../../src/alerting/schedules/schema.ts";
import { dayMs, hourMs } from "../../../src/core/time/clock.ts";
import { formatDateTime, formatTimeSpan } from "../../../src/core/time/times.ts";
import { getDay, startOfDay } from "../../../src/core/time/time-zones.ts";
import { Confirm } from "../../components/confirm.tsx";
import { CopyLine } from "../../components/copy.tsx";
import { dot } from "../../components/display/format.ts";
import { Markdown } from "../../components/display/markdown.tsx";
import { useNow, useZone } from "../../components/display/time.tsx";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import { MenuItem, MoreActions, RecordItems } from "../../components/menus.tsx";
import { openDialog } from "../../components/open-dialog.ts";
import { Loaded, PageHeader, Panel } from "../../components/page.tsx";
import { PeriodButtons } from "../../components/pager.tsx";
import { useShortcuts } from "../../components/shortcuts.ts";
import { notifyError, useAction } from "../../components/toasts.tsx";
import { v1 } from "../../data/client.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { peopleQuery } from "../settings/data.ts";
import {
  deleteOverride,
  deleteSchedule,
  createOverride,
  renewCalendar,
  swapShifts,
  useOnCallIn,
  useOverrides,
  useSchedule,
  useShifts,
} from "./data.ts";
import { DutyCalendar, formatDay, type SelectedTimes } from "./duty-calendar.tsx";
import { OnCallNow } from "./on-call-page.tsx";
import { OverrideDialog, TakeOver } from "./take-over.tsx";
import { getLocale } from "../../../src/core/text/locale.ts";
import { t } from "../../language/text.ts";

const crumbs = [{ to: "/on-call", label: t("On call") }];
const shownDays = 14;

export default function SchedulePage() {
  const { id = "" } = useParams({ strict: false });
  const mayEdit = useSignedInPerson().atLeast("admin");
  useShortcuts(mayEdit ? { e: () => openDialog({ kind: "edit-schedule", id }) } : {});
  const query = useSchedule(id);
  const [times, setTimes] = useState<SelectedTimes | null>(null);
  const onCall = useOnCallIn(id);
  return (
    <Loaded
      query={query}
      otherQueries={[onCall, useQuery(peopleQuery), ...useFirstTimes(id)]}
      subject={t("The schedule")}
      crumbs={crumbs}
    >
      {(schedule) => (
        <>
          <PageHeader
            title={schedule.name}
            crumbs={crumbs}
            facts={onCall.data && <OnCallNow onCall={onCall.data} />}
          >
            <Actions schedule={schedule} onOverride={() => setTimes(selectNextHours())} />
          </PageHeader>
          {schedule.description !== "" && (
            <div className="mb-14">
              <Markdown text={schedule.description} />
            </div>
          )}
          <Calendar schedule={schedule} onSelect={setTimes} />
          <div className="columns">
            <UpcomingShifts schedule={schedule} />
            <div className="flex flex-col gap-14">
              <Overrides schedule={schedule} />
              <Layers schedule={schedule} />
              <CalendarAddress schedule={schedule} />
            </div>
          </div>
          {times !== null && (
            <OverrideDialog schedule={schedule} times={times} onClose={() => setTimes(null)} />
          )}
        </>
      )}
    </Loaded>
  );
}

/** Queries of the times that the page shows first. */
function useFirstTimes(id: string) {
  const zone = useZone();
  const [now] = useState(() => Date.now());
  const today = getDay(now, zone);
  const { from, until } = buildUpcomingSpan(now);
  return [
    useShifts(id, startOfDay(today, zone), startOfDay(today + shownDays, zone)),
    useShifts(id, from, until),
    useOverrides(id, from, until),
  ];
}

const selectNextHours = (): SelectedTimes => ({
  startsAt: Date.now(),
  endsAt: Date.now() + 2 * hourMs,
});

function Actions({ schedule, onOverride }: { schedule: Schedule; onOverride: () => void }) {
  const { id, name } = schedule;
  const { mayWriteAll: mayWrite, atLeast } = useSignedInPerson();
  const navigate = useNavigate();
  const mayEdit = atLeast("admin");
  return (
    <>
      <TakeOver onCall={{ scheduleId: id, scheduleName: name }} size="sm" />
      {mayWrite && <Button onClick={onOverride}>{t("Override")}</Button>}
      {mayEdit && (
        <Button onClick={() => openDialog({ kind: "edit-schedule", id })}>{t("Edit")}</Button>
      )}
      <MoreActions>
        {mayEdit && (
          <MenuItem icon="copy" onClick={() => openDialog({ kind: "create-schedule", like: id })}>
            {t("Duplicate")}
          </MenuItem>
        )}
        <RecordItems
          id={id}
          curl={() => ({ method: "GET", route: v1.schedules({ id }) })}
          onDelete={
            mayEdit &&
            (() => {
              deleteSchedule(schedule);
              void navigate({ to: "/on-call" });
            })
          }
        />
      </MoreActions>
    </>
  );
}

function Calendar({
  schedule,
  onSelect,
}: {
  schedule: Schedule;
  onSelect: (times: SelectedTimes) => void;
}) {
  const zone = useZone();
  const { mayWriteAll: mayWrite } = useSignedInPerson();
  const today = getDay(useNow(), zone);
  // Spans of 14 days from today.
  const [moved, setMoved] = useState(0);
  const first = today + moved * shownDays;
  const { data } = useShifts(
    schedule.id,
    startOfDay(first, zone),
    startOfDay(first + shownDays, zone),
  );
  const people = useMemo(
    () => schedule.layers.flatMap(({ personIds }) => personIds),
    [schedule.layers],
  );
  return (
    <Panel
      title={`${formatDay(first)} – ${formatDay(first + shownDays - 1)}`}
      actions={
        <span className="flex gap-6">
          <PeriodButtons
            period={t("{count} days", { count: shownDays })}
            isNow={moved === 0}
            onToday={() => setMoved(0)}
            onMove={(by) => setMoved(moved + by)}
          />
        </span>
      }
    >
      {data !== undefined && (
        <DutyCalendar
          shifts={data}
          people={[...people, ...data.map(({ personId }) => personId)]}
          firstDay={first}
          dayCount={shownDays}
          label={t("Shifts")}
          {...(mayWrite && { onSelect })}
        />
      )}
      <CalendarNote timeZone={schedule.timeZone} mayWrite={mayWrite} />
    </Panel>
  );
}

function CalendarNote({ timeZone, mayWrite }: { timeZone: string; mayWrite: boolean }) {
  const zone = useZone();
  return (
    <p className="field-note">
      {timeZone === zone
        ? t("Times in {zone}.", { zone })
        : t("Times in {zone}; hand-overs follow the clock of {timeZone}.", { zone, timeZone })}
      {mayWrite && (
        <span className="not-phone">
          {" "}
          {t("Drag over hours to override them, or use the arrow keys with Shift, then Enter.")}
        </span>
      )}
    </p>
  );
}

const upcomingDays = 60;
const shownShifts = 8;
const offeredSwaps = 6;

/** The next shifts. Each can be taken over or swapped with two taps. */
function UpcomingShifts({ schedule }: { schedule: Schedule }) {
  const { from, until } = buildUpcomingSpan(useNow());
  const { data } = useShifts(schedule.id, from, until);
  if (data === undefined) return null;
  const listedShifts = data.slice(0, shownShifts);
  return (
    <Panel title={t("Next shifts")}>
      <ul className="lines">
        {listedShifts.map((shift) => (
          <ShiftLine key={shift.startsAt} schedule={schedule} shift={shift} all={data} />
        ))}
      </ul>
    </Panel>
  );
}

/** From the hour of `now` on, so that the span does not change every second. */
function buildUpcomingSpan(now: number) {
  const hour = Math.floor(now / hourMs) * hourMs;
  return {
    from: new Date(hour).toISOString(),
    until: new Date(hour + upcomingDays * dayMs).toISOString(),
  };
}

type LineProps = { schedule: Schedule; shift: Shift; all: readonly Shift[] };

const nameOf = ({ personId, personName }: Shift) =>
  personId === null ? t("Nobody") : (personName ?? t("Someone"));

/** Formats the time of a shift, such as `now, until 14:00` or `Mon 30 Nov 09:00–17:00 CET`. */
function formatShift({ startsAt, endsAt }: Shift, zone: string): string {
  const now = Date.now();
  const [start, end] = [Date.parse(startsAt), Date.parse(endsAt)];
  return start <= now
    ? t("now, until {time}", { time: formatDateTime(zone, end, now) })
    : formatTimeSpan(zone, start, end, now, getLocale());
}

function ShiftLine({ schedule, shift, all }: LineProps) {
  const zone = useZone();
  const { mayWriteAll: mayWrite } = useSignedInPerson();
  const time = formatShift(shift, zone);
  return (
    <li>
      <span className="line-words">
        <b className={shift.personId === null ? "degraded" : ""}>{nameOf(shift)}</b>{" "}
        <span className="num">{time}</span>
        {shift.overrideId !== null && dot + t("override")}
      </span>
      {mayWrite && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button
              size="xs"
              aria-label={t("Change the shift of {person}, {time}", {
                person: nameOf(shift),
                time,
              })}
            >
              {t("Change")}
            </Button>
          </Menu.Target>
          <Menu.Dropdown className="menu-scroll">
            <ShiftItems schedule={schedule} shift={shift} all={all} />
          </Menu.Dropdown>
        </Menu>
      )}
    </li>
  );
}

/** What a person can do with a shift: take it, or swap it with a shift of someone else. */
function ShiftItems({ schedule: { id }, shift, all }: LineProps) {
  const zone = useZone();
  const { person } = useSignedInPerson();
  const { startsAt, endsAt, personId } = shift;
  const take = () =>
    createOverride(id, { personId: person.id, startsAt, endsAt }, () =>
      t("You are on call: {time}", { time: formatShift(shift, zone) }),
    );
  const swapWith = (other: Shift) =>
    swapShifts(
      id,
      shift,
      other,
      t("Swapped the shifts of {first} and {second}", {
        first: nameOf(shift),
        second: nameOf(other),
      }),
    );
  const others = all
    .filter((other) => other.personId !== null && other.personId !== personId)
    .slice(0, personId === null ? 0 : offeredSwaps);
  return (
    <>
      {personId !== person.id && (
        <Menu.Item onClick={() => take().catch(notifyError)}>{t("I take it")}</Menu.Item>
      )}
      {others.length > 0 && <Menu.Label>{t("Swap with")}</Menu.Label>}
      {others.map((other) => (
        <Menu.Item key={other.startsAt} onClick={() => swapWith(other).catch(notifyError)}>
          {nameOf(other)}, <span className="num">{formatShift(other, zone)}</span>
        </Menu.Item>
      ))}
    </>
  );
}

function Overrides({ schedule }: { schedule: Schedule }) {
  const zone = useZone();
  const { mayWriteAll: mayWrite } = useSignedInPerson();
  const { from, until } = buildUpcomingSpan(useNow());
  const { data = [] } = useOverrides(schedule.id, from, until);
  const { data: people = [] } = useQuery(peopleQuery);
  const unfinished = data.filter(({ endsAt }) => Date.parse(endsAt) > Date.now());
  if (unfinished.length === 0) return null;
  return (
    <Panel title={t("Overrides")}>
      <ul className="lines">
        {unfinished.map(({ id, personId, startsAt, endsAt }) => (
          <li key={id}>
            <span className="line-words">
              <b>{people.find((one) => one.id === personId)?.name ?? t("Someone")}</b>{" "}
              <span className="num">
                {formatTimeSpan(
                  zone,
                  Date.parse(startsAt),
                  Date.parse(endsAt),
                  Date.now(),
                  getLocale(),
                )}
              </span>
            </span>
            {mayWrite && <RemoveButton remove={() => deleteOverride(schedule.id, id)} />}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function RemoveButton({ remove }: { remove: () => Promise<void> }) {
  const removing = useAction(remove);
  return (
    <BusyButton size="xs" loading={removing.isPending} onClick={removing.run}>
      {t("Remove")}
    </BusyButton>
  );
}

function Layers({ schedule: { layers, noticeHours } }: { schedule: Schedule }) {
  const { data: people = [] } = useQuery(peopleQuery);
  const findName = (id: string) => people.find((one) => one.id === id)?.name ?? t("Someone");
  return (
    <Panel title={t("Layers")}>
      {layers.length === 0 && (
        <p className="quiet panel-none">
          {t("No layers, so nobody is on call without an override.")}
        </p>
      )}
      <ol className="duty-layers">
        {layers.map((layer, index) => (
          <li key={index}>{describeLayer(layer, findName)}</li>
        ))}
      </ol>
      {layers.length > 1 && (
        <p className="field-note">
          {t("Where several layers have a person, the last one decides.")}
        </p>
      )}
      {noticeHours !== null && (
        <p className="field-note">
          {t("Everyone is notified {hours} h before their shift.", { hours: noticeHours })}
        </p>
      )}
    </Panel>
  );
}

function CalendarAddress({ schedule }: { schedule: Schedule }) {
  const mayEdit = useSignedInPerson().atLeast("admin");
  const [isAsking, setIsAsking] = useState(false);
  const { calendarUrl } = schedule;
  if (calendarUrl === null) return null;
  return (
    <Panel
      title={t("Calendar")}
      actions={
        mayEdit && (
          <Button size="xs" onClick={() => setIsAsking(true)}>
            {t("New address")}
          </Button>
        )
      }
    >
      <CopyLine label="iCal" text={calendarUrl} />
      <p className="field-note">
        {t("Subscribe to it in your calendar. Everyone who knows the address can read the shifts.")}
      </p>
      {isAsking && (
        <Confirm
          title={t("Create a new calendar address?")}
          verb={t("Create")}
          onClose={() => setIsAsking(false)}
          onConfirm={() => renewCalendar(schedule)}
        >
          {t("The present address stops working at once, in everyone's calendar.")}
        </Confirm>
      )}
    </Panel>
  );
}
