import type { IncidentTraces } from "../../../src/dashboard/incident-schema.ts";
import type { Incident } from "../../../src/incidents/schema.ts";
import { useSignedIn } from "../../data/session.ts";
import { Time } from "../../components/time.tsx";
import { capitalized } from "./words.tsx";
import { useTraces } from "./incident-data.ts";

type Author = IncidentTraces["authors"][number];

/** What was posted, newest first, and by whom. */
export function Timeline({ incident }: { incident: Incident }) {
  const { data } = useTraces(incident.id);
  const { person } = useSignedIn();
  const authors = new Map(data?.authors.map((author) => [author.updateId, author]));
  const nameOf = (author: Author | undefined) =>
    author === undefined
      ? ""
      : author.type === "monitor"
        ? " · Signalbox"
        : ` · ${author.id === person.id ? "you" : author.name}`;
  return (
    <section className="panel" aria-label="Activity">
      <ol className="timeline">
        {incident.updates.toReversed().map(({ id, status, message, createdAt }) => (
          <li key={id}>
            <b>{capitalized(status)}</b>
            <p dir="auto">{message}</p>
            <span className="timeline-by">
              <Time at={createdAt} as="short" />
              {nameOf(authors.get(id))}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
