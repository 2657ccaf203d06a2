/** Panels of a monitor's page: activity, alert channels, incidents, recent checks and details. */
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { PastState } from "../../../../src/dashboard/schema.ts";
import type { IncidentSummary } from "../../../../src/incidents/schema.ts";
import { listShownDetails } from "../../../../src/monitoring/monitors/details-rules.ts";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { copyText } from "../../../components/copy.tsx";
import { openDialog } from "../../../components/open-dialog.ts";
import { formatLatency, formatReason } from "../../../components/display/format.ts";
import { Panel } from "../../../components/page.tsx";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { durationInWords, Time } from "../../../components/display/time.tsx";
import { type Problems, useProblems } from "../../../data/problems.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { DetailList } from "../details.tsx";
import { useStates, useMonitorIncidents, useAlertRecipients, useHeartbeats } from "../data.ts";

/** Number of lines that a panel shows before “Show all”. */
const maxFoldedRows = 8;

const words: Record<PastState["status"], string> = {
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Maintenance started",
  paused: "Paused",
  pending: "Waiting for the first result",
};

/** State changes as sentences, newest first. */
export function Activity({ id }: { id: string }) {
  const [all, setAll] = useState(false);
  const { data: states = [] } = useStates(id);
  return (
    <Panel
      title="Activity"
      actions={states.length > maxFoldedRows && <ShowAll all={all} onChange={setAll} />}
    >
      {states.length === 0 && <p className="quiet panel-none">No activity yet.</p>}
      <ul className="lines">
        {(all ? states : states.slice(0, maxFoldedRows)).map((state, index) => (
          <li key={state.since}>
            <StateIcon state={state.status} size={15} />
            <span className="line-words">
              <b>{composeStateTitle(state, states[index + 1])}</b>{" "}
              {composeDetail(state, states[index + 1])}
            </span>
            <Time at={state.since} as="short" />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function composeStateTitle({ status }: PastState, before: PastState | undefined): string {
  if (status === "up" && before?.status === "maintenance") return "Maintenance ended";
  if (status === "up" && before?.status === "paused") return "Resumed, up";
  const wasTrouble = before?.status === "down" || before?.status === "degraded";
  return status === "up" && wasTrouble ? "Up again" : words[status];
}

function composeDetail(
  { status, message, since }: PastState,
  before: PastState | undefined,
): string {
  const words = formatReason(message ?? "");
  if (status !== "up" || before === undefined) return words;
  if (before.status !== "down" && before.status !== "degraded") return words;
  const seconds = (Date.parse(since) - Date.parse(before.since)) / 1000;
  return `after ${durationInWords(seconds)} ${before.status}`;
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
      title="Alerts to"
      actions={
        mayWrite && (
          <button
            type="button"
            className="plain-button link"
            aria-label="Edit who is alerted"
            onClick={() => openDialog({ kind: "edit-monitor", id })}
          >
            Edit
          </button>
        )
      }
    >
      {alertChannelIds.length === 0 && (
        <p className="quiet panel-none">No alert channels. No one is alerted when it is down.</p>
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
    </Panel>
  );
}

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
            Since <Time at={failing.since} as="short" />: {failing.error}
          </small>
        )}
        {reason !== undefined && <small className="block text-xs faint">{reason}</small>}
      </span>
      {failing !== undefined && (
        <span className="line-state degraded">
          <StateIcon state="degraded" size={14} /> Failing
        </span>
      )}
      {failing === undefined && reason === undefined && (
        <span className="line-state up">will be alerted</span>
      )}
    </li>
  );
}

const tone: Record<IncidentSummary["severity"], string> = {
  minor: "pill-degraded",
  major: "pill-down",
  critical: "pill-down",
};

export function Incidents({ id }: { id: string }) {
  const { data } = useMonitorIncidents(id);
  return (
    <Panel title="Incidents">
      {data?.data.length === 0 && <p className="quiet panel-none">No incidents yet.</p>}
      <ul className="lines">
        {data?.data.map(({ id, title, status, severity, createdAt }) => (
          <li key={id}>
            <span className={`pill ${status === "resolved" ? "" : tone[severity]}`}>{status}</span>
            <Link to="/incidents/$id" params={{ id }} className="line-words page-link">
              <b>{title}</b>
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
      {all ? "Show less" : "Show all"}
    </button>
  );
}

export function RecentChecks({ id }: { id: string }) {
  const [all, setAll] = useState(false);
  const { data: checks = [] } = useHeartbeats(id, 100);
  const shownChecks = all ? checks : checks.slice(0, maxFoldedRows);
  return (
    <Panel
      title="Recent checks"
      actions={checks.length > maxFoldedRows && <ShowAll all={all} onChange={setAll} />}
    >
      {checks.length === 0 && <p className="quiet panel-none">No checks yet.</p>}
      <ul className={`lines checks ${all ? "checks-all" : ""}`}>
        {shownChecks.map(({ at, status, message, latencyMs }) => (
          <li key={at}>
            <StateIcon state={status} size={13} label />
            <Time at={at} as="seconds" />
            <span className="line-words">{formatReason(message ?? "")}</span>
            <span className="num">{formatLatency(latencyMs)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Type-specific results of the last check, such as the certificate of a TLS check. */
export function DetailsPanel({ monitor: { type, details } }: { monitor: Monitor }) {
  if (listShownDetails(type, details).length === 0) return null;
  return (
    <Panel title="Found by the last check">
      <DetailList type={type} details={details} />
    </Panel>
  );
}

/** The push URL of the watched job, as a curl command to copy. */
export function PushPanel({ monitor }: { monitor: Monitor }) {
  const url = monitor["pushUrl"];
  if (typeof url !== "string")
    return (
      <Panel title="Push URL">
        <p className="quiet panel-words">
          The job reports to a URL of its own. Anyone who knows it can report, so only people who
          can edit monitors see it.
        </p>
      </Panel>
    );
  const command = `curl -fsS --retry 5 "${url}?status=up"`;
  return (
    <Panel
      title="Push URL"
      actions={
        <Button size="compact-xs" onClick={() => void copyText(command, "Command")}>
          Copy
        </Button>
      }
    >
      <code className="push-command">{command}</code>
    </Panel>
  );
}
