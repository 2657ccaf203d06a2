import type { IncidentSummary } from "../../../src/incidents/schema.ts";
import { PageLink, Panel } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { useIncidentsOf, useAlertRecipients } from "./data.ts";

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
            </span>
            <span className="faint">{reason}</span>
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
            <PageLink to={`/incidents/${id}`} page="/incidents/$id" className="line-words">
              <b>{title}</b>
            </PageLink>
            <Time at={createdAt} as="short" />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
