/** The Monitors page: problems, filters, the list by group, and bulk changes. */
import { Button } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { createChunk } from "../../../data/chunks.ts";
import { useIsMonitorsLoading } from "../../../data/first-screen.ts";
import {
  countAllStates,
  isPartial,
  type Overview,
  overviewQuery,
  createOverviewQuery,
  createPastOverviewQuery,
  readRows,
} from "../../../data/overview.ts";
import { isFirstLoad } from "../../../data/query.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { openDialog } from "../../../components/open-dialog.ts";
import { notifyError } from "../../../components/toasts.tsx";
import { Icon } from "../../../components/display/icons.tsx";
import { MenuItem, MoreActions } from "../../../components/menus.tsx";
import { CreateButton, EmptyState, LoadFailed, PageHeader } from "../../../components/page.tsx";
import { useShortcuts } from "../../../components/shortcuts.ts";
import { useWindows } from "../../maintenance/current-windows.ts";
import { NeedsAttention } from "./attention.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { FirstAlert } from "./first-alert.tsx";
import { GetStarted } from "./get-started.tsx";
import {
  chooseFirstPast,
  type Filters,
  parseFilters,
  isFiltered,
  toSentFilters,
} from "./filters.ts";
import { foldedGroups, selection } from "./list-state.ts";
import { MonitorList } from "./monitor-list.tsx";
import { ProblemBanners } from "./problem-banners.tsx";
import { FirstMonitor, QuickAdd } from "./quick-add-field.tsx";
import { buildItems } from "./rows.ts";
import { t } from "../../../language/text.ts";

const PastBar = lazy(
  createChunk(async () => ({ default: (await import("./past-bar.tsx")).PastBar })),
);

const BulkBar = lazy(createChunk(() => import("./bulk-bar.tsx")));

/**
 * Whether the panels above the list still load. The page waits for them, because they would push the list down later. Once
 * shown, they stay, even when the first monitor goes into maintenance.
 */
function useIsHeadLoading(mayWrite: boolean, overview: Overview | undefined): boolean {
  const [wasShown, setWasShown] = useState(false);
  const inMaintenance = overview === undefined ? 0 : (countAllStates(overview).maintenance ?? 0);
  const running = useWindows("running", inMaintenance > 0);
  const isLoading = useIsMonitorsLoading(mayWrite) || isFirstLoad([running]);
  if (overview !== undefined && !isLoading && !wasShown) setWasShown(true);
  return isLoading && !wasShown;
}

/** Monitors that match the filters. The server searches if the page has only a part of them. */
function useFoundMonitors(data: Overview | undefined, filters: Filters) {
  const sent = JSON.stringify(toSentFilters(filters));
  const sentFilters = useMemo(() => JSON.parse(sent) as Filters, [sent]);
  const { at } = filters;
  const past = useQuery(createPastOverviewQuery(at, sentFilters));
  const isServerSearch =
    at === undefined && data !== undefined && isPartial(data) && isFiltered(sentFilters);
  const { data: found, isPlaceholderData } = useQuery({
    ...createOverviewQuery(sentFilters),
    enabled: isServerSearch,
    placeholderData: keepPreviousData,
  });
  const readUntil = (groupId: string | null, until: number) =>
    void readRows(isServerSearch ? sentFilters : undefined, groupId, until).catch(notifyError);
  if (at !== undefined)
    return {
      found: past.data,
      error: past.error,
      isStale: past.data === undefined || past.isPlaceholderData,
      readUntil,
    };
  const isStale = isServerSearch && (found === undefined || isPlaceholderData);
  return { found: isServerSearch ? found : data, error: null, isStale, readUntil };
}

export function MonitorsPage() {
  const { data: overview, error } = useQuery(overviewQuery);
  const { mayWrite } = useSignedInPerson();
  const isHeadLoading = useIsHeadLoading(mayWrite, overview);
  const data = isHeadLoading ? undefined : overview;
  const navigate = useNavigate();
  const filters = parseFilters(useSearch({ strict: false }));
  const [isAdding, setIsAdding] = useState(false);
  const address = useRef<HTMLInputElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const openQuickAdd = () => {
    setIsAdding(true);
    // Focuses the field if it is already visible.
    address.current?.focus();
  };
  const { found, isStale, ...read } = useFoundMonitors(data, filters);
  const { at } = filters;
  useEffect(() => selection.clear, []);
  useShortcuts({
    n: () => mayWrite && openQuickAdd(),
    "/": () => search.current?.focus(),
    Escape: () => selection.clear(),
  });
  const setFilters = (next: Filters) =>
    void navigate({ to: "/monitors", search: next, replace: true, resetScroll: false });
  const isEmpty = data !== undefined && data.monitors.length === 0 && data.groups.length === 0;

  return (
    <>
      <PageHeader title={t("Monitors")} wide>
        {mayWrite && !isEmpty && <CreateActions onAdd={openQuickAdd} />}
      </PageHeader>
      {error !== null && data === undefined && (
        <LoadFailed subject={t("The monitors")} error={error} />
      )}
      {isEmpty && <FirstMonitor field={address} onAdding={() => setIsAdding(true)} />}
      {data !== undefined && !isEmpty && (
        <>
          {isAdding && (
            <div className="panel quick-panel">
              <QuickAdd field={address} onClose={() => setIsAdding(false)} />
            </div>
          )}
          <TopPanels overview={data} filters={filters} setFilters={setFilters} />
          <FilterBar
            overview={(at !== undefined && found) || data}
            {...{ filters, isStale, search, onChange: setFilters }}
            onPast={
              at === undefined ? () => setFilters({ ...filters, at: chooseFirstPast() }) : undefined
            }
          />
          <Matches
            {...{ found, filters, ...read }}
            onShowAll={() => setFilters(at === undefined ? {} : { at })}
          />
          {at === undefined && <GetStarted overview={data} />}
        </>
      )}
      {data !== undefined && <SelectionBar overview={data} found={found} filters={filters} />}
    </>
  );
}

type TopPanelsProps = {
  overview: Overview;
  filters: Filters;
  setFilters: (filters: Filters) => void;
};

/** The panels above the list. They describe the present, so the choice of a past time replaces them. */
const TopPanels = ({ overview, ...choice }: TopPanelsProps) =>
  choice.filters.at === undefined ? (
    <>
      <ProblemBanners />
      <FirstAlert overview={overview} />
      <NeedsAttention overview={overview} />
    </>
  ) : (
    <PastTimeBar {...choice} />
  );

/** Chooses the past time that the page shows. */
const PastTimeBar = ({
  filters: { at = "", ...filters },
  setFilters,
}: Omit<TopPanelsProps, "overview">) => (
  <Suspense>
    <PastBar
      at={at}
      onChange={(next) => setFilters(next === undefined ? filters : { ...filters, at: next })}
    />
  </Suspense>
);

/** The bar of selected monitors, which is not part of the first script. */
const SelectionBar = (monitors: {
  overview: Overview;
  found: Overview | undefined;
  filters: Filters;
}) =>
  selection.use().size > 0 &&
  monitors.filters.at === undefined && (
    <Suspense>
      <BulkBar {...monitors} />
    </Suspense>
  );

function CreateActions({ onAdd }: { onAdd: () => void }) {
  const create = <CreateButton onClick={onAdd}>{t("Create monitor")}</CreateButton>;
  if (useSignedInPerson().isLimited) return create;
  return (
    <>
      <Button className="not-phone" onClick={() => openDialog({ kind: "create-group" })}>
        {t("Create group")}
      </Button>
      {create}
      <MoreActions className="only-phone">
        <MenuItem icon="folder" onClick={() => openDialog({ kind: "create-group" })}>
          {t("Create group")}
        </MenuItem>
      </MoreActions>
    </>
  );
}

function Matches({
  found,
  error,
  filters,
  readUntil,
  onShowAll,
}: {
  found: Overview | undefined;
  error: Error | null;
  filters: Filters;
  readUntil: (groupId: string | null, until: number) => void;
  onShowAll: () => void;
}) {
  const person = useSignedInPerson();
  const mayWrite = person.mayWrite && filters.at === undefined;
  const folded = foldedGroups.use();
  const items = useMemo(
    () => (found === undefined ? [] : buildItems(found, filters, folded)),
    [found, filters.q, filters.status, filters.type, filters.tag, folded],
  );
  if (error !== null && found === undefined)
    return <LoadFailed subject={t("The monitors")} error={error} />;
  if (found !== undefined && items.length === 0)
    return (
      <EmptyState
        icon={<Icon name="search" size={28} />}
        title={t("No monitors found")}
        action={<Button onClick={onShowAll}>{t("Show all monitors")}</Button>}
      >
        {filters.at === undefined
          ? t("No monitor matches these filters.")
          : t("No monitor of today existed then and matches these filters.")}
      </EmptyState>
    );
  return (
    <MonitorList
      items={items}
      mayWrite={mayWrite}
      mayMove={!isFiltered(filters)}
      onUnread={readUntil}
    />
  );
}
