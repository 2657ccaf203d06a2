import { useEffect, useState } from "react";
import type { IncidentSummary } from "../../../src/incidents/schema.ts";
import { connection } from "../../data/connection.ts";
import { liveState } from "../../data/live.ts";
import type { Overview } from "../../data/overview.ts";
import { useSignedIn } from "../../data/session.ts";
import { countInWords, plural } from "../../components/format.ts";
import { Icon } from "../../components/icons.tsx";
import { Mark } from "../../components/mark.tsx";
import { StateIcon, stateLabels } from "../../components/state-icon.tsx";
import { formatIn } from "../../../src/core/times.ts";
import { Time, useNow, useZone } from "../../components/time.tsx";
import { countsOf, firstOf, headline } from "./wall-rules.ts";

/** The overall state in one line: mark, words, figures and the time. */
export function WallHead({ overview }: { overview: Overview }) {
  const { organization } = useSignedIn();
  const { state, words } = headline(overview);
  const lostAt = useLost();
  return (
    <header className={`wall-head wall-${state}`}>
      <Mark state={state} />
      <div className="wall-words">
        <h1>{words}</h1>
        <p>
          {organization.name}
          {lostAt === null ? (
            countsOf(overview.monitors.map(({ status }) => status)).map(({ state, count }) => (
              <span key={state} className={`wall-count ${state}`}>
                <StateIcon state={state} size={20} />
                <b className="num">{countInWords(count)}</b> {stateLabels[state].toLowerCase()}
              </span>
            ))
          ) : (
            <span className="wall-count degraded" role="status">
              <Icon name="warning" size={20} />
              No connection. Last update: <Time at={lostAt} as="clock" />
            </span>
          )}
        </p>
      </div>
      <Clock />
    </header>
  );
}

/** Since when what is shown may be old; null while it is live. */
function useLost(): string | null {
  const away = connection.use() === "lost";
  const deaf = liveState.use() === "lost";
  const lost = away || deaf;
  const [at, setAt] = useState<string | null>(null);
  useEffect(() => {
    if (!lost) return setAt(null);
    const since = new Date().toISOString();
    const timer = setTimeout(() => setAt(since), 3_000);
    return () => clearTimeout(timer);
  }, [lost]);
  return at;
}

function Clock() {
  const now = new Date(useNow());
  const timeZone = useZone();
  const formatted = (options: Intl.DateTimeFormatOptions) =>
    formatIn(timeZone, options).format(now);
  return (
    <time className="wall-clock num" dateTime={now.toISOString()}>
      <b>{formatted({ hour: "2-digit", minute: "2-digit" })}</b>
      <small>{formatted({ weekday: "long", day: "numeric", month: "long" })}</small>
    </time>
  );
}

export function OpenIncidents({
  incidents,
  total,
}: {
  incidents: readonly IncidentSummary[];
  total: number;
}) {
  const { shown } = firstOf(incidents, 3);
  const more = total - shown.length;
  return (
    <section className="wall-incidents" aria-label="Open incidents">
      {shown.map(({ id, title, severity, status, createdAt }) => (
        <p key={id}>
          <b>{title}</b>
          <span>
            {severity}, {status}, <Time at={createdAt} />
          </span>
        </p>
      ))}
      {more > 0 && <p className="wall-more">and {plural(more, "more incident")}</p>}
    </section>
  );
}
