/** The preview of a bulk change: which value changes to which, for how many monitors, and who stays unchanged. */
import { useQuery } from "@tanstack/react-query";
import { formatDuration } from "../../../../src/core/text/formatting.ts";
import { formatDateTime } from "../../../../src/core/time/times.ts";
import { useAlertChannels } from "../../../data/alert-channels.ts";
import { overviewQuery } from "../../../data/overview.ts";
import { formatLatency } from "../../../components/display/format.ts";
import { nameSeverity } from "../../../components/display/severity.ts";
import { useZone } from "../../../components/display/time.tsx";
import { Names, shortenNames } from "../../../components/display/name-list.tsx";
import type { BulkPreview } from "../../../../src/monitoring/monitors/bulk-schema.ts";
import { t, tCount } from "../../../language/text.ts";

type NamesById = ReadonlyMap<string, string>;

const fields: Record<
  string,
  { label: string; format: (value: unknown, names: NamesById, zone: string) => string }
> = {
  paused: { label: t("Checks"), format: (value) => (value === true ? t("paused") : t("running")) },
  pausedUntil: {
    label: t("Paused until"),
    format: (value, _names, zone) =>
      value === null ? t("no end") : formatDateTime(zone, Date.parse(value as string), Date.now()),
  },
  muted: { label: t("Alerts"), format: (value) => (value === true ? t("muted") : t("on")) },
  interval: { label: t("Interval"), format: (value) => formatDuration(value as number) },
  timeout: { label: t("Timeout"), format: (value) => formatDuration(value as number) },
  retries: { label: t("Retries"), format: String },
  degradedAfterMs: {
    label: t("Degraded after"),
    format: (value) => (value === null ? t("off") : formatLatency(value as number)),
  },
  autoIncidentSeverity: {
    label: t("Automatic incidents"),
    format: (value) => (value === null ? t("none") : nameSeverity(value as string)),
  },
  schedule: {
    label: t("Schedule"),
    format: (value) => (value === null ? t("after each interval") : (value as string)),
  },
  timeZone: { label: t("Time zone of the schedule"), format: String },
  grace: { label: t("Grace"), format: (value) => formatDuration(value as number) },
  maximumRunTime: {
    label: t("Maximum run time"),
    format: (value) => (value === null ? t("as the grace") : formatDuration(value as number)),
  },
  groupId: {
    label: t("Group"),
    format: (value, names) => (value === null ? t("none") : nameOf(value as string, names)),
  },
  tags: { label: t("Tags"), format: (value) => (value as string[]).join(", ") || t("none") },
  alertChannelIds: {
    label: t("Alerts to"),
    format: (value, names) =>
      (value as string[]).map((id) => nameOf(id, names)).join(", ") || t("none"),
  },
  escalationPolicyId: {
    label: t("Escalation policy"),
    format: (value) => (value === null ? t("default") : t("of the group")),
  },
};

const nameOf = (id: string, names: NamesById) => names.get(id) ?? "…";

/** Maximum number of listed changes. */
const maxListed = 8;

type Subset = { count: number; monitors: { name: string }[] };

/** The first names, and the number of the others. */
function SomeNames({ some: { count, monitors } }: { some: Subset }) {
  const names = monitors.map(({ name }) => name);
  const all = Array.from({ length: count }, (_, index) => names[index] ?? "");
  return (
    <span className="bulk-names ellipsis" title={names.join(", ")}>
      <Names names={shortenNames(all)} />
    </span>
  );
}

/** Describes why monitors stay unchanged. */
const describeReason = ({ reason, message }: BulkPreview["unchanged"][number]) =>
  reason === "same" ? t("already so") : message.replace(/^is /, "");

export function BulkEffects({ preview }: { preview: BulkPreview }) {
  const { data: channels = [] } = useAlertChannels();
  const { data: overview } = useQuery(overviewQuery);
  const names = new Map(
    [...channels, ...(overview?.groups ?? [])].map(({ id, name }) => [id, name]),
  );
  const zone = useZone();
  const { changes, unchanged } = preview;
  const others = changes.length - maxListed;
  return (
    <section className="bulk-effects" aria-label={t("Preview")}>
      {changes.length > 0 && (
        <ul>
          {changes.slice(0, maxListed).map((change, index) => {
            const field = fields[change.field];
            return (
              <li key={index}>
                <b>{field?.label ?? change.field}</b>
                <span>
                  {field?.format(change.before, names, zone)} <span aria-label={t("to")}>→</span>{" "}
                  {field?.format(change.after, names, zone)}
                </span>
                <span className="num nowrap">
                  {tCount(change.count, "{count} monitor", "{count} monitors")}
                </span>
                <SomeNames some={change} />
              </li>
            );
          })}
          {others > 0 && (
            <li className="faint">
              {tCount(others, "{count} further change", "{count} further changes")}
            </li>
          )}
        </ul>
      )}
      {unchanged.length > 0 && (
        <>
          <h3>{t("Not changed")}</h3>
          <ul>
            {unchanged.map((one, index) => (
              <li key={index}>
                <span className="bulk-reason">{describeReason(one)}</span>
                <span className="num nowrap">
                  {tCount(one.count, "{count} monitor", "{count} monitors")}
                </span>
                <SomeNames some={one} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
