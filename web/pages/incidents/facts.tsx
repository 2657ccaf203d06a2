/** Facts of an incident: duration, severity, monitors, pages, alerts. */
import { Link } from "@tanstack/react-router";
import type { Incident } from "../../../src/incidents/schema.ts";
import { useOverview } from "../../data/overview.ts";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { formatUnbrokenDuration, Time, useNow } from "../../components/display/time.tsx";
import { impactLabels } from "./impacts-field.tsx";
import { useAudience, useTraces } from "./data.ts";
import { severityLabels } from "./words.ts";
import { t } from "../../language/text.ts";

/** The facts panel of an incident, next to the timeline. */
export function IncidentFacts({ incident }: { incident: Incident }) {
  const { id, severity, createdAt, resolvedAt } = incident;
  const { data: traces } = useTraces(id);
  const { data: audience } = useAudience({ incidentId: id });
  const pages = incident.public ? (audience?.pages ?? []) : [];
  return (
    <section className="panel facts" aria-label={t("Details")}>
      <dl>
        <dt>{t("Started")}</dt>
        <dd>
          <Time at={createdAt} as="short" />
        </dd>
        {resolvedAt !== null && (
          <>
            <dt>{t("Resolved")}</dt>
            <dd>
              <Time at={resolvedAt} as="short" />
            </dd>
          </>
        )}
        <dt>{t("Duration")}</dt>
        <dd>
          <Duration incident={incident} />
        </dd>
        <dt>{t("Severity")}</dt>
        <dd>{severityLabels[severity]}</dd>
        <dt>{incident.monitorIds.length > 1 ? t("Monitors") : t("Monitor")}</dt>
        <dd>
          <Affected incident={incident} />
        </dd>
        <dt>{t("Public")}</dt>
        <dd>
          {pages.length === 0
            ? t("No")
            : pages.map(({ id, slug, title }) => (
                <a key={id} className="block link" href={`/status/${slug}`} target="_blank">
                  {title}
                </a>
              ))}
        </dd>
        <dt>{t("Alerts to")}</dt>
        <dd>
          {traces?.told.length === 0 && <span className="faint">{t("No alerts sent yet")}</span>}
          {traces?.told.map(({ id, name, at }) => (
            <span key={id} className="fact-alert block">
              <Link to="/alert-channels/$id" params={{ id }} className="page-link">
                {name}
              </Link>{" "}
              <Time at={at} as="short" />
            </span>
          ))}
        </dd>
      </dl>
    </section>
  );
}

/** Duration until now or until the resolution, in whole minutes once it is over one minute. */
export function Duration({ incident }: { incident: Pick<Incident, "createdAt" | "resolvedAt"> }) {
  const now = useNow();
  const end = incident.resolvedAt === null ? now : Date.parse(incident.resolvedAt);
  const seconds = Math.max(0, Math.floor((end - Date.parse(incident.createdAt)) / 1000));
  const text =
    seconds < 60 ? `${seconds}\u00a0s` : formatUnbrokenDuration(seconds - (seconds % 60));
  return <span className="num">{text}</span>;
}

function Affected({ incident: { monitorIds, impacts } }: { incident: Incident }) {
  const { data: overview } = useOverview();
  if (monitorIds.length === 0) return <span className="faint">{t("None")}</span>;
  const monitors = new Map(overview?.monitors.map((one) => [one.id, one]));
  return monitorIds.map((id) => {
    const impact = impacts.find(({ monitorId }) => monitorId === id)?.impact;
    const monitor = monitors.get(id);
    return monitor === undefined ? (
      <span key={id} className="faint">
        {t("Deleted")}
      </span>
    ) : (
      <Link
        key={id}
        to="/monitors/$id"
        params={{ id }}
        className="fact-monitor flex items-center gap-6"
      >
        <StateIcon state={monitor.status} size={13} label /> {monitor.name}
        {impact !== undefined && <span className="faint">{impactLabels[impact]}</span>}
      </Link>
    );
  });
}
