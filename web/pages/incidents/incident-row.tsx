import { Link } from "@tanstack/react-router";
import type { IncidentSummary } from "../../../src/incidents/schema.ts";
import { Time } from "../../components/time.tsx";
import { Duration } from "./facts.tsx";
import { IncidentIcon, SeverityPill, StatusPill } from "./words.tsx";

export function IncidentRow({
  incident,
  monitor,
}: {
  incident: IncidentSummary;
  /** Name of the affected monitor. */
  monitor: string | undefined;
}) {
  const { id, title, status, severity, origin, createdAt } = incident;
  const about = [
    ...(monitor === undefined ? [] : [`affects ${monitor}`]),
    ...(origin === "monitor" ? ["opened by monitor"] : []),
    ...(incident.public ? [] : ["not public"]),
  ];
  return (
    <li className="record incident-record">
      <IncidentIcon incident={incident} />
      <Link to="/incidents/$id" params={{ id }} className="record-name">
        <b>{title}</b>
        <span>{about.join(" · ")}</span>
      </Link>
      <span className="incident-severity">
        <SeverityPill severity={severity} over={status === "resolved"} />
      </span>
      <span className="incident-status">
        {status === "resolved" ? (
          <span className="visually-hidden">Resolved</span>
        ) : (
          <StatusPill status={status} />
        )}
      </span>
      <span className="record-time">
        <Time at={createdAt} as="short" />
      </span>
      <span className="record-length">
        <Duration incident={incident} />
      </span>
    </li>
  );
}
