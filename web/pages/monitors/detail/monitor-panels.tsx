/** Panels of a monitor's page: description, activity, alert channels, incidents, checks and details. */
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { AlertPreview } from "../../../../src/alerting/schema.ts";
import type { PastState } from "../../../../src/dashboard/schema.ts";
import type { IncidentSummary } from "../../../../src/incidents/schema.ts";
import { formatDuration } from "../../../../src/core/text/formatting.ts";
import { linkRel } from "../../../../src/core/text/markdown.ts";
import { listShownDetails } from "../../../../src/monitoring/monitors/details-rules.ts";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { formatFullTarget } from "../../../../src/monitoring/monitors/target-rules.ts";
import type { Heartbeat } from "../../../../src/monitoring/uptime/schema.ts";
import { openDialog } from "../../../components/open-dialog.ts";
import { dot, formatLatency, formatReason } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Markdown } from "../../../components/display/markdown.tsx";
import { Panel } from "../../../components/page.tsx";
import { StateIcon, stateLabels, stateWords } from "../../../components/display/state-icon.tsx";
import {
  formatUnbrokenDuration,
  Time,
  useNow,
  useZone,
} from "../../../components/display/time.tsx";
import { type Problems, useProblems } from "../../../data/problems.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { DetailList } from "../details.tsx";
import {
  checksPerPage,
  maxStates,
  useStates,
  useMonitorIncidents,
  useAlertRecipients,
  useHeartbeats,
} from "../data.ts";
import { describeDay } from "../../../components/display/days.ts";
import { getTypeName } from "../type-names.ts";
import { describePace } from "./pace.ts";
import type { PageSpan } from "./spans.ts";
import { nameIncident } from "../../../language/server-text.ts";
import { translateServerText } from "../../../language/server-text.ts";
import { t, tCount, tNode } from "../../../language/text.ts";

/** Number of lines that a panel shows before “Show all”. */
const maxFoldedRows = 8;

const words: Record<PastState["status"], string> = {
  up: stateLabels.up,
  degraded: t("Degraded"),
  down: t("Down"),
  maintenance: t("Maintenance started"),
  paused: t("Paused"),
  pending: t("Waiting for the first result"),
};

/** State changes in the page's time span as sentences, by day, newest first. */
export function Activity({ id, span }: { id: string; span: PageSpan }) {
  const [all, setAll] = useState(false);
  const zone = useZone();
  const now = useNow();
  const { data: states = [] } = useStates(id, span);
  // The last one can be the state at the start of the span.
  const changes = states.filter(({ since }) => Date.parse(since) >= span.from);
  const shownChanges = all ? changes : changes.slice(0, maxFoldedRows);
  const days = Map.groupBy(shownChanges, ({ since }) => describeDay(zone, Date.parse(since), now));
  const atStart = states.at(-1);
  return (
    <Panel
      title={t("Activity")}
      actions={changes.length > maxFoldedRows && <ShowAll all={all} onChange={setAll} />}
    >
      {changes.length === 0 && (
        <p className="quiet panel-none">
          {atStart === undefined
            ? t("No activity in this time span.")
            : t("No change in this time span: {state} throughout.", {
                state: stateWords[atStart.status],
              })}
        </p>
      )}
      {[...days].map(([day, ofDay]) => (
        <section key={day} aria-label={day}>
          <h3 className="lines-day">{day}</h3>
          <ul className="lines">
            {ofDay.map((state) => {
              const before = states[states.indexOf(state) + 1];
              return (
                <li key={state.since}>
                  <StateIcon state={state.status} size={15} />
                  <span className="line-words">
                    <b>{composeStateTitle(state, before)}</b> {composeDetail(state, before)}
                  </span>
                  <Time at={state.since} as="clock" />
                </li>
              );
            })}
          </ul>
        </section>
      ))}
      {all && states.length === maxStates && (
        <p className="quiet panel-none">
          {t("Only the newest {count} changes. Choose a shorter time span for older ones.", {
            count: maxStates,
          })}
        </p>
      )}
    </Panel>
  );
}

function composeStateTitle({ status }: PastState, before: PastState | undefined): string {
  if (status === "up" && before?.status === "maintenance") return t("Maintenance ended");
  if (status === "up" && before?.status === "paused") return t("Resumed, up");
  const wasTrouble = before?.status === "down" || before?.status === "degraded";
  return status === "up" && wasTrouble ? t("Up again") : words[status];
}

function composeDetail(
  { status, message, since }: PastState,
  before: PastState | undefined,
): string {
  const words = formatReason(message ?? "");
  if (status !== "up" || before === undefined) return words;
  if (before.status !== "down" && before.status !== "degraded") return words;
  const duration = formatUnbrokenDuration((Date.parse(since) - Date.parse(before.since)) / 1000);
  return before.status === "down"
    ? t("after {duration} down", { duration })
    : t("after {duration} degraded", { duration });
}

/**
 * Channels that an outage would alert now, failing channels, and why others would not be alerted.
 */
export function AlertRecipients({ monitor: { id, alertChannelIds } }: { monitor: Monitor }) {
  const { mayWrite } = useSignedInPerson();
  const { data } = useAlertRecipients(id);
  const { data: problems } = useProblems();
  const failing = new Map(problems?.channels.map((channel) => [channel.id, channel]));
  return (
    <Panel
      title={t("Alerts to")}
      actions={
        mayWrite && (
          <button
            type="button"
            className="plain-button link"
            aria-label={t("Edit who is alerted")}
            onClick={() => openDialog({ kind: "edit-monitor", id })}
          >
            {t("Edit")}
          </button>
        )
      }
    >
      {alertChannelIds.length === 0 && (
        <p className="quiet panel-none">
          {data?.policy == null
            ? t("No alert channels. No one is alerted when it is down.")
            : t("No alert channels.")}
        </p>
      )}
      <ul className="lines">
        {data?.told.map(({ id, name }) => (
          <Recipient key={id} id={id} name={name} failing={failing.get(id)} />
        ))}
        {data?.notTold
          .filter(({ id }) => alertChannelIds.includes(id))
          .map(({ id, name, reason }) => (
            <Recipient key={id} id={id} name={name} reason={reason.replace(`${name} `, "")} />
          ))}
      </ul>
      {data?.policy != null && <PolicySteps from={data.at} policy={data.policy} />}
    </Panel>
  );
}

type PreviewedPolicy = NonNullable<AlertPreview["policy"]>;

/** Whom the escalation policy would notify of an outage that starts now: its first run, and its end. */
function PolicySteps({ from, policy }: { from: string; policy: PreviewedPolicy }) {
  const { name, reason, steps } = policy;
  const firstRound = steps.filter(({ step, round }) => step === null || round === 0);
  return (
    <section aria-label={t("Escalation policy")}>
      <h3 className="lines-day">{t("Then by the policy {name}", { name })}</h3>
      {reason !== null && <p className="quiet">{reason}</p>}
      <ul className="lines">
        {firstRound.map(({ step, round, at, message }) => (
          <li key={step}>
            <span className="line-words">
              <b>{describeDelay(Date.parse(at) - Date.parse(from))}</b>{" "}
              {step === null ? `${describeEnd(round)}: ${message}` : message}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const describeEnd = (repeat: number) =>
  repeat === 0
    ? t("nobody acknowledged")
    : tCount(
        repeat,
        "nobody acknowledged, also in {count} repetition",
        "nobody acknowledged, also in {count} repetitions",
      );

const describeDelay = (delayMs: number) =>
  delayMs < 60_000
    ? t("At once")
    : t("After {duration}", { duration: formatDuration(delayMs / 1000) });

function Recipient({
  id,
  name,
  failing,
  reason,
}: {
  id: string;
  name: string;
  failing?: Problems["channels"][number] | undefined;
  /** Reason why the channel would not be alerted. */
  reason?: string;
}) {
  return (
    <li>
      <span className="line-words">
        <Link to="/alert-channels/$id" params={{ id }} className="page-link">
          <b>{name}</b>
        </Link>
        {failing !== undefined && (
          <small className="block text-xs faint">
            {tNode("Since {time}: {error}", {
              time: <Time at={failing.since} as="short" />,
              error: translateServerText(failing.error),
            })}
          </small>
        )}
        {reason !== undefined && <small className="block text-xs faint">{reason}</small>}
      </span>
      {failing !== undefined && (
        <span className="line-state degraded">
          <StateIcon state="degraded" size={14} /> {t("Failing")}
        </span>
      )}
      {failing === undefined && reason === undefined && (
        <span className="line-state up">
          <StateIcon state="up" size={14} /> {t("Working")}
        </span>
      )}
    </li>
  );
}

const tone: Record<IncidentSummary["severity"], string> = {
  minor: "pill-degraded",
  major: "pill-down",
  critical: "pill-down",
};

const incidentWords: Record<IncidentSummary["status"], string> = {
  investigating: t("investigating"),
  identified: t("identified"),
  monitoring: t("monitoring"),
  resolved: t("resolved"),
};

export function Incidents({ id }: { id: string }) {
  const { data } = useMonitorIncidents(id);
  return (
    <Panel title={t("Incidents")}>
      {data?.data.length === 0 && <p className="quiet panel-none">{t("No incidents yet.")}</p>}
      <ul className="lines">
        {data?.data.map(({ id, title, origin, status, severity, createdAt }) => (
          <li key={id}>
            <span className={`pill ${status === "resolved" ? "" : tone[severity]}`}>
              {incidentWords[status]}
            </span>
            <Link to="/incidents/$id" params={{ id }} className="line-words page-link">
              <b>{nameIncident({ title, origin })}</b>
            </Link>
            <Time at={createdAt} as="short" />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function ShowAll({ all, onChange }: { all: boolean; onChange: (all: boolean) => void }) {
  return (
    <button type="button" className="plain-button link" onClick={() => onChange(!all)}>
      {all ? t("Show less") : t("Show all")}
    </button>
  );
}

/** Checks in the page's time span, newest first: a few, or pages of all that are stored. */
export function Checks({ id, span }: { id: string; span: PageSpan }) {
  const [all, setAll] = useState(false);
  /** Ends of the opened older pages, the latest last. */
  const [ends, setEnds] = useState<number[]>([]);
  const { data: checks = [], isPlaceholderData } = useHeartbeats(id, {
    from: span.from,
    to: ends.at(-1) ?? span.to,
  });
  const oldest = checks.at(-1);
  const hasOlder = checks.length === checksPerPage;
  const show = (isAll: boolean) => {
    setAll(isAll);
    setEnds([]);
  };
  return (
    <Panel
      title={span.to === null ? t("Recent checks") : t("Checks")}
      actions={checks.length > maxFoldedRows && <ShowAll all={all} onChange={show} />}
    >
      {checks.length === 0 && (
        <p className="quiet panel-none">
          {t("No single checks are stored of this time span. Older figures remain as sums.")}
        </p>
      )}
      <CheckLines checks={all ? checks : checks.slice(0, maxFoldedRows)} isLong={all} />
      {all && (hasOlder || ends.length > 0) && (
        <nav className="pager" aria-label={t("Pages of checks")}>
          <Button size="xs" disabled={ends.length === 0} onClick={() => setEnds(ends.slice(0, -1))}>
            {t("Newer")}
          </Button>
          <Button
            size="xs"
            disabled={!hasOlder || isPlaceholderData}
            onClick={() => oldest && setEnds([...ends, Date.parse(oldest.at)])}
          >
            {t("Older")}
          </Button>
        </nav>
      )}
    </Panel>
  );
}

const CheckLines = ({ checks, isLong }: { checks: readonly Heartbeat[]; isLong: boolean }) => (
  <ul className={`lines checks ${isLong ? "checks-all" : ""}`}>
    {checks.map(({ at, status, message, latencyMs }) => (
      <li key={at}>
        <StateIcon state={status} size={13} label />
        <Time at={at} as="seconds" />
        <span className="line-words">{formatReason(message ?? "")}</span>
        <span className="num">{formatLatency(latencyMs)}</span>
      </li>
    ))}
  </ul>
);

/** Target, interval, description and tags. */
export function About({ monitor }: { monitor: Monitor }) {
  const { description, tags, type, muted } = monitor;
  const target = formatFullTarget(monitor);
  const method = typeof monitor["method"] === "string" ? ` ${monitor["method"]}` : "";
  return (
    <Panel title={t("About")} className="about">
      {description.trim() !== "" && <Markdown text={description} />}
      <p className="quiet">
        {getTypeName(type)}
        {method} {target !== null && <Target address={target} />}
        {dot}
        {describePace(monitor)}
        {muted && `${dot}${t("muted")}`}
      </p>
      {tags.length > 0 && (
        <ul className="tags" aria-label={t("Tags")}>
          {tags.map((tag) => (
            <li key={tag}>
              <Link className="tag" to="/monitors" search={{ tag }}>
                <bdi>{tag}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** The target, as a link if it is a web address. */
export function Target({ address }: { address: string }) {
  if (!/^https?:/.test(address)) return <code>{address}</code>;
  return (
    <a className="link" href={address} target="_blank" rel={linkRel}>
      {address.replace(/^https?:\/\//, "")} <Icon name="external" size={13} />
    </a>
  );
}

/** Type-specific results of the last check, such as the certificate of a TLS check. */
export function DetailsPanel({ monitor: { type, details } }: { monitor: Monitor }) {
  if (listShownDetails(type, details).length === 0) return null;
  return (
    <Panel title={t("Found by the last check")}>
      <DetailList type={type} details={details} />
    </Panel>
  );
}
