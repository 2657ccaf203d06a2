import { Button, SegmentedControl } from "@mantine/core";
import { useEffect, useState } from "react";
import { type StatusPage, type Subscriber, useSubscribers } from "../../data/status-pages.ts";
import { useDeleting } from "../../components/deleting.ts";
import { notifyError } from "../../components/toasts.tsx";
import { Icon } from "../../components/icons.tsx";
import { EmptyState, Panel } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { AddSubscriber } from "./add-subscriber.tsx";
import { downloadSubscribers } from "./subscribers-csv.ts";
import { SubscriberLine } from "./subscriber-line.tsx";

type Filters = { q: string; type: Subscriber["type"] | ""; status: Subscriber["status"] | "" };
const all: Filters = { q: "", type: "", status: "" };

/** Who hears of updates of this page. */
export function Subscribers({ page, mayWrite }: { page: StatusPage; mayWrite: boolean }) {
  const [filters, setFilters] = useState(all);
  const [number, setNumber] = useState(1);
  const [adding, setAdding] = useState(false);
  const q = useDebounced(filters.q.trim());
  const deleting = useDeleting();
  const { data, error } = useSubscribers(page.id, {
    page: number,
    per_page: 50,
    q: q || undefined,
    type: filters.type || undefined,
    status: filters.status || undefined,
  });
  const change = (next: Partial<Filters>) => {
    setFilters({ ...filters, ...next });
    setNumber(1);
  };
  const isFiltered = q !== "" || filters.type !== "" || filters.status !== "";
  const shown = data?.data.filter(({ id }) => !deleting.has(id));
  const add = mayWrite && (
    <Button variant="filled" onClick={() => setAdding(true)}>
      Add subscriber
    </Button>
  );
  const empty = data !== undefined && data.meta.total === 0 && !isFiltered;
  return (
    <>
      {empty ? (
        <EmptyState
          icon={<Icon name="person" size={28} />}
          title="No subscribers yet"
          action={add || undefined}
        >
          Visitors subscribe with “Get updates” on the page, by e-mail if a mail server is set, or
          by feed. You can also add e-mail addresses and webhooks here.
        </EmptyState>
      ) : (
        <div className="subscribers-bar">
          <label className="filter-search">
            <Icon name="search" size={14} />
            <input
              type="search"
              aria-label="Search addresses"
              placeholder="Search"
              value={filters.q}
              onChange={({ currentTarget }) => change({ q: currentTarget.value })}
            />
          </label>
          <SegmentedControl
            size="xs"
            aria-label="Type"
            value={filters.type}
            onChange={(type) => change({ type })}
            data={[
              { value: "", label: "All" },
              { value: "email", label: "E-mail" },
              { value: "webhook", label: "Webhook" },
            ]}
          />
          <SegmentedControl
            size="xs"
            aria-label="Status"
            value={filters.status}
            onChange={(status) => change({ status })}
            data={[
              { value: "", label: "All" },
              { value: "confirmed", label: "Confirmed" },
              { value: "pending", label: "Pending" },
            ]}
          />
          <span className="subscribers-do">
            <Button onClick={() => void downloadSubscribers(page).catch(notifyError)}>
              Export CSV
            </Button>
            {add}
          </span>
        </div>
      )}
      {error !== null && data === undefined && <p className="down">{error.message}</p>}
      {shown !== undefined && !empty && (
        <Panel>
          {shown.length === 0 && (
            <p className="quiet panel-none">No subscriber matches these filters.</p>
          )}
          <ul className="lines subscribers" aria-label="Subscribers">
            {shown.map((subscriber) => (
              <SubscriberLine
                key={subscriber.id}
                pageId={page.id}
                subscriber={subscriber}
                mayWrite={mayWrite}
              />
            ))}
          </ul>
          {data !== undefined && <Pager meta={data.meta} onPage={setNumber} />}
        </Panel>
      )}
      {adding && <AddSubscriber page={page} onClose={() => setAdding(false)} />}
    </>
  );
}

/** What was typed, once it stands still. */
function useDebounced(text: string): string {
  const [later, setLater] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}
