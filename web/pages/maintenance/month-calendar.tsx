/** The calendar view of the maintenance page, one month at a time. */
import { addMonths } from "../../../src/core/time/clock.ts";
import { getDay, startOfDay } from "../../../src/core/time/time-zones.ts";
import { Menu } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { useSignedInPerson } from "../../data/session.ts";
import { openDialog } from "../../components/open-dialog.ts";
import { Icon } from "../../components/display/icons.tsx";
import { useNow, useZone } from "../../components/display/time.tsx";
import { LoadFailed } from "../../components/page.tsx";
import { PeriodButtons } from "../../components/pager.tsx";
import { useDeleting } from "../../components/deletion.ts";
import {
  toDate,
  type DayNumber,
  groupEntriesByDay,
  type Entry,
  formatMonth,
  listWeeks,
} from "./calendar.ts";
import { useCalendar } from "./data.ts";
import { formatClock, formatSpan } from "./labels.tsx";
import { shortWeekdays, weekdays } from "../../components/forms/weekdays.ts";
import { getLocale } from "../../../src/core/text/locale.ts";
import { t } from "../../language/text.ts";

const monthFormat = new Intl.DateTimeFormat(getLocale(), {
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});
const dayFormat = new Intl.DateTimeFormat(getLocale(), {
  weekday: "long",
  day: "numeric",
  month: "long",
  timeZone: "UTC",
});

/** Maximum entries per day. A menu has the others. */
const maxEntries = 3;

/** The calendar of a month. On phones, it is a list of days with maintenance. */
export function MonthCalendar({
  month: chosenMonth,
  onMonthChange,
}: {
  month: string | undefined;
  onMonthChange: (month: string | undefined) => void;
}) {
  const zone = useZone();
  const today = getDay(useNow(), zone);
  const month = chosenMonth ?? formatMonth(today);
  const weeks = useMemo(() => listWeeks(month), [month]);
  const [first, last] = [weeks[0]?.[0] ?? 0, weeks.at(-1)?.[6] ?? 0];
  const { data, error } = useCalendar(startOfDay(first, zone), startOfDay(last + 1, zone));
  const deleting = useDeleting();
  const entries = useMemo(() => {
    const windows = data?.filter(({ id }) => !deleting.has(id)) ?? [];
    return groupEntriesByDay(windows, first, last, zone);
  }, [data, deleting, first, last, zone]);
  if (data === undefined) return error && <LoadFailed subject={t("The calendar")} error={error} />;
  const title = monthFormat.format(new Date(`${month}-01`));
  const hasAny = weeks.flat().some((day) => formatMonth(day) === month && entries.has(day));
  return (
    <section className="calendar" aria-label={t("Calendar")}>
      <MonthHead
        title={title}
        month={month}
        isNow={formatMonth(today) === month}
        onMonthChange={onMonthChange}
      />
      <table className="panel panel-flush">
        <caption className="visually-hidden">
          {t("Maintenance in {month}", { month: title })}
        </caption>
        <thead>
          <tr>
            {weekdays.map((name, day) => (
              <th key={name} scope="col" abbr={name}>
                {shortWeekdays[day]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <Day key={day} day={day} month={month} today={today} entries={entries.get(day)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {!hasAny && (
        <p className="quiet calendar-none">{t("No maintenance in {month}.", { month: title })}</p>
      )}
    </section>
  );
}

type HeadProps = {
  title: string;
  month: string;
  isNow: boolean;
  onMonthChange: (month: string | undefined) => void;
};

function MonthHead({ title, month, isNow, onMonthChange }: HeadProps) {
  return (
    <div className="calendar-head">
      <h2 aria-live="polite">{title}</h2>
      <PeriodButtons
        period="month"
        isNow={isNow}
        onToday={() => onMonthChange(undefined)}
        onMove={(by) => onMonthChange(addMonths(month, by))}
      />
    </div>
  );
}

type DayProps = { day: DayNumber; month: string; today: DayNumber; entries: Entry[] | undefined };

function Day({ day, month, today, entries }: DayProps) {
  const { mayWrite } = useSignedInPerson();
  const classes = [
    formatMonth(day) === month ? "" : "calendar-other",
    day === today ? "calendar-today" : "",
    entries ? "" : "calendar-free",
  ];
  return (
    <td className={classes.join(" ")} {...(day === today && { "aria-current": "date" as const })}>
      <DayHead day={day} mayWrite={mayWrite} />
      <Entries day={day} entries={entries ?? []} />
    </td>
  );
}

function DayHead({ day, mayWrite }: { day: DayNumber; mayWrite: boolean }) {
  const date = toDate(day);
  const name = dayFormat.format(date);
  const number = (
    <>
      <span className="calendar-number num" aria-hidden="true">
        {date.getUTCDate()}
      </span>
      <span className="calendar-name">{name}</span>
    </>
  );
  if (!mayWrite) return <div className="calendar-day">{number}</div>;
  return (
    <button
      type="button"
      className="calendar-day"
      aria-label={t("Schedule maintenance on {day}", { day: name })}
      onClick={() =>
        openDialog({ kind: "plan-maintenance", date: date.toISOString().slice(0, 10) })
      }
    >
      {number}
      <Icon name="plus" size={12} />
    </button>
  );
}

function Entries({ day, entries }: { day: DayNumber; entries: readonly Entry[] }) {
  const zone = useZone();
  const now = useNow();
  const navigate = useNavigate();
  const shownEntries = entries.length > maxEntries + 1 ? entries.slice(0, maxEntries) : entries;
  const hiddenEntries = entries.slice(shownEntries.length);
  const linkToWindow = ({ id }: Entry) => ({ to: "/maintenance/$id", params: { id } }) as const;
  const formatEntryTime = ({ start, isFirstDay }: Entry) =>
    isFirstDay ? formatClock(start, zone) : "…";
  return (
    <>
      {shownEntries.map((entry) => (
        <Link
          key={`${entry.id} ${entry.start}`}
          {...linkToWindow(entry)}
          className={`calendar-entry ${entry.end <= now ? "calendar-over" : entry.start <= now ? "calendar-now" : ""}`}
          title={`${entry.title}, ${formatSpan(entry.start, entry.end, zone)}`}
        >
          <span className="num">{formatEntryTime(entry)}</span> {entry.title}
        </Link>
      ))}
      {hiddenEntries.length > 0 && (
        <Menu position="bottom-start">
          <Menu.Target>
            <button
              type="button"
              className="calendar-more"
              aria-label={t("{count} more on {day}", {
                count: hiddenEntries.length,
                day: dayFormat.format(toDate(day)),
              })}
            >
              {t("{count} more", { count: hiddenEntries.length })}
            </button>
          </Menu.Target>
          <Menu.Dropdown className="menu-scroll">
            {hiddenEntries.map((entry) => (
              <Menu.Item
                key={`${entry.id} ${entry.start}`}
                onClick={() => void navigate(linkToWindow(entry))}
              >
                <span className="num">{formatEntryTime(entry)}</span> {entry.title}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}
