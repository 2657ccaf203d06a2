/** The list of incidents: open ones, and resolved ones in pages. */
import { formatCount, dot } from "../../../components/display/format.ts";
import { Button } from "@mantine/core";
import { useNavigate, useSearch, Link } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import type { IncidentSummary } from "../../../../src/incidents/schema.ts";
import { v1 } from "../../../data/client.ts";
import { useOverview } from "../../../data/overview.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { CurlButton } from "../../../components/copy.tsx";
import { openDialog } from "../../../components/open-dialog.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Names, shortenNames } from "../../../components/display/name-list.tsx";
import { CreateButton, EmptyState, LoadFailed, PageHeader } from "../../../components/page.tsx";
import { isFirstLoad } from "../../../data/query.ts";
import { type Meta, Pager } from "../../../components/pager.tsx";
import { useRowKeys } from "../../../components/row-keys.ts";
import { useShortcuts } from "../../../components/shortcuts.ts";
import { Time } from "../../../components/display/time.tsx";
import { useDeleting } from "../../../components/deletion.ts";
import { useIncidents } from "../data.ts";
import { Duration } from "../facts.tsx";
import { IncidentFilterBar } from "./filter-bar.tsx";
import {
  compareBySeverity,
  type IncidentFilters,
  parseIncidentFilters,
  isNarrowed,
  shownPartsOf,
} from "./filters.ts";
import { IncidentIcon, SeverityPill, StatusPill } from "../labels.tsx";
import { nameIncident } from "../../../language/server-text.ts";
import { t, tNode } from "../../../language/text.ts";

const openOne = () => openDialog({ kind: "create-incident" });

export default function IncidentsPage() {
  const { mayWrite } = useSignedInPerson();
  const navigate = useNavigate();
  const filters = parseIncidentFilters(useSearch({ strict: false }));
  const search = useRef<HTMLInputElement>(null);
  const parts = shownPartsOf(filters);
  const open = useIncidents(filters, true, parts.open);
  const pastIncidents = useIncidents(filters, false, parts.over);
  const error = open.error ?? pastIncidents.error;
  const setFilters = (next: IncidentFilters) =>
    void navigate({ to: "/incidents", search: next, replace: true, resetScroll: false });
  useRowKeys();
  useShortcuts({
    "/": () => search.current?.focus(),
    ...(mayWrite && { n: openOne }),
  });
  // Rows contain names of monitors, and would grow when the names arrive later.
  const isNamesLoading = isFirstLoad([useOverview()]);
  const isLoaded =
    (!parts.open || open.data) && (!parts.over || pastIncidents.data) && !isNamesLoading;
  const openCount = (parts.open ? open.data?.meta.total : 0) ?? 0;
  const overCount = (parts.over ? pastIncidents.data?.meta.total : 0) ?? 0;
  const isEmpty = isLoaded && openCount + overCount === 0;
  const isFirst = isEmpty && !isNarrowed(filters);
  return (
    <>
      <Header filters={filters} mayCreate={mayWrite && !isFirst} />
      {error !== null && !isLoaded && <LoadFailed subject={t("The incidents")} error={error} />}
      {isFirst && <NoIncidents mayWrite={mayWrite} />}
      {isLoaded && !isFirst && (
        <IncidentFilterBar
          {...{ filters, search }}
          isStale={open.isPlaceholderData || pastIncidents.isPlaceholderData}
          onChange={setFilters}
        />
      )}
      {isEmpty && !isFirst && <NothingFound onShowAll={() => setFilters({})} />}
      {isLoaded && parts.open && open.data && (
        <List
          title={t("Open")}
          page={{ ...open.data, data: open.data.data.toSorted(compareBySeverity) }}
          total={openCount}
        />
      )}
      {isLoaded && parts.over && pastIncidents.data && (
        <List
          title={t("Resolved")}
          page={pastIncidents.data}
          total={overCount}
          onPage={(page) => setFilters({ ...filters, page })}
        />
      )}
    </>
  );
}

const Header = ({ filters, mayCreate }: { filters: IncidentFilters; mayCreate: boolean }) => (
  <PageHeader title={t("Incidents")}>
    <CurlButton
      action={() => ({
        method: "GET",
        route: v1.incidents,
        ...(filters.open && { query: { open: filters.open } }),
      })}
    />
    {mayCreate && <CreateButton onClick={openOne}>{t("Create incident")}</CreateButton>}
  </PageHeader>
);

const NoIncidents = ({ mayWrite }: { mayWrite: boolean }) => (
  <EmptyState
    icon={<Icon name="check" size={28} />}
    title={t("No incidents yet")}
    action={
      mayWrite && (
        <Button variant="filled" onClick={openOne}>
          {t("Create incident")}
        </Button>
      )
    }
  >
    {t(
      "Create one when something is wrong. It is shown on your status page at once, and subscribers and alert channels are notified. A monitor can open and resolve incidents automatically.",
    )}
  </EmptyState>
);

const NothingFound = ({ onShowAll }: { onShowAll: () => void }) => (
  <EmptyState
    icon={<Icon name="search" size={28} />}
    title={t("No incidents found")}
    action={<Button onClick={onShowAll}>{t("Show all incidents")}</Button>}
  >
    {t("No incident matches these filters.")}
  </EmptyState>
);

function List({
  title,
  page: { data, meta },
  total,
  onPage,
}: {
  title: string;
  page: { data: IncidentSummary[]; meta: Meta };
  total: number;
  onPage?: (page: number) => void;
}) {
  const { data: overview } = useOverview();
  const deleting = useDeleting();
  const names = useMemo(
    () => new Map(overview?.monitors.map(({ id, name }) => [id, name])),
    [overview?.monitors],
  );
  const shownIncidents = data.filter(({ id }) => !deleting.has(id));
  if (total === 0) return null;
  return (
    <section className="records" aria-label={title}>
      <div className="records-head incident-record" aria-hidden="true">
        <h2>
          {title} <span className="num">{formatCount(total)}</span>
        </h2>
        <span className="record-time text-right quiet nowrap">{t("Started")}</span>
        <span className="record-length text-right quiet nowrap">{t("Duration")}</span>
      </div>
      <ul className="panel panel-flush">
        {shownIncidents.map((incident) => (
          <IncidentRow
            key={incident.id}
            incident={incident}
            monitors={incident.monitorIds.flatMap((id) => names.get(id) ?? [])}
          />
        ))}
      </ul>
      {onPage && <Pager meta={meta} onPage={onPage} />}
    </section>
  );
}

function IncidentRow({
  incident,
  monitors,
}: {
  incident: IncidentSummary;
  /** Names of the affected monitors. */
  monitors: readonly string[];
}) {
  const { id, status, severity, origin, createdAt } = incident;
  const title = nameIncident(incident);
  const lacksPostmortem = status === "resolved" && severity !== "minor" && !incident.hasPostmortem;
  const about = [
    ...(origin === "monitor" ? [t("opened by monitor")] : []),
    ...(incident.public ? [] : [t("not public")]),
    ...(lacksPostmortem ? [t("no postmortem")] : []),
  ];
  return (
    <li className="list-row record incident-record" data-item>
      <IncidentIcon incident={incident} />
      <Link to="/incidents/$id" params={{ id }} className="row-link row-cut" data-item-focus={id}>
        <b title={title}>{title}</b>
        <span title={monitors.join(", ")}>
          {monitors.length > 0 && (
            <>
              {tNode("affects {names}", { names: <Names names={shortenNames(monitors)} /> })}
              {about.length > 0 && dot}
            </>
          )}
          {about.join(dot)}
        </span>
      </Link>
      <span className="incident-severity">
        <SeverityPill severity={severity} isOver={status === "resolved"} />
      </span>
      <span className="incident-status">
        {status === "resolved" ? (
          <span className="visually-hidden">{t("Resolved")}</span>
        ) : (
          <StatusPill status={status} />
        )}
      </span>
      <span className="record-time text-right quiet nowrap">
        <Time at={createdAt} as="short" />
      </span>
      <span className="record-length text-right quiet nowrap">
        <Duration incident={incident} />
      </span>
    </li>
  );
}
