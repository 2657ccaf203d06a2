/** The activity of an incident: updates with their deliveries, notes and checks. */
import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import type { IncidentTraces, Receiver } from "../../../../src/dashboard/incident-schema.ts";
import type { Incident, IncidentNote, IncidentUpdate } from "../../../../src/incidents/schema.ts";
import { v1 } from "../../../data/client.ts";
import { useMayChange } from "../../../components/display/partial-record.tsx";
import { useSignedInPerson } from "../../../data/session.ts";
import { dot, formatReason } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Markdown } from "../../../components/display/markdown.tsx";
import { durationInWords, Time } from "../../../components/display/time.tsx";
import { holdDeletion, useDeleting } from "../../../components/deletion.ts";
import { useTraces } from "../data.ts";
import { Receipt } from "./receipt.tsx";
import { EditUpdateDialog, RevisionsDialog } from "./update-dialogs.tsx";
import { capitalize } from "../../../../src/core/text/formatting.ts";
import { t, tNode } from "../../../language/text.ts";

type Author = IncidentTraces["authors"][number];
type Line = { key: string; at: string; who: string; words: string };
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

const verbs: Record<string, string> = {
  "incident.postmortem-published": t("published the postmortem"),
  "incident.postmortem-deleted": t("deleted the postmortem"),
};

/** State changes and edits, one line each. */
function buildLines(
  { states, changes }: IncidentTraces,
  nameOf: (author: Omit<Author, "updateId">) => string,
): Line[] {
  return [
    ...states.map(({ at, monitorId, name, status, message, troubleSeconds }) => ({
      key: `${monitorId} ${at}`,
      at,
      who: name,
      words:
        status === "maintenance"
          ? t("is in maintenance")
          : troubleSeconds === null
            ? t("is {status}{value}", {
                status,
                value: message === null || status === "up" ? "" : `: ${formatReason(message)}`,
              })
            : t("is up after {durationInWords}", {
                durationInWords: durationInWords(troubleSeconds),
              }),
    })),
    ...changes.map(({ at, action, fields, ...author }) => ({
      key: `${action} ${at}`,
      at,
      who: capitalize(nameOf(author)),
      words:
        verbs[action] ??
        (fields.includes("updates")
          ? t("edited an update")
          : t("changed the {fields}", { fields: fields.map(nameOfField).join(", ") })),
    })),
  ];
}

const fieldNames: Record<string, string> = {
  monitorIds: "monitors",
  impacts: t("shown states"),
  public: "visibility",
};
const nameOfField = (field: string) => fieldNames[field] ?? field;

const kinds = ["all", "updates", "notes"] as const;

/** Shows updates, notes and automatic entries with their authors, newest first. */
export function Timeline({ incident }: { incident: Incident }) {
  const { data } = useTraces(incident.id);
  const deleting = useDeleting();
  const [kind, setKind] = useState<(typeof kinds)[number]>("all");
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
            onChange={(next) => setKind(next as typeof kind)}
            data={kinds.map((value) => ({ value, label: capitalize(value) }))}
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
              <Found key={entry.line.key} line={entry.line} />
            ),
          )}
      </ol>
    </section>
  );
}

function useAuthorName() {
  const { person } = useSignedInPerson();
  return ({ type, id, name }: Omit<Author, "updateId">) =>
    type === "monitor" ? t("Signalbox") : id === person.id ? "you" : name;
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
  return (
    <li className="timeline-update">
      <b>{capitalize(status)}</b>
      <Markdown text={message} isPlain={author?.type === "monitor" && editedAt === null} />
      <span className="timeline-by">
        {mayWrite && (
          <span className="timeline-edit">
            <button type="button" className="plain-button link" onClick={() => setDialog("edit")}>
              {tNode("Edit{span}", {
                span: <span className="visually-hidden"> {t("update")}</span>,
              })}
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

function Found({ line: { who, words, at } }: { line: Omit<Line, "key"> }) {
  return (
    <li className="timeline-found">
      <span>
        <b>{who}</b> {words}
      </span>
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
    return <Found line={{ who: author.name, words: formatReason(message), at: createdAt }} />;
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
              onClick={() =>
                holdDeletion((query) =>
                  v1
                    .incidents({ id: incident.id })
                    .notes({ noteId: id })
                    .delete(undefined, { query }),
                )
              }
            >
              {tNode("Delete{span}", {
                span: <span className="visually-hidden"> {t("note")}</span>,
              })}
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
