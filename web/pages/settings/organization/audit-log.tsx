/** The audit log: filters, downloads, and entries by day. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { Fragment, useRef } from "react";
import type { AuditEntry } from "../../../../src/operations/audit-log/schema.ts";
import { dashboard } from "../../../data/client.ts";
import { createPageQuery } from "../../../data/query.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { toInstant } from "../../../../src/core/time/time-zones.ts";
import { Choice, SearchField } from "../../../components/forms/filter-fields.tsx";
import { Loaded, EmptyState, Panel } from "../../../components/page.tsx";
import { Pager } from "../../../components/pager.tsx";
import { getFormatter } from "../../../../src/core/time/times.ts";
import { Time, useZone } from "../../../components/display/time.tsx";
import {
  describeAction,
  describeActor,
  describeFields,
} from "../../../../src/operations/audit-log/sentence-rules.ts";
import { actorLabels, nounLabels, pathOfSubject } from "./audit-labels.ts";

const perPage = 50;

const downloadLinks = [
  { words: "CSV", path: dashboard["audit-log"]["export.csv"]["~path"] },
  { words: "JSON Lines", path: dashboard["audit-log"]["export.jsonl"]["~path"] },
];

/** Filters in the URL. Days are in the viewer's time zone. */
type Filters = { q?: string; noun?: string; actor?: string; from?: string; to?: string };
type Search = Filters & { page?: number };

const dayText = /^\d{4}-\d\d-\d\d$/;

function parseSearch({ q, noun, actor, from, to, page }: Record<string, unknown>): Search {
  // The router parses digits as a number.
  const words = typeof q === "string" || typeof q === "number" ? String(q) : "";
  return {
    ...(words.trim() !== "" && { q: words }),
    ...(typeof noun === "string" && noun in nounLabels && { noun }),
    ...(typeof actor === "string" && actor in actorLabels && { actor }),
    ...(typeof from === "string" && dayText.test(from) && { from }),
    ...(typeof to === "string" && dayText.test(to) && { to }),
    ...(Number.isSafeInteger(page) && Number(page) > 1 && { page: Number(page) }),
  };
}

/** Query of the API. Days become the instants of their start or end. */
function buildAuditQuery({ from, to, ...filters }: Filters, zone: string): Record<string, string> {
  const dayMs = 86_400_000;
  const begin = (date: string, days: number) =>
    new Date(toInstant(Date.parse(`${date}T00:00Z`) + days * dayMs, zone)).toISOString();
  return {
    ...filters,
    ...(from !== undefined && { from: begin(from, 0) }),
    ...(to !== undefined && { to: begin(to, 1) }),
  };
}

export default function AuditLog() {
  const { page = 1, ...filters } = parseSearch(useSearch({ strict: false }));
  const { organization } = useSignedInPerson();
  const zone = useZone();
  const navigate = useNavigate();
  const show = (search: Search) => void navigate({ to: ".", search: search as never });
  const narrowed = buildAuditQuery(filters, zone);
  const query = useQuery({
    ...createPageQuery(["audit-log", page, narrowed], (options) =>
      dashboard["audit-log"].get({
        query: { page, per_page: perPage, ...narrowed },
        ...options,
      }),
    ),
    placeholderData: (before) => before,
  });
  return (
    <>
      <Head exported={new URLSearchParams({ organization: organization.id, ...narrowed })} />
      <FilterRow filters={filters} onChange={show} />
      <Loaded query={query} what="The audit log">
        {({ data, meta }) => (
          <>
            {data.length === 0 ? (
              <EmptyState icon={<Icon name="list" size={28} />} title="No entries">
                {Object.keys(filters).length > 0
                  ? "No entries match the filters."
                  : "There are no entries on this page."}
              </EmptyState>
            ) : (
              <Panel flush>
                <Days entries={data} />
              </Panel>
            )}
            <Pager
              meta={meta}
              onPage={(to) => show(to === 1 ? filters : { ...filters, page: to })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

const Head = ({ exported }: { exported: URLSearchParams }) => (
  <div className="audit-head panel-words">
    <p className="quiet">
      Who changed what, and when. Values are not logged, because they may be secret.
    </p>
    <div className="flex gap-8">
      {downloadLinks.map(({ words, path }) => (
        <Button
          key={words}
          component="a"
          href={`${path}?${exported}`}
          download
          size="xs"
          leftSection={<Icon name="download" size={14} />}
          aria-label={`Download as ${words}`}
        >
          {words}
        </Button>
      ))}
    </div>
  </div>
);

function FilterRow({
  filters,
  onChange,
}: {
  filters: Filters;
  onChange: (filters: Filters) => void;
}) {
  const box = useRef<HTMLInputElement>(null);
  const set = (name: keyof Filters, value: string | undefined) => {
    const { [name]: _, ...others } = filters;
    onChange(value ? { ...others, [name]: value } : others);
  };
  return (
    <div className="filters">
      <SearchField
        label="Search the audit log"
        value={filters.q ?? ""}
        onChange={(q) => set("q", q)}
        box={box}
      />
      <Choice
        label="What"
        value={filters.noun}
        options={Object.entries(nounLabels)}
        onChange={(noun) => set("noun", noun)}
      />
      <Choice
        label="Who"
        value={filters.actor}
        options={Object.entries(actorLabels)}
        onChange={(actor) => set("actor", actor)}
      />
      <DayField label="From" value={filters.from} onChange={(day) => set("from", day)} />
      <DayField label="To" value={filters.to} onChange={(day) => set("to", day)} />
    </div>
  );
}

const DayField = ({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (day: string) => void;
}) => (
  <label className={`chip audit-day-field ${value === undefined ? "" : "chip-on"}`}>
    {label}
    <input
      type="date"
      value={value ?? ""}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  </label>
);

/** Entries by day in the viewer's time zone. */
function Days({ entries }: { entries: readonly AuditEntry[] }) {
  const zone = useZone();
  const day = getFormatter(zone, {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: "numeric",
  });
  const days = Map.groupBy(entries, ({ at }) => day.format(new Date(at)));
  return [...days].map(([title, ofDay]) => (
    <Fragment key={title}>
      <h2 className="audit-day">{title}</h2>
      <ul className="audit">
        {ofDay.map((entry) => (
          <Line key={entry.id} entry={entry} />
        ))}
      </ul>
    </Fragment>
  ));
}

function Line({ entry }: { entry: AuditEntry }) {
  const { at, actor } = entry;
  const fields = describeFields(entry);
  const [before, name, after] = describeAction(entry);
  const path = pathOfSubject(entry);
  const { routesByPath } = useRouter();
  const hasPage = path !== null && `/${path.split("/")[1]}/$id` in routesByPath;
  return (
    <li>
      <Time at={at} as="clock" />
      <p>
        <b>{describeActor(actor)}</b> {before}
        {name !== "" &&
          (hasPage ? (
            <Link to={path as "/"} className="audit-link">
              {name}
            </Link>
          ) : (
            <b>{name}</b>
          ))}
        {after}
        {fields !== "" && <span className="faint">: {fields}</span>}
      </p>
    </li>
  );
}
