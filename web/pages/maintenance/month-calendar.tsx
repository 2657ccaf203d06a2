import { ActionIcon, Button, Menu } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { MaintenanceWindow } from "../../../src/monitoring/maintenance/schema.ts";
import { useSignedIn } from "../../data/session.ts";
import { openDialog } from "../../components/open-dialog.ts";
import { Icon } from "../../components/display/icons.tsx";
import { useNow, useZone } from "../../components/display/time.tsx";
import {
  dateOf,
  dayAt,
  type DayNumber,
  entriesOf,
  type Entry,
  monthAfter,
  monthOf,
  weeksOf,
} from "./calendar.ts";
import { clockAt, spanInWords } from "./labels.tsx";
import { weekdays } from "./recurrence.ts";

type Planned = Entry<MaintenanceWindow>;

const monthFormat = new Intl.DateTimeFormat("en-GB", {
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});
const dayFormat = new Intl.DateTimeFormat("en-GB", {
  weekday: "long",
  day: "numeric",
  month: "long",
  timeZone: "UTC",
});

/** So many entries a day shows before the rest goes into a menu. */
const most = 3;

/** A month of windows; on a phone the days on which something is planned, one below the other. */
export function MonthCalendar({
  windows,
  month,
  onMonth,
}: {
  windows: readonly MaintenanceWindow[];
  month: string;
  onMonth: (month: string | undefined) => void;
}) {
  const zone = useZone();
  const { mayWrite } = useSignedIn();
  const now = useNow();
  const today = dayAt(now, zone);
  const weeks = useMemo(() => weeksOf(month), [month]);
  const entries = useMemo(
    () => entriesOf(windows, weeks[0]?.[0] ?? 0, weeks.at(-1)?.[6] ?? 0, zone),
    [windows, weeks, zone],
  );
  const title = monthFormat.format(new Date(`${month}-01`));
  const hasAny = weeks.flat().some((day) => monthOf(day) === month && entries.has(day));
  return (
    <section className="calendar" aria-label="Calendar">
      <div className="calendar-head">
        <h2 aria-live="polite">{title}</h2>
        {monthOf(today) !== month && (
          <Button size="xs" onClick={() => onMonth(undefined)}>
            Today
          </Button>
        )}
        <ActionIcon
          variant="default"
          size={30}
          aria-label="Previous month"
          onClick={() => onMonth(monthAfter(month, -1))}
        >
          <span className="calendar-back">
            <Icon name="right" size={14} />
          </span>
        </ActionIcon>
        <ActionIcon
          variant="default"
          size={30}
          aria-label="Next month"
          onClick={() => onMonth(monthAfter(month, 1))}
        >
          <Icon name="right" size={14} />
        </ActionIcon>
      </div>
      <table className="panel panel-flush">
        <caption className="visually-hidden">Maintenance in {title}</caption>
        <thead>
          <tr>
            {weekdays.map((name) => (
              <th key={name} scope="col" abbr={name}>
                {name.slice(0, 3)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td
                  key={day}
                  className={`${monthOf(day) === month ? "" : "calendar-other"} ${day === today ? "calendar-today" : ""} ${entries.has(day) ? "" : "calendar-free"}`}
                  {...(day === today && { "aria-current": "date" as const })}
                >
                  <DayHead day={day} mayWrite={mayWrite} />
                  <Entries day={day} entries={entries.get(day) ?? []} zone={zone} now={now} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {!hasAny && <p className="quiet calendar-none">No maintenance in {title}.</p>}
    </section>
  );
}

function DayHead({ day, mayWrite }: { day: DayNumber; mayWrite: boolean }) {
  const date = dateOf(day);
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
      aria-label={`Schedule maintenance on ${name}`}
      onClick={() =>
        openDialog({ kind: "plan-maintenance", date: date.toISOString().slice(0, 10) })
      }
    >
      {number}
      <Icon name="plus" size={12} />
    </button>
  );
}

function Entries({
  day,
  entries,
  zone,
  now,
}: {
  day: DayNumber;
  entries: readonly Planned[];
  zone: string;
  now: number;
}) {
  const navigate = useNavigate();
  const shown = entries.length > most + 1 ? entries.slice(0, most) : entries;
  const rest = entries.slice(shown.length);
  const to = ({ window: { id } }: Planned) => ({ to: "/maintenance/$id", params: { id } }) as const;
  const time = ({ start, begins }: Planned) => (begins ? clockAt(start, zone) : "…");
  return (
    <>
      {shown.map((entry) => (
        <Link
          key={`${entry.window.id} ${entry.start}`}
          {...to(entry)}
          className={`calendar-entry ${entry.end <= now ? "calendar-over" : entry.start <= now ? "calendar-now" : ""}`}
          title={`${entry.window.title}, ${spanInWords(entry.start, entry.end, zone)}`}
        >
          <span className="num">{time(entry)}</span> {entry.window.title}
        </Link>
      ))}
      {rest.length > 0 && (
        <Menu position="bottom-start">
          <Menu.Target>
            <button
              type="button"
              className="calendar-more"
              aria-label={`${rest.length} more on ${dayFormat.format(dateOf(day))}`}
            >
              {rest.length} more
            </button>
          </Menu.Target>
          <Menu.Dropdown className="menu-scroll">
            {rest.map((entry) => (
              <Menu.Item
                key={`${entry.window.id} ${entry.start}`}
                onClick={() => void navigate(to(entry))}
              >
                <span className="num">{time(entry)}</span> {entry.window.title}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}
