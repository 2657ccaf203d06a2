/** The list of alerts: problems first, then ended ones in pages. */
import { Button } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { formatCount } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { Time } from "../../components/display/time.tsx";
import { CurlButton } from "../../components/copy.tsx";
import { Chip, LiveDot } from "../../components/forms/filter-fields.tsx";
import { EmptyState, LoadFailed, PageHeader } from "../../components/page.tsx";
import { type Meta, Pager } from "../../components/pager.tsx";
import { useRowKeys } from "../../components/row-keys.ts";
import { v1 } from "../../data/client.ts";
import { type Alert, openStatuses, useAlerts } from "./data.ts";
import { type AlertFilters, parseAlertFilters } from "./filters.ts";
import { AlertButtons, AlertIcon, Owner } from "./ownership.tsx";

const chips = [
  ["open", "Not acknowledged"],
  ["acknowledged", "Acknowledged"],
  ["snoozed", "Snoozed"],
  ["resolved", "Ended"],
] as const;

export default function AlertsPage() {
  const navigate = useNavigate();
  const filters = parseAlertFilters(useSearch({ strict: false }));
  const { status, type, page = 1 } = filters;
  const [showsOpen, showsOver] = [
    status !== "resolved",
    status === undefined || status === "resolved",
  ];
  const open = useAlerts({ status: status ?? openStatuses.join(","), type, page: 1 }, showsOpen);
  const over = useAlerts({ status: "resolved", type, page }, showsOver);
  const error = open.error ?? over.error;
  const setFilters = (next: AlertFilters) =>
    void navigate({ to: "/alerts", search: next, replace: true, resetScroll: false });
  useRowKeys();
  const isLoaded = (!showsOpen || open.data) && (!showsOver || over.data);
  const count =
    ((showsOpen && open.data?.meta.total) || 0) + ((showsOver && over.data?.meta.total) || 0);
  return (
    <>
      <PageHeader title="Alerts">
        <span className="not-phone">
          <CurlButton
            action={() => ({
              method: "GET",
              route: v1.alerts,
              query: { status: status ?? openStatuses.join(",") },
            })}
          />
        </span>
      </PageHeader>
      {error !== null && !isLoaded && <LoadFailed what="The alerts" error={error} />}
      {isLoaded && <Filters filters={filters} onChange={setFilters} />}
      {isLoaded && count === 0 && (
        <NoAlerts
          isFiltered={status !== undefined || type !== undefined}
          onShowAll={() => setFilters({})}
        />
      )}
      {isLoaded && showsOpen && open.data && <List title="Problems now" page={open.data} />}
      {isLoaded && showsOver && over.data && (
        <List
          title="Ended"
          page={over.data}
          onPage={(next) => setFilters({ ...filters, page: next })}
        />
      )}
    </>
  );
}

/** Chips for statuses and for drills. */
function Filters({
  filters: { status, type },
  onChange,
}: {
  filters: AlertFilters;
  onChange: (next: AlertFilters) => void;
}) {
  return (
    <div className="filters">
      {chips.map(([value, label]) => (
        <Chip
          key={value}
          on={status === value}
          onToggle={(on) => onChange({ ...(on && { status: value }), ...(type && { type }) })}
        >
          {label}
        </Chip>
      ))}
      <Chip
        on={type === "drill"}
        onToggle={(on) => onChange({ ...(status && { status }), ...(on && { type: "drill" }) })}
      >
        Drills
      </Chip>
      <LiveDot />
    </div>
  );
}

function NoAlerts({ isFiltered, onShowAll }: { isFiltered: boolean; onShowAll: () => void }) {
  if (isFiltered)
    return (
      <EmptyState
        icon={<Icon name="search" size={28} />}
        title="No alerts found"
        action={<Button onClick={onShowAll}>Show all alerts</Button>}
      >
        No alert matches these filters.
      </EmptyState>
    );
  return (
    <EmptyState icon={<Icon name="check" size={28} />} title="No alerts">
      An alert opens when a monitor is down, a certificate expires soon or an incident is opened. It
      lists who was notified and who takes care of it.
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
        <p className="quiet text-s mt-6">The newest {formatCount(data.length)} are listed.</p>
      )}
    </section>
  );
}

function AlertRow({ alert }: { alert: Alert }) {
  const { id, title, since, resolvedAt } = alert;
  return (
    <li className="list-row record alert-record" data-item>
      <AlertIcon alert={alert} />
      <Link to="/alerts/$id" params={{ id }} className="row-link row-cut" data-item-focus={id}>
        <b title={title}>{title}</b>
        <span>
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
