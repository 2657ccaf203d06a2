/** The popover with the measurements of a bar or chart point. */
import { nameIncident } from "../../language/server-text.ts";
import { Link } from "@tanstack/react-router";
import { formatPeriod } from "../../../src/core/time/times.ts";
import type { Timeline, TimelinePoint } from "../../../src/dashboard/timeline-schema.ts";
import { BarDetails, type BarTone } from "../../components/display/bars.tsx";
import { formatLatency, formatReason } from "../../components/display/format.ts";
import { nameSeverity } from "../../components/display/severity.ts";
import { StateIcon, stateLabels } from "../../components/display/state-icon.tsx";
import { formatUnbrokenDuration, useNow, useZone } from "../../components/display/time.tsx";
import { t, tCount } from "../../language/text.ts";

type Props = {
  from: number;
  to: number;
  /** Only the tone while the data loads; undefined if nothing was measured. */
  point: TimelinePoint | BarTone | undefined;
  incidents: Timeline["incidents"];
};

/** Shows states, latency and incidents of a bar or a chart point. */
export function PointDetails({ from, to, point: found, incidents }: Props) {
  const zone = useZone();
  const now = useNow();
  const ownIncidents = incidents.filter(
    ({ createdAt, resolvedAt }) =>
      Date.parse(createdAt) < to && (resolvedAt === null || Date.parse(resolvedAt) > from),
  );
  const formatLasting = (seconds: number | undefined) =>
    seconds ? formatUnbrokenDuration(seconds) : null;
  const tone = typeof found === "string" && found !== "none" ? found : null;
  const point = typeof found === "string" ? null : found;
  const isFine = point != null && point.downSeconds === 0 && point.degradedSeconds === 0;
  const keys = [
    [["←", "→"], t("move")],
    [["↵"], ownIncidents.length > 0 ? t("open incident") : t("zoom")],
    [["Esc"], t("close")],
  ] as const;
  return (
    <BarDetails
      title={formatPeriod(zone, from, to, now)}
      keys={keys}
      lines={[
        [tone && renderState(tone, stateLabels[tone]), tone && "…"],
        [renderState("down", t("Down")), formatLasting(point?.downSeconds)],
        [renderState("degraded", t("Degraded")), formatLasting(point?.degradedSeconds)],
        [renderState("maintenance", t("Maintenance")), formatLasting(point?.maintenanceSeconds)],
        [t("Not judged"), formatLasting(point?.unknownSeconds)],
        [
          renderState("up", stateLabels.up),
          isFine && point.upSeconds > 0 ? describePassed(point) : null,
        ],
        [t("Reason"), point?.reason ? formatReason(point.reason) : null],
        [
          t("Latency"),
          point?.p50Ms == null
            ? null
            : `p50 ${formatLatency(point.p50Ms)}, p95 ${formatLatency(point.p95Ms)}`,
        ],
        [t("No data"), point === undefined ? t("Nothing was measured.") : null],
      ]}
    >
      {ownIncidents.slice(0, 3).map((incident) => (
        <IncidentLine key={incident.id} incident={incident} />
      ))}
    </BarDetails>
  );
}

/** Links an incident in a popover. */
export function IncidentLine({
  incident,
}: {
  incident: Pick<Timeline["incidents"][number], "id" | "title" | "origin" | "severity">;
}) {
  const { id, severity } = incident;
  return (
    <p className="pop-incident">
      <span className={`pill pill-${severity === "minor" ? "degraded" : "down"}`}>
        {nameSeverity(severity)}
      </span>
      <Link to="/incidents/$id" params={{ id }} className="link">
        {nameIncident(incident)}
      </Link>
    </p>
  );
}

const describePassed = ({ checks, upSeconds }: TimelinePoint) =>
  checks > 0
    ? tCount(checks, "{count} check passed", "{count} checks passed")
    : formatUnbrokenDuration(upSeconds);

const renderState = (name: "up" | "down" | "degraded" | "maintenance", label: string) => (
  <>
    <StateIcon state={name} size={12} /> {label}
  </>
);
