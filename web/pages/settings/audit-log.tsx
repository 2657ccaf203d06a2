import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { Fragment } from "react";
import type { AuditEntry } from "../../../src/operations/audit-log/schema.ts";
import { dashboard } from "../../data/client.ts";
import { pageQuery } from "../../data/query.ts";
import { useSignedIn } from "../../data/session.ts";
import { Icon } from "../../components/icons.tsx";
import { Loaded, EmptyState, Panel } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { formatIn } from "../../../src/core/times.ts";
import { Time, useZone } from "../../components/time.tsx";
import { actorLabel, actionLabel, fieldLabels, pathOf } from "./audit-labels.ts";

const perPage = 50;

const downloads = [
  { words: "CSV", path: dashboard["audit-log"]["export.csv"]["~path"] },
  { words: "JSON Lines", path: dashboard["audit-log"]["export.jsonl"]["~path"] },
];

export default function AuditLog() {
  const { page: asked } = useSearch({ strict: false }) as { page?: number };
  const page = Number.isInteger(asked) && asked !== undefined && asked > 0 ? asked : 1;
  const { organization } = useSignedIn();
  const navigate = useNavigate();
  const go = (to: number) =>
    void navigate({ to: ".", search: (to === 1 ? {} : { page: to }) as never });
  const query = useQuery(
    pageQuery(["audit-log", page], (options) =>
      dashboard["audit-log"].get({ query: { page, per_page: perPage }, ...options }),
    ),
  );
  return (
    <Loaded query={query} what="The audit log">
      {({ data, meta }) => (
        <>
          <div className="audit-head panel-words">
            <p className="quiet">
              Who changed what, and when. Values are not logged, because they may be secret.
            </p>
            <div className="audit-downloads">
              {downloads.map(({ words, path }) => (
                <Button
                  key={words}
                  component="a"
                  href={`${path}?organization=${organization.id}`}
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
          {data.length === 0 ? (
            <EmptyState icon={<Icon name="list" size={28} />} title="No entries">
              There are no entries on this page.
            </EmptyState>
          ) : (
            <Panel flush>
              <Days entries={data} />
            </Panel>
          )}
          <Pager meta={meta} onPage={go} />
        </>
      )}
    </Loaded>
  );
}

/** The entries under their days, in the organization's time zone. */
function Days({ entries }: { entries: readonly AuditEntry[] }) {
  const zone = useZone();
  const day = formatIn(zone, {
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
  const { at, actor, fields } = entry;
  const [before, name, after] = actionLabel(entry);
  const path = pathOf(entry);
  const { routesByPath } = useRouter();
  const hasPage = path !== null && `/${path.split("/")[1]}/$id` in routesByPath;
  return (
    <li>
      <Time at={at} as="clock" />
      <p>
        <b>{actorLabel(actor)}</b> {before}
        {name !== "" &&
          (hasPage ? (
            <Link to={path as "/"} className="audit-link">
              {name}
            </Link>
          ) : (
            <b>{name}</b>
          ))}
        {after}
        {fields.length > 0 && <span className="faint">: {fields.map(fieldLabels).join(", ")}</span>}
      </p>
    </li>
  );
}
