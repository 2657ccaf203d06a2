import type { IncidentAudience } from "../../../src/dashboard/incident-schema.ts";
import { listKnownMonitors, useOverview } from "../../data/overview.ts";
import { useStatusPages } from "../../data/status-pages.ts";
import { useQuery } from "@tanstack/react-query";
import { peopleQuery } from "../settings/data.ts";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { findInternalNames } from "./internal-names.ts";
import { tNode } from "../../language/text.ts";

/** Warns of names in a public text that customers don't know. */
export function InternalNamesLine({
  text,
  isPublic,
  audience,
}: {
  text: string;
  isPublic: boolean;
  audience: IncidentAudience | undefined;
}) {
  const { data: overview } = useOverview();
  const { data: pages = [] } = useStatusPages();
  const shownOn = new Set(isPublic ? audience?.pages.map(({ id }) => id) : []);
  const { data: people = [] } = useQuery(peopleQuery);
  const names = findInternalNames(
    text,
    {
      monitors: overview === undefined ? [] : listKnownMonitors(overview),
      groups: overview?.groups ?? [],
      people,
    },
    pages.filter(({ id }) => shownOn.has(id)),
  );
  return (
    <div aria-live="polite">
      {names.map(({ name, publicName, unknownOn }) => (
        <p key={name} className="internal-name">
          <StateIcon state="degraded" size={14} />
          <span>
            {unknownOn.length === 0
              ? tNode("Customers don’t know “{name}”.", { name: <bdi>{name}</bdi> })
              : tNode("On {pages}: Customers don’t know “{name}”.", {
                  pages: unknownOn.join(", "),
                  name: <bdi>{name}</bdi>,
                })}{" "}
            {publicName !== null &&
              tNode("On the page it is “{name}”.", { name: <bdi>{publicName}</bdi> })}
          </span>
        </p>
      ))}
    </div>
  );
}
