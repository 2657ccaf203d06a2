import { Button } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { useIsMonitorsLoading } from "../../../data/first-screen.ts";
import {
  allStates,
  isPartly,
  type Overview,
  overviewQuery,
  overviewQueryOf,
  readRows,
} from "../../../data/overview.ts";
import { isComing } from "../../../data/query.ts";
import { useSignedIn } from "../../../data/session.ts";
import { openDialog } from "../../../components/open-dialog.ts";
import { notifyError } from "../../../components/toasts.tsx";
import { Icon } from "../../../components/display/icons.tsx";
import { MenuItem, MoreActions } from "../../../components/menus.tsx";
import { CreateButton, EmptyState, LoadFailed, PageHeader } from "../../../components/page.tsx";
import { useShortcuts } from "../../../components/shortcuts.ts";
import { useWindows } from "../../maintenance/data.ts";
import { NeedsAttention } from "./attention.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { FirstAlert } from "./first-alert.tsx";
import { GetStarted } from "./get-started.tsx";
import { type Filters, filtersOf, isFiltered, sentFilters } from "./filters.ts";
import { folds, selection } from "./list-state.ts";
import { MonitorList } from "./monitor-list.tsx";
import { ProblemBanners } from "./problem-banners.tsx";
import { FirstMonitor, QuickAdd } from "./quick-add-field.tsx";
import { itemsOf } from "./rows.ts";

function useIsHeadLoading(mayWrite: boolean, overview: Overview | undefined): boolean {
  const inMaintenance = overview === undefined ? 0 : (allStates(overview).maintenance ?? 0);
  const running = useWindows("running", inMaintenance > 0);
  const isLoading = useIsMonitorsLoading(mayWrite);
  return isLoading || isComing([running]);
}

export function MonitorsPage() {
  const { data: overview, error } = useQuery(overviewQuery);
  const { mayWrite } = useSignedIn();
  const isHeadLoading = useIsHeadLoading(mayWrite, overview);
  const data = isHeadLoading ? undefined : overview;
  const navigate = useNavigate();
  const filters = filtersOf(useSearch({ strict: false }));
  const folded = folds.use();
  const [adding, setAdding] = useState(false);
  const address = useRef<HTMLInputElement>(null);
  const add = () => {
    setAdding(true);
    // It may stand there already.
    address.current?.focus();
  };
  const search = useRef<HTMLInputElement>(null);
  const sent = JSON.stringify(sentFilters(filters));
  const wanted = useMemo(() => JSON.parse(sent) as Filters, [sent]);
  const asksServer = data !== undefined && isPartly(data) && isFiltered(wanted);
  const { data: found } = useQuery({
    ...overviewQueryOf(wanted),
    enabled: asksServer,
    placeholderData: keepPreviousData,
  });
  const shown = asksServer ? found : data;
  const items = useMemo(
    () => (shown === undefined ? [] : itemsOf(shown, filters, folded)),
    [shown, filters.q, filters.status, filters.type, filters.tag, folded],
  );
  useEffect(() => selection.clear, []);
  useShortcuts({
    n: () => mayWrite && add(),
    "/": () => search.current?.focus(),
    Escape: () => selection.clear(),
  });
  const setFilters = (next: Filters) =>
    void navigate({ to: "/monitors", search: next, replace: true, resetScroll: false });
  const empty = data !== undefined && data.monitors.length === 0 && data.groups.length === 0;

  return (
    <>
      <PageHeader title="Monitors">
        {mayWrite && !empty && (
          <>
            <Button className="not-phone" onClick={() => openDialog({ kind: "create-group" })}>
              Create group
            </Button>
            <CreateButton onClick={add}>Create monitor</CreateButton>
            <MoreActions className="only-phone">
              <MenuItem icon="folder" onClick={() => openDialog({ kind: "create-group" })}>
                Create group
              </MenuItem>
            </MoreActions>
          </>
        )}
      </PageHeader>
      {error !== null && data === undefined && <LoadFailed what="The monitors" error={error} />}
      {empty && <FirstMonitor field={address} onAdding={() => setAdding(true)} />}
      {data !== undefined && !empty && (
        <>
          {adding && (
            <div className="panel quick-panel">
              <QuickAdd field={address} onClose={() => setAdding(false)} />
            </div>
          )}
          <ProblemBanners />
          <FirstAlert overview={data} />
          <NeedsAttention overview={data} />
          <FilterBar overview={data} filters={filters} onChange={setFilters} search={search} />
          {shown !== undefined && items.length === 0 ? (
            <EmptyState
              icon={<Icon name="search" size={28} />}
              title="No monitors found"
              action={<Button onClick={() => setFilters({})}>Show all monitors</Button>}
            >
              No monitor matches these filters.
            </EmptyState>
          ) : (
            <MonitorList
              items={items}
              mayWrite={mayWrite}
              mayMove={!isFiltered(filters)}
              onUnread={(groupId, until) =>
                void readRows(asksServer ? wanted : undefined, groupId, until).catch(notifyError)
              }
            />
          )}
        </>
      )}
      {data !== undefined && !empty && <GetStarted overview={data} />}
      {data !== undefined && <BulkBar overview={data} found={shown} />}
    </>
  );
}
