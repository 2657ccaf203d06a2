/** The audit log: filters, downloads, and entries by day. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Fragment, useRef, useState } from "react";
import type { FieldChange } from "../../../../src/core/field-changes.ts";
import { type AuditAction, auditVerbs } from "../../../../src/events/catalog.ts";
import type { AuditEntry } from "../../../../src/operations/audit-log/schema.ts";
import { dashboard } from "../../../data/client.ts";
import { createPageQuery } from "../../../data/query.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { dayMs } from "../../../../src/core/time/clock.ts";
import { toInstant } from "../../../../src/core/time/time-zones.ts";
import { DayChip } from "../../../components/forms/date-time-field.tsx";
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
import {
  describeChange,
  findDeleted,
  findRestorable,
  type RestorableNoun,
} from "./audit-values.ts";
import { formatCount } from "../../../components/display/format.ts";
import { useAction } from "../../../components/toasts.tsx";
import { peopleQuery } from "../data.ts";
import { nameField } from "./field-labels.ts";
import { actorLabels, getActionLabel, nounLabels, findSubjectPath } from "./audit-labels.ts";
import { nameIncident } from "../../../language/server-text.ts";
import { RestoreButton } from "./restore-button.tsx";
import { restoreField } from "./restore-field.ts";
import { t, tNode } from "../../../language/text.ts";

const perPage = 50;

const downloadLinks = [
  { words: "CSV", path: dashboard["audit-log"]["export.csv"]["~path"] },
  { words: "JSON Lines", path: dashboard["audit-log"]["export.jsonl"]["~path"] },
];

/** Filters in the URL. Days are in the viewer's time zone. */
type Filters = {
  q?: string;
  noun?: string;
  action?: string;
  record?: string;
  actor?: string;
  /** ID of a person or API key. */
  by?: string;
  from?: string;
  to?: string;
};
type Search = Filters & { page?: number };

const dayText = /^\d{4}-\d\d-\d\d$/;
const idText = /^[0-9a-f-]{36}$/;

function parseSearch(search: Record<string, unknown>): Search {
  const { q, noun, action, record, actor, by, from, to, page } = search;
  // The router parses digits as a number.
  const words = typeof q === "string" || typeof q === "number" ? String(q) : "";
  const isText = (value: unknown, pattern: RegExp) =>
    typeof value === "string" && pattern.test(value);
  return {
    ...(words.trim() !== "" && { q: words }),
    ...(typeof noun === "string" && noun in nounLabels && { noun }),
    ...(typeof action === "string" && listActions(noun).includes(action) && { action }),
    ...(isText(record, idText) && { record: record as string }),
    ...(typeof actor === "string" && actor in actorLabels && { actor }),
    ...(isText(by, idText) && { by: by as string }),
    ...(isText(from, dayText) && { from: from as string }),
    ...(isText(to, dayText) && { to: to as string }),
    ...(Number.isSafeInteger(page) && Number(page) > 1 && { page: Number(page) }),
  };
}

/** Actions on one kind of record; none without a kind. */
const listActions = (noun: unknown): string[] =>
  typeof noun === "string" && Object.hasOwn(auditVerbs, noun)
    ? auditVerbs[noun as keyof typeof auditVerbs].map((verb) => `${noun}.${verb}`)
    : [];

/** Query of the API. Days become the instants of their start or end. */
function buildAuditQuery(
  { from, to, record, by, ...filters }: Filters,
  zone: string,
): Record<string, string> {
  const begin = (date: string, days: number) =>
    new Date(toInstant(Date.parse(`${date}T00:00Z`) + days * dayMs, zone)).toISOString();
  return {
    ...filters,
    ...(record !== undefined && { subjectId: record }),
    ...(by !== undefined && { actorId: by }),
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
        query: { page, per_page: perPage, fold: "true", ...narrowed },
        ...options,
      }),
    ),
    placeholderData: (before) => before,
  });
  return (
    <>
      <Head exported={new URLSearchParams({ organization: organization.id, ...narrowed })} />
      <FilterRow filters={filters} entries={query.data?.data ?? []} onChange={show} />
      <Loaded query={query} subject={t("The audit log")}>
        {({ data, meta }) => (
          <>
            {data.length === 0 ? (
              <NoEntries isFiltered={Object.keys(filters).length > 0} onShowAll={() => show({})} />
            ) : (
              <Panel isFlush>
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

const NoEntries = ({ isFiltered, onShowAll }: { isFiltered: boolean; onShowAll: () => void }) => (
  <EmptyState
    icon={<Icon name={isFiltered ? "search" : "list"} size={28} />}
    title={t("No entries")}
    action={<Button onClick={onShowAll}>{t("Show all entries")}</Button>}
  >
    {isFiltered ? t("No entries match the filters.") : t("There are no entries on this page.")}
  </EmptyState>
);

const Head = ({ exported }: { exported: URLSearchParams }) => (
  <div className="audit-head panel-words">
    <p className="quiet">
      {t("Who changed what, and when. Secrets are listed without their values.")}
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
          aria-label={t("Download as {format}", { format: words })}
        >
          {words}
        </Button>
      ))}
    </div>
  </div>
);

function FilterRow({
  filters,
  entries,
  onChange,
}: {
  filters: Filters;
  /** Entries on the page, which name filtered records and removed people. */
  entries: readonly AuditEntry[];
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
        label={t("Search the audit log")}
        value={filters.q ?? ""}
        onChange={(q) => set("q", q)}
        box={box}
      />
      {filters.record !== undefined && (
        <Choice
          label={t("Record")}
          value={filters.record}
          options={[[filters.record, (entries[0] && nameSubject(entries[0])) ?? t("one record")]]}
          onChange={(record) => set("record", record)}
        />
      )}
      <Choice
        label={t("What")}
        value={filters.noun}
        options={Object.entries(nounLabels)}
        onChange={(noun) => onChange({ ...omitAction(filters), ...(noun && { noun }) })}
      />
      {filters.noun !== undefined && (
        <Choice
          label={t("Action")}
          value={filters.action}
          options={listActions(filters.noun).map((action) => [
            action,
            getActionLabel(action as AuditAction),
          ])}
          onChange={(action) => set("action", action)}
        />
      )}
      <WhoChoice filters={filters} entries={entries} onChange={onChange} />
      <DayChip label={t("From")} value={filters.from} onChange={(day) => set("from", day)} />
      <DayChip label={t("To")} value={filters.to} onChange={(day) => set("to", day)} />
    </div>
  );
}

const omitAction = ({ noun: _noun, action: _action, ...others }: Filters): Filters => others;

/** Filter by a type of actor, or by a person. */
function WhoChoice({
  filters: { actor, by, ...others },
  entries,
  onChange,
}: {
  filters: Filters;
  entries: readonly AuditEntry[];
  onChange: (filters: Filters) => void;
}) {
  const { data: people = [] } = useQuery(peopleQuery);
  const namesById = new Map(
    [...entries.map((entry) => entry.actor), ...people].map(({ id, name }) => [id, name]),
  );
  const options: [string, string][] = [
    ...Object.entries(actorLabels),
    ...people.map(({ id, name }): [string, string] => [id, name]),
    ...(by !== undefined && !people.some(({ id }) => id === by)
      ? [[by, namesById.get(by) ?? t("someone")] as [string, string]]
      : []),
  ];
  return (
    <Choice
      label={t("Who")}
      value={by ?? actor}
      options={options}
      onChange={(actorId) =>
        onChange({
          ...others,
          ...(actorId !== undefined &&
            (actorId in actorLabels ? { actor: actorId } : { by: actorId })),
        })
      }
    />
  );
}

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

/** The subject's name. The title of an automatic incident is translated. */
const nameSubject = ({ subjectName, subjectOrigin }: AuditEntry): string | null =>
  subjectName && nameIncident({ title: subjectName, origin: subjectOrigin });

function Line({ entry }: { entry: AuditEntry }) {
  const [isOpen, setIsOpen] = useState(false);
  const { at, actor, tool, fields, changes, repeated } = entry;
  const valued = new Set(changes.map(({ field }) => field));
  const fieldsText = describeFields(
    { ...entry, fields: fields.filter((field) => !valued.has(field)) },
    nameField,
  );
  return (
    <li>
      <Time at={at} as="clock" />
      <div>
        <p>
          <Actor actor={actor} /> <Sentence entry={entry} />
          {tool !== null && (
            <span className="faint"> {tNode("with the MCP tool {tool}", { tool })}</span>
          )}
          {fieldsText !== "" && <span className="faint">: {fieldsText}</span>}
          <RestoreDeleted entry={entry} />
          {repeated !== null && entry.subjectName !== null && (
            <button
              type="button"
              className="audit-more"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
            >
              {isOpen ? t("Show as one") : t("Show each")}
            </button>
          )}
        </p>
        {isOpen ? <Repetitions entry={entry} /> : <Changes entry={entry} />}
      </div>
    </li>
  );
}

/** The button that restores the record that an entry deleted. */
function RestoreDeleted({ entry }: { entry: AuditEntry }) {
  const noun = findDeleted(entry);
  if (noun === null) return null;
  const record = { noun, id: entry.subjectId, name: nameSubject(entry) ?? t("the record") };
  return <RestoreButton record={record} isText />;
}

/** The actor, as a filter of the log. */
function Actor({ actor }: Pick<AuditEntry, "actor">) {
  if (actor.id === null) return <b>{describeActor(actor)}</b>;
  return (
    <Link
      to="."
      search={{ by: actor.id } as never}
      className="audit-link"
      title={t("Only entries by {name}", { name: actor.name })}
    >
      {describeActor(actor)}
    </Link>
  );
}

function Sentence({ entry }: { entry: AuditEntry }) {
  const [before, name, after] = describeAction({ ...entry, subjectName: nameSubject(entry) });
  const path = findSubjectPath(entry);
  return (
    <>
      {before}
      {name !== "" &&
        (path !== null ? (
          <Link to={path as "/"} className="audit-link">
            {name}
          </Link>
        ) : (
          <b>{name}</b>
        ))}
      {after}
    </>
  );
}

/** Values of the changed fields, and a button that restores each. */
function Changes({ entry }: { entry: AuditEntry }) {
  const { changes, names } = entry;
  if (changes.length === 0) return null;
  return (
    <ul className="audit-changes">
      {changes.map((change) => {
        const [after, before] = describeChange(change, names);
        const noun = findRestorable(entry, change);
        return (
          <li key={change.field}>
            <span className="audit-field">{nameField(change.field)}:</span>{" "}
            <span>
              <b>{after}</b>
              {before !== null && tNode(", was {before}", { before })}
            </span>{" "}
            {noun !== null && <Restore noun={noun} entry={entry} change={change} />}
          </li>
        );
      })}
    </ul>
  );
}

function Restore({
  noun,
  entry,
  change,
}: {
  noun: RestorableNoun;
  entry: AuditEntry;
  change: FieldChange;
}) {
  const { subjectId: id, subjectName: name, names } = entry;
  const [, before] = describeChange(change, names);
  const { run, isPending } = useAction(() => restoreField(noun, { id, name }, change));
  return (
    <button
      type="button"
      className="audit-more"
      disabled={isPending}
      onClick={run}
      aria-label={t("Restore {field} {before}", {
        field: nameField(change.field),
        before: before ?? "",
      }).trim()}
    >
      {t("Restore")}
    </button>
  );
}

/** Maximum entries of a folded line that are listed. */
const listedRepetitions = 100;

/** The entries that a folded line summarizes, newest first. */
function Repetitions({ entry: { at, action, actor, repeated } }: { entry: AuditEntry }) {
  const range = {
    action: action as AuditAction,
    ...(actor.id === null
      ? { actor: actor.type as keyof typeof actorLabels }
      : { actorId: actor.id }),
    from: repeated?.since ?? at,
    to: new Date(Date.parse(at) + 1).toISOString(),
  };
  const query = useQuery(
    createPageQuery(["audit-log", "repetitions", range], (options) =>
      dashboard["audit-log"].get({
        query: { ...range, page: 1, per_page: listedRepetitions },
        ...options,
      }),
    ),
  );
  const { data, meta } = query.data ?? { data: [], meta: { total: 0 } };
  return (
    <ul className="audit-each">
      {data.map((one) => (
        <li key={one.id}>
          <Time at={one.at} as="clock" /> <Sentence entry={one} />
          <RestoreDeleted entry={one} />
          <Changes entry={one} />
        </li>
      ))}
      {meta.total > data.length && (
        <li>
          {tNode("The newest {count} of {total}. Download the log for all.", {
            count: data.length,
            total: formatCount(meta.total),
          })}
        </li>
      )}
    </ul>
  );
}
