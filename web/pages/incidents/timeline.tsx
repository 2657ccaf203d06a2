import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import type { IncidentTraces } from "../../../src/dashboard/incident-schema.ts";
import type { Incident, IncidentNote, IncidentUpdate } from "../../../src/incidents/schema.ts";
import { dataOf, v1 } from "../../data/client.ts";
import { useSignedIn } from "../../data/session.ts";
import { Icon } from "../../components/icons.tsx";
import { Markdown } from "../../components/markdown.tsx";
import { Time } from "../../components/time.tsx";
import { deleteWithUndo, useDeleting } from "../../components/toasts.tsx";
import { useTraces } from "./data.ts";
import { capitalized } from "./labels.tsx";
import { EditUpdateDialog, RevisionsDialog } from "./update-dialogs.tsx";

type Author = IncidentTraces["authors"][number];
type Entry = { update: IncidentUpdate } | { note: IncidentNote };

/** Updates in their order with the notes between them, oldest first. */
function entriesOf({ updates, notes }: Incident): Entry[] {
  const left = [...notes];
  const before = (at: string) =>
    left.splice(0, left.filter(({ createdAt }) => createdAt <= at).length);
  return [
    ...updates.flatMap((update): Entry[] => [
      ...before(update.createdAt).map((note) => ({ note })),
      { update },
    ]),
    ...left.map((note) => ({ note })),
  ];
}

const kinds = ["all", "updates", "notes"] as const;

/** What was posted and noted, newest first, and by whom. */
export function Timeline({ incident }: { incident: Incident }) {
  const { data } = useTraces(incident.id);
  const deleting = useDeleting();
  const [kind, setKind] = useState<(typeof kinds)[number]>("all");
  const authors = new Map(data?.authors.map((author) => [author.updateId, author]));
  const shown = entriesOf(incident)
    .filter((entry) => kind === "all" || (kind === "updates" ? "update" in entry : "note" in entry))
    .filter((entry) => "update" in entry || !deleting.has(entry.note.id));
  return (
    <section className="panel" aria-label="Activity">
      <div className="panel-head">
        <h2>Activity</h2>
        {incident.notes.length > 0 && (
          <SegmentedControl
            size="xs"
            aria-label="Show"
            value={kind}
            onChange={(next) => setKind(next as typeof kind)}
            data={kinds.map((value) => ({ value, label: capitalized(value) }))}
          />
        )}
      </div>
      <ol className="timeline">
        {shown
          .toReversed()
          .map((entry) =>
            "update" in entry ? (
              <Update
                key={entry.update.id}
                update={entry.update}
                author={authors.get(entry.update.id)}
                incident={incident}
              />
            ) : (
              <Note key={entry.note.id} note={entry.note} incidentId={incident.id} />
            ),
          )}
      </ol>
    </section>
  );
}

function useNameOf() {
  const { person } = useSignedIn();
  return ({ type, id, name }: Pick<Author, "type" | "id" | "name">) =>
    type === "monitor" ? "Signalbox" : id === person.id ? "you" : name;
}

function Update({
  update,
  author,
  incident,
}: {
  update: IncidentUpdate;
  author: Author | undefined;
  incident: Incident;
}) {
  const { status, message, createdAt, editedAt } = update;
  const { mayWrite } = useSignedIn();
  const [dialog, setDialog] = useState<"edit" | "revisions" | null>(null);
  const nameOf = useNameOf();
  const close = () => setDialog(null);
  return (
    <li className="timeline-update">
      <b>{capitalized(status)}</b>
      <Markdown text={message} isPlain={author?.type === "monitor" && editedAt === null} />
      <span className="timeline-by">
        <Time at={createdAt} as="short" />
        {author && ` · ${nameOf(author)}`}
        {editedAt !== null && (
          <>
            {" · "}
            <button
              type="button"
              className="plain-button link"
              onClick={() => setDialog("revisions")}
            >
              Edited <Time at={editedAt} as="short" />
            </button>
          </>
        )}
        {mayWrite && (
          <>
            {" · "}
            <button type="button" className="plain-button link" onClick={() => setDialog("edit")}>
              Edit<span className="visually-hidden"> update</span>
            </button>
          </>
        )}
      </span>
      {dialog === "edit" && (
        <EditUpdateDialog incident={incident} update={update} onClose={close} />
      )}
      {dialog === "revisions" && (
        <RevisionsDialog incidentId={incident.id} update={update} onClose={close} />
      )}
    </li>
  );
}

/** What a monitor found is a line; what people note stands apart from what is public. */
function Note({ note, incidentId }: { note: IncidentNote; incidentId: string }) {
  const { id, message, createdAt, author } = note;
  const { mayWrite } = useSignedIn();
  const nameOf = useNameOf();
  if (author.type === "monitor")
    return (
      <li className="timeline-found">
        <span dir="auto">
          <b>{author.name}</b> {message}
        </span>
        <span className="timeline-by">
          <Time at={createdAt} as="short" />
        </span>
      </li>
    );
  return (
    <li className="timeline-note">
      <b>
        <Icon name="lock" size={13} /> Internal note
      </b>
      <Markdown text={message} />
      <span className="timeline-by">
        <Time at={createdAt} as="short" />
        {` · ${nameOf(author)}`}
        {mayWrite && (
          <>
            {" · "}
            <button
              type="button"
              className="plain-button link"
              onClick={() =>
                deleteWithUndo({ id, title: "the note" }, () =>
                  dataOf(v1.incidents({ id: incidentId }).notes({ noteId: id }).delete()),
                )
              }
            >
              Delete<span className="visually-hidden"> note</span>
            </button>
          </>
        )}
      </span>
    </li>
  );
}
