import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { PastState } from "../../../src/dashboard/schema.ts";
import type { IncidentSummary } from "../../../src/incidents/schema.ts";
import { shownDetails } from "../../../src/monitoring/monitors/details-rules.ts";
import type { Monitor } from "../../../src/monitoring/monitors/schema.ts";
import { copy } from "../../components/copy.tsx";
import { latencyInWords, reasonInWords } from "../../components/format.ts";
import { Panel } from "../../components/page.tsx";
import { StateIcon } from "../../components/state-icon.tsx";
import { durationInWords, Time } from "../../components/time.tsx";
import { DetailList } from "./details.tsx";
import { useStates, useIncidentsOf, useAlertRecipients, useHeartbeats } from "./data.ts";

const most = 8;

const words: Record<PastState["status"], string> = {
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Maintenance started",
  paused: "Paused",
  pending: "Waiting for the first check",
};

/** The changes of state, newest first, as sentences. */
export function Activity({ id }: { id: string }) {
  const { data: states = [] } = useStates(id);
  return (
    <Panel title="Activity">
      {states.length === 0 && <p className="quiet panel-none">No activity yet.</p>}
      <ul className="lines">
        {states.slice(0, most).map((state, index) => (
          <li key={state.since}>
            <StateIcon state={state.status} size={15} />
            <span className="line-words">
              <b>{titleOf(state, states[index + 1])}</b> {detailOf(state, states[index + 1])}
            </span>
            <Time at={state.since} as="short" />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function titleOf({ status }: PastState, before: PastState | undefined): string {
  if (status === "up" && before?.status === "maintenance") return "Maintenance ended";
  if (status === "up" && before?.status === "paused") return "Resumed, up";
  const wasTrouble = before?.status === "down" || before?.status === "degraded";
  return status === "up" && wasTrouble ? "Up again" : words[status];
}

function detailOf({ status, message, since }: PastState, before: PastState | undefined): string {
  const words = reasonInWords(message ?? "");
  if (status !== "up" || before === undefined) return words;
  if (before.status !== "down" && before.status !== "degraded") return words;
  const seconds = (Date.parse(since) - Date.parse(before.since)) / 1000;
  return `after ${durationInWords(seconds)} ${before.status}`;
}

/** Which channels would be alerted of an outage now, and why others would not. */
export function AlertRecipients({ id }: { id: string }) {
  const { data } = useAlertRecipients(id);
  return (
    <Panel title="Alerts to">
      {data !== undefined && data.told.length + data.notTold.length === 0 && (
        <p className="quiet panel-none">
          No alert channels. Add some in the editor of this monitor.
        </p>
      )}
      <ul className="lines">
        {data?.told.map(({ id, name, type }) => (
          <li key={id}>
            <span className="line-words">
              <b>{name}</b> {type}
            </span>
            <span className="up">will be alerted</span>
          </li>
        ))}
        {data?.notTold.map(({ id, name, type, reason }) => (
          <li key={id}>
            <span className="line-words">
              <b>{name}</b> {type}
              <small className="line-reason">{reason.replace(`${name} `, "")}</small>
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const tone: Record<IncidentSummary["severity"], string> = {
  minor: "pill-degraded",
  major: "pill-down",
  critical: "pill-down",
};

export function Incidents({ id }: { id: string }) {
  const { data } = useIncidentsOf(id);
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

const few = 8;

export function RecentChecks({ id }: { id: string }) {
  const [all, setAll] = useState(false);
  const { data: checks = [] } = useHeartbeats(id, 100);
  const shown = all ? checks : checks.slice(0, few);
  return (
    <Panel
      title="Recent checks"
      actions={
        checks.length > few && (
          <button type="button" className="plain-button link" onClick={() => setAll(!all)}>
            {all ? "Show less" : "Show all"}
          </button>
        )
      }
    >
      {checks.length === 0 && <p className="quiet panel-none">No checks yet.</p>}
      <ul className={`lines checks ${all ? "checks-all" : ""}`}>
        {shown.map(({ at, status, message, latencyMs }) => (
          <li key={at}>
            <StateIcon state={status} size={13} label />
            <Time at={at} as="seconds" />
            <span className="line-words">{reasonInWords(message ?? "")}</span>
            <span className="num">{latencyInWords(latencyMs)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** What matters for its type. */
export function DetailsPanel({ monitor: { type, details } }: { monitor: Monitor }) {
  if (shownDetails(type, details).length === 0) return null;
  return (
    <Panel title="Found by the last check">
      <DetailList type={type} details={details} />
    </Panel>
  );
}

/** Where the watched job reports, ready to be pasted into it. */
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
  const command = `curl "${url}?status=up"`;
  return (
    <Panel
      title="Push URL"
      actions={
        <Button size="compact-xs" onClick={() => void copy(command, "Command")}>
          Copy
        </Button>
      }
    >
      <code className="push-command">{command}</code>
    </Panel>
  );
}
