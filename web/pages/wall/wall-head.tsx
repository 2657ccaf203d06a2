/** The top of the wall: overall state, counts, clock and open incidents. */
import { useEffect, useState } from "react";
import type { IncidentSummary } from "../../../src/incidents/schema.ts";
import { connection } from "../../data/connection.ts";
import { liveState } from "../../data/live.ts";
import type { Overview } from "../../data/overview.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { formatCount } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { Mark } from "../../components/display/mark.tsx";
import { StateIcon, stateWords } from "../../components/display/state-icon.tsx";
import { getFormatter } from "../../../src/core/time/times.ts";
import { Time, useNow, useZone } from "../../components/display/time.tsx";
import { SeverityPill } from "../incidents/labels.tsx";
import { countStates, buildHeadline, findWorstIncident } from "./wall-rules.ts";
import { nameIncident } from "../../language/server-text.ts";
import { t, tCount, tNode } from "../../language/text.ts";

/** The overall state in one line: logo, words, counts and the time, which is `at` if it is given. */
export function WallHead({ overview, at }: { overview: Overview; at: string | undefined }) {
  const { organization } = useSignedInPerson();
  const { state, parts } = buildHeadline(overview);
  const lost = useLost();
  const lostAt = at === undefined ? lost : null;
  return (
    <header className="wall-head">
      <Mark state={state} />
      <div className="wall-words min-w-0 flex-1">
        <h1>
          {parts.map((part) => (
            <span key={part.state} className={`wall-${part.state}`}>
              {part.words}
            </span>
          ))}
        </h1>
        <p>
          {organization.name}
          {lostAt === null ? (
            countStates(overview.monitors.map(({ status }) => status))
              .filter(({ state }) => state !== "down" && state !== "degraded")
              .map(({ state, count }) => (
                <span key={state} className="wall-count">
                  <StateIcon state={state} size={20} />
                  <b className="num">{formatCount(count)}</b> {stateWords[state]}
                </span>
              ))
          ) : (
            <span className="wall-count degraded" role="status">
              <Icon name="warning" size={20} />
              {tNode("No connection. Last update: {time}", {
                time: <Time at={lostAt} as="clock" />,
              })}
            </span>
          )}
        </p>
      </div>
      <Clock at={at} />
    </header>
  );
}

/** Time at which live updates were lost; null while the wall is live. Ignores outages below 3 s. */
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

function Clock({ at }: { at: string | undefined }) {
  const presentTime = useNow();
  const now = new Date(at ?? presentTime);
  const timeZone = useZone();
  const formatNow = (options: Intl.DateTimeFormatOptions) =>
    getFormatter(timeZone, options).format(now);
  return (
    <time className="wall-clock num" dateTime={now.toISOString()}>
      <b>{formatNow({ hour: "2-digit", minute: "2-digit" })}</b>
      <small>{formatNow({ weekday: "long", day: "numeric", month: "long" })}</small>
    </time>
  );
}

/** Names of incident statuses within a sentence. */
const statusNames: Record<IncidentSummary["status"], string> = {
  investigating: t("investigating"),
  identified: t("identified"),
  monitoring: t("monitoring"),
  resolved: t("resolved"),
};

export function OpenIncidents({
  incidents,
  total,
}: {
  incidents: readonly IncidentSummary[];
  total: number;
}) {
  const incident = findWorstIncident(incidents);
  const { severity, status, createdAt } = incident;
  const title = nameIncident(incident);
  return (
    <section className="wall-incidents" aria-label={t("Open incidents")}>
      <SeverityPill severity={severity} />
      <p>
        <b title={title}>{title}</b>
        <span>
          {statusNames[status]}, <Time at={createdAt} as="for" />
        </span>
      </p>
      <span>
        {total > 1
          ? tCount(total - 1, "+ {count} more incident", "+ {count} more incidents")
          : t("1 incident open")}
      </span>
    </section>
  );
}
