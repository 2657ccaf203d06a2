/** The activity of an incident: updates with their deliveries, notes and checks. */
import { SegmentedControl } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { IncidentTraces, Receiver } from "../../../../src/dashboard/incident-schema.ts";
import type { Incident, IncidentNote, IncidentUpdate } from "../../../../src/incidents/schema.ts";
import { v1 } from "../../../data/client.ts";
import { useMayChange } from "../../../components/display/partial-record.tsx";
import { useSignedInPerson } from "../../../data/session.ts";
import { dot, formatReason } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Markdown } from "../../../components/display/markdown.tsx";
import { formatUnbrokenDuration, Time } from "../../../components/display/time.tsx";
import { holdDeletion, useDeleting } from "../../../components/deletion.ts";
import { useTraces } from "../data.ts";
import { Receipt } from "./receipt.tsx";
import { EditUpdateDialog, RevisionsDialog } from "./update-dialogs.tsx";
import { incidentStatusLabels } from "../words.ts";
import { capitalize } from "../../../../src/core/text/formatting.ts";
import { translateServerText } from "../../../language/server-text.ts";
import { t, tNode } from "../../../language/text.ts";

type Author = IncidentTraces["authors"][number];
type Line = { key: string; at: string; text: ReactNode };
type Entry = { update: IncidentUpdate } | { note: IncidentNote } | { line: Line };

const timeOf = (entry: Exclude<Entry, { update: unknown }>) =>
  "note" in entry ? entry.note.createdAt : entry.line.at;

/**
 * All entries, oldest first. Updates stay in their given order; other entries are sorted in by
 * time.
 */
function mergeEntries({ updates, notes }: Incident, lines: readonly Line[]): Entry[] {
  const others = [...notes.map((note) => ({ note })), ...lines.map((line) => ({ line }))].toSorted(
    (one, other) => timeOf(one).localeCompare(timeOf(other)),
  );
  const takeEntriesBefore = (at: string) =>
    others.splice(0, others.filter((one) => timeOf(one) <= at).length);
  return [
    ...updates.flatMap((update): Entry[] => [...takeEntriesBefore(update.createdAt), { update }]),
    ...others,
  ];
}

type State = IncidentTraces["states"][number];
type Change = IncidentTraces["changes"][number];

function describeState({ name, status, message, troubleSeconds }: State): ReactNode {
  const monitor = <b>{name}</b>;
  if (status === "maintenance") return tNode("{monitor} is in maintenance", { monitor });
  if (troubleSeconds !== null)
    return tNode("{monitor} is up after {duration}", {
      monitor,
      duration: formatUnbrokenDuration(troubleSeconds),
    });
  if (status === "up") return tNode("{monitor} is up", { monitor });
  const reason = message === null ? "" : `: ${formatReason(message)}`;
  return status === "down"
    ? tNode("{monitor} is down{reason}", { monitor, reason })
    : tNode("{monitor} is degraded{reason}", { monitor, reason });
}

const fieldNames: Record<string, string> = {
  title: t("title"),
  severity: t("severity"),
  monitorIds: t("monitors"),
  impacts: t("shown states"),
  public: t("visibility"),
};

function describeChange({ action, fields }: Change, author: string): ReactNode {
  const person = <b>{author}</b>;
  if (action === "incident.postmortem-published")
    return tNode("{person} published the postmortem", { person });
  if (action === "incident.postmortem-deleted")
    return tNode("{person} deleted the postmortem", { person });
  if (fields.includes("updates")) return tNode("{person} edited an update", { person });
  const names = fields.map((field) => fieldNames[field] ?? field).join(", ");
  return tNode("{person} changed the {fields}", { person, fields: names });
}

/** State changes and edits, one line each. */
const buildLines = (
  { states, changes }: IncidentTraces,
  nameOf: (author: Omit<Author, "updateId">) => string,
): Line[] => [
  ...states.map((state) => ({
    key: `${state.monitorId} ${state.at}`,
    at: state.at,
    text: describeState(state),
  })),
  ...changes.map((change) => ({
    key: `${change.action} ${change.at}`,
    at: change.at,
    text: describeChange(change, capitalize(nameOf(change))),
  })),
];

const kindLabels = { all: t("All"), updates: t("Updates"), notes: t("Notes") };
type Kind = keyof typeof kindLabels;

/** Shows updates, notes and automatic entries with their authors, newest first. */
export function Timeline({ incident }: { incident: Incident }) {
  const { data } = useTraces(incident.id);
  const deleting = useDeleting();
  const [kind, setKind] = useState<Kind>("all");
  const authors = new Map(data?.authors.map((author) => [author.updateId, author]));
  const receipts = new Map(data?.receipts.map((one) => [one.updateId, one.receivers]));
  const nameOf = useAuthorName();
  const lines = data === undefined ? [] : buildLines(data, nameOf);
  const shownEntries = mergeEntries(incident, lines)
    .filter((entry) => kind === "all" || (kind === "updates" ? "update" in entry : "note" in entry))
    .filter((entry) => !("note" in entry) || !deleting.has(entry.note.id));
  return (
    <section className="panel" aria-label={t("Activity")}>
      <div className="panel-head">
        <h2>{t("Activity")}</h2>
        {incident.notes.length > 0 && (
          <SegmentedControl
            size="xs"
            aria-label={t("Show")}
            value={kind}
            onChange={(next) => setKind(next as Kind)}
            data={Object.entries(kindLabels).map(([value, label]) => ({ value, label }))}
          />
        )}
      </div>
      <ol className="timeline">
        {shownEntries
          .toReversed()
          .map((entry) =>
            "update" in entry ? (
              <Update
                key={entry.update.id}
                update={entry.update}
                author={authors.get(entry.update.id)}
                receivers={receipts.get(entry.update.id)}
                incident={incident}
              />
            ) : "note" in entry ? (
              <Note key={entry.note.id} note={entry.note} incident={incident} />
            ) : (
              <FindingLine key={entry.line.key} line={entry.line} />
            ),
          )}
      </ol>
    </section>
  );
}

/** Names an author: the reader is “you”. */
export function useAuthorName() {
  const { person } = useSignedInPerson();
  return ({ type, id, name }: Omit<Author, "updateId">) =>
    type === "monitor" ? "Signalbox" : id === person.id ? t("you") : name;
}

function Update({
  update,
  author,
  receivers,
  incident,
}: {
  update: IncidentUpdate;
  author: Author | undefined;
  receivers: readonly Receiver[] | undefined;
  incident: Incident;
}) {
  const { status, message, createdAt, editedAt } = update;
  const mayWrite = useMayChange(incident);
  const [dialog, setDialog] = useState<"edit" | "revisions" | null>(null);
  const nameOf = useAuthorName();
  const close = () => setDialog(null);
  const isAutomatic = author?.type === "monitor" && editedAt === null;
  return (
    <li className="timeline-update">
      <b>{incidentStatusLabels[status]}</b>
      <Markdown text={isAutomatic ? translateServerText(message) : message} isPlain={isAutomatic} />
      <span className="timeline-by">
        {mayWrite && (
          <span className="timeline-edit">
            <button
              type="button"
              className="plain-button link"
              aria-label={t("Edit update")}
              onClick={() => setDialog("edit")}
            >
              {t("Edit")}
            </button>
            {dot}
          </span>
        )}
        {editedAt !== null && (
          <>
            <button
              type="button"
              className="plain-button link"
              onClick={() => setDialog("revisions")}
            >
              {tNode("Edited {time}", { time: <Time at={editedAt} as="short" /> })}
            </button>
            {dot}
          </>
        )}
        {author && nameOf(author) + dot}
        <Time at={createdAt} as="short" />
      </span>
      {receivers !== undefined && <Receipt receivers={receivers} />}
      {dialog === "edit" && (
        <EditUpdateDialog incident={incident} update={update} onClose={close} />
      )}
      {dialog === "revisions" && (
        <RevisionsDialog incidentId={incident.id} update={update} onClose={close} />
      )}
    </li>
  );
}

function FindingLine({ line: { text, at } }: { line: Omit<Line, "key"> }) {
  return (
    <li className="timeline-found">
      <span>{text}</span>
      <span className="timeline-by">
        <Time at={at} as="short" />
      </span>
    </li>
  );
}

/**
 * A note. Notes by monitors are a single line; notes by people look different from public updates.
 */
function Note({ note, incident }: { note: IncidentNote; incident: Incident }) {
  const { id, message, createdAt, author } = note;
  const mayWrite = useMayChange(incident);
  const nameOf = useAuthorName();
  if (author.type === "monitor")
    return (
      <FindingLine
        line={{
          text: (
            <>
              <b>{author.name}</b> {formatReason(message)}
            </>
          ),
          at: createdAt,
        }}
      />
    );
  return (
    <li className="timeline-note">
      <b>
        <Icon name="lock" size={13} /> {t("Internal note")}
      </b>
      <Markdown text={message} />
      <span className="timeline-by">
        {mayWrite && (
          <>
            <button
              type="button"
              className="plain-button link"
              aria-label={t("Delete note")}
              onClick={() =>
                holdDeletion((query) =>
                  v1
                    .incidents({ id: incident.id })
                    .notes({ noteId: id })
                    .delete(undefined, { query }),
                )
              }
            >
              {t("Delete")}
            </button>
            {dot}
          </>
        )}
        {nameOf(author) + dot}
        <Time at={createdAt} as="short" />
      </span>
    </li>
  );
}
