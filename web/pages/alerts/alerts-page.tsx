/** The list of alerts: problems first, then ended ones in pages. */
import { Button } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type Priority, priorities } from "../../../src/core/statuses.ts";
import { alertTypeLabels } from "../../components/display/alert-types.ts";
import { dot, formatCount } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { Time } from "../../components/display/time.tsx";
import { CurlButton } from "../../components/copy.tsx";
import { Chip, Choice, LiveDot } from "../../components/forms/filter-fields.tsx";
import { MonitorSelect } from "../../components/forms/monitor-select.tsx";
import { EmptyState, LoadFailed, PageHeader } from "../../components/page.tsx";
import { type Meta, Pager } from "../../components/pager.tsx";
import { useRowKeys } from "../../components/row-keys.ts";
import { v1 } from "../../data/client.ts";
import { type Alert, openStatuses, useAlerts } from "./data.ts";
import { type AlertFilters, parseAlertFilters, problemTypes, queryOf } from "./filters.ts";
import { AlertButtons, AlertIcon, Owner } from "./ownership.tsx";
import { nameAlert } from "../../language/server-text.ts";
import { t } from "../../language/text.ts";

const priorityLabels: Record<Priority, string> = {
  low: t("Low"),
  normal: t("Normal"),
  critical: t("Critical"),
};

const chips = [
  ["open", t("Not acknowledged")],
  ["acknowledged", t("Acknowledged")],
  ["snoozed", t("Snoozed")],
  ["resolved", t("Ended")],
] as const;

export default function AlertsPage() {
  const navigate = useNavigate();
  const filters = parseAlertFilters(useSearch({ strict: false }));
  const { status, page = 1 } = filters;
  const [showsOpen, showsOver] = [
    status !== "resolved",
    status === undefined || status === "resolved",
  ];
  const openQuery = { ...queryOf(filters), status: status ?? openStatuses.join(",") };
  const open = useAlerts(openQuery, 1, showsOpen);
  const pastAlerts = useAlerts({ ...openQuery, status: "resolved" }, page, showsOver);
  const error = open.error ?? pastAlerts.error;
  const setFilters = (next: AlertFilters) =>
    void navigate({ to: "/alerts", search: next, replace: true, resetScroll: false });
  useRowKeys();
  const isLoaded = (!showsOpen || open.data) && (!showsOver || pastAlerts.data);
  const count =
    ((showsOpen && open.data?.meta.total) || 0) + ((showsOver && pastAlerts.data?.meta.total) || 0);
  return (
    <>
      <PageHeader title={t("Alerts")}>
        <CurlButton action={() => ({ method: "GET", route: v1.alerts, query: openQuery })} />
      </PageHeader>
      {error !== null && !isLoaded && <LoadFailed subject={t("The alerts")} error={error} />}
      {isLoaded && <FilterBar filters={filters} onChange={setFilters} />}
      {isLoaded && count === 0 && (
        <NoAlerts isFiltered={Object.keys(filters).length > 0} onShowAll={() => setFilters({})} />
      )}
      {isLoaded && showsOpen && open.data && <List title={t("Problems now")} page={open.data} />}
      {isLoaded && showsOver && pastAlerts.data && (
        <List
          title={t("Ended")}
          page={pastAlerts.data}
          onPage={(next) => setFilters({ ...filters, page: next })}
        />
      )}
    </>
  );
}

function FilterBar({
  filters,
  onChange,
}: {
  filters: AlertFilters;
  onChange: (filters: AlertFilters) => void;
}) {
  /** A new filter starts at the first page. */
  const put = (name: keyof AlertFilters, value: string | undefined) => {
    const { [name]: _, page: __, ...rest } = filters;
    onChange((value === undefined ? rest : { ...rest, [name]: value }) as AlertFilters);
  };
  return (
    <div className="filters">
      {chips.map(([value, label]) => (
        <Chip
          key={value}
          on={filters.status === value}
          onToggle={(on) => put("status", on ? value : undefined)}
        >
          {label}
        </Chip>
      ))}
      <span className="chip-gap" />
      <Choice
        label={t("Type")}
        value={filters.type}
        options={problemTypes.map((type) => [type, alertTypeLabels[type] ?? type])}
        onChange={(type) => put("type", type)}
      />
      <Choice
        label={t("Priority")}
        value={filters.priority}
        options={priorities.map((priority) => [priority, priorityLabels[priority]])}
        onChange={(priority) => put("priority", priority)}
      />
      <MonitorSelect value={filters.monitor} onChange={(id) => put("monitor", id)} />
      <LiveDot />
    </div>
  );
}

function NoAlerts({ isFiltered, onShowAll }: { isFiltered: boolean; onShowAll: () => void }) {
  if (isFiltered)
    return (
      <EmptyState
        icon={<Icon name="search" size={28} />}
        title={t("No alerts found")}
        action={<Button onClick={onShowAll}>{t("Show all alerts")}</Button>}
      >
        {t("No alert matches the filters.")}
      </EmptyState>
    );
  return (
    <EmptyState icon={<Icon name="check" size={28} />} title={t("No alerts")}>
      {t(
        "An alert opens when a monitor is down, a certificate expires soon, an incident is opened or another tool reports a problem. It lists who was notified and who takes care of it.",
      )}
    </EmptyState>
  );
}

function List({
  title,
  page: { data, meta },
  onPage,
}: {
  title: string;
  page: { data: Alert[]; meta: Meta };
  onPage?: (page: number) => void;
}) {
  if (meta.total === 0) return null;
  return (
    <section className="records" aria-label={title}>
      <div className="records-head" aria-hidden="true">
        <h2>
          {title} <span className="num">{formatCount(meta.total)}</span>
        </h2>
      </div>
      <ul className="panel panel-flush">
        {data.map((alert) => (
          <AlertRow key={alert.id} alert={alert} />
        ))}
      </ul>
      {onPage && <Pager meta={meta} onPage={onPage} />}
      {!onPage && meta.total > data.length && (
        <p className="quiet text-s mt-6">
          {t("The newest {count} are listed.", { count: formatCount(data.length) })}
        </p>
      )}
    </section>
  );
}

/** The name of the alert source that reported it; null for any other alert. */
function findSourceName({ subject, data }: Alert): string | null {
  const source = subject.type === "source" ? data["source"] : null;
  return (source as { name: string } | null)?.name ?? null;
}

function AlertRow({ alert }: { alert: Alert }) {
  const { id, since, resolvedAt } = alert;
  const title = nameAlert(alert);
  const source = findSourceName(alert);
  return (
    <li className="list-row record alert-record" data-item>
      <AlertIcon alert={alert} />
      <Link to="/alerts/$id" params={{ id }} className="row-link row-cut" data-item-focus={id}>
        <b title={title}>{title}</b>
        <span>
          {source !== null && `${source}${dot}`}
          <Owner alert={alert} />
        </span>
      </Link>
      <span className="alert-time quiet nowrap">
        {resolvedAt === null ? <Time at={since} as="for" /> : <Time at={resolvedAt} as="short" />}
      </span>
      <AlertButtons alert={alert} />
    </li>
  );
}
