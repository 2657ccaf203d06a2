/** Describes who sees an incident and who is notified, before it is posted. */
import type { IncidentAudience } from "../../../src/dashboard/incident-schema.ts";
import { useProblems } from "../../data/problems.ts";
import { dot } from "../../components/display/format.ts";
import { Names, shortenNames } from "../../components/display/name-list.tsx";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { t, tCount, tNode } from "../../language/text.ts";

const countSubscribers = (pages: IncidentAudience["pages"]) =>
  pages.reduce((sum, page) => sum + page.subscribers, 0);

/** Counts pages and subscribers, for example `2 pages, 32 people`. Empty without pages. */
export const describePages = (pages: IncidentAudience["pages"]): string =>
  [
    ...(pages.length > 0 ? [tCount(pages.length, "{count} page", "{count} pages")] : []),
    ...(countSubscribers(pages) > 0
      ? [tCount(countSubscribers(pages), "{count} person", "{count} people")]
      : []),
  ].join(", ");

/** Counts the receivers of an update, such as `2 pages, 32 people, 1 channel`. Empty for none. */
export function countRecipients(
  audience: IncidentAudience | undefined,
  { isPublic, resolves = false }: { isPublic: boolean; resolves?: boolean },
): string {
  const pages = isPublic ? describePages(audience?.pages ?? []) : "";
  const channels = (resolves ? audience?.resolution : audience?.updates)?.length ?? 0;
  const notified = channels > 0 ? tCount(channels, "{count} channel", "{count} channels") : "";
  return [pages, notified].filter(Boolean).join(", ");
}

/** Label of the button that creates an incident, for example `Post to 2 pages, 32 people`. */
export function describePosting(audience: IncidentAudience | undefined, isPublic: boolean): string {
  const recipients = countRecipients(audience, { isPublic });
  if (recipients === "") return t("Create incident");
  const hasPages = isPublic && (audience?.pages.length ?? 0) > 0;
  return hasPages
    ? t("Post to {recipients}", { recipients })
    : t("Create and notify {recipients}", { recipients });
}

/**
 * Describes the audience, for example `Shown on Acme status · will notify 214 subscribers, Slack
 * #ops and E-mail`. Failing channels are listed below.
 */
export function RecipientsLine({
  audience,
  isPublic,
  resolves = false,
}: {
  audience: IncidentAudience | undefined;
  isPublic: boolean;
  /** Set for a resolution, which is sent only to channels that were alerted of the incident. */
  resolves?: boolean;
}) {
  const { data: problems } = useProblems();
  if (audience === undefined) return <span className="audience" />;
  const pages = isPublic ? audience.pages : [];
  const channels = resolves ? audience.resolution : audience.updates;
  const subscribers = countSubscribers(pages);
  const shorten = (portion: typeof channels) => shortenNames(portion.map(({ name }) => name));
  const recipients = [
    ...(subscribers > 0 ? [tCount(subscribers, "{count} subscriber", "{count} subscribers")] : []),
    ...shorten(channels),
  ];
  const failing = channels.filter(({ id }) => problems?.channels.some((one) => one.id === id));
  return (
    <span className="audience" title={channels.map(({ name }) => name).join(", ")}>
      {pages.length > 0
        ? tNode("Shown on {names}", { names: <Names names={pages.map(({ title }) => title)} /> })
        : t("Not public")}
      {dot}
      {recipients.length > 0
        ? tNode("will notify {names}", { names: <Names names={recipients} /> })
        : t("will notify no one")}
      {failing.length > 0 && (
        <b className="degraded">
          <StateIcon state="degraded" size={13} />{" "}
          <span>
            {failing.length === 1
              ? tNode("{names} is failing", { names: <Names names={shorten(failing)} /> })
              : tNode("{names} are failing", { names: <Names names={shorten(failing)} /> })}
          </span>
        </b>
      )}
    </span>
  );
}
