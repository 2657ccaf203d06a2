import type { IncidentAudience } from "../../../src/dashboard/incident-schema.ts";
import { useProblems } from "../../data/problems.ts";
import { dot, pluralize } from "../../components/display/format.ts";
import { Names, shortenNames } from "../../components/display/name-list.tsx";
import { StateIcon } from "../../components/display/state-icon.tsx";

const countSubscribers = (pages: IncidentAudience["pages"]) =>
  pages.reduce((sum, page) => sum + page.subscribers, 0);

/** Counts pages and subscribers, for example `2 pages, 32 people`. Empty without pages. */
export const describePages = (pages: IncidentAudience["pages"]): string =>
  [
    ...(pages.length > 0 ? [pluralize(pages.length, "page")] : []),
    ...(countSubscribers(pages) > 0
      ? [pluralize(countSubscribers(pages), "person", "people")]
      : []),
  ].join(", ");

/** Counts the receivers of an update, such as `2 pages, 32 people, 1 channel`. Empty for none. */
export function countRecipients(
  audience: IncidentAudience | undefined,
  { isPublic, resolves = false }: { isPublic: boolean; resolves?: boolean },
): string {
  const pages = isPublic ? describePages(audience?.pages ?? []) : "";
  const channels = (resolves ? audience?.resolution : audience?.updates)?.length ?? 0;
  const notified = channels > 0 ? pluralize(channels, "channel") : "";
  return [pages, notified].filter(Boolean).join(", ");
}

/** Label of the button that creates an incident, for example `Post to 2 pages, 32 people`. */
export function describePosting(audience: IncidentAudience | undefined, isPublic: boolean): string {
  const recipients = countRecipients(audience, { isPublic });
  if (recipients === "") return "Create incident";
  const hasPages = isPublic && (audience?.pages.length ?? 0) > 0;
  return `${hasPages ? "Post to" : "Create and notify"} ${recipients}`;
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
  const shorten = (some: typeof channels) => shortenNames(some.map(({ name }) => name));
  const recipients = [
    ...(subscribers > 0 ? [pluralize(subscribers, "subscriber")] : []),
    ...shorten(channels),
  ];
  const failing = channels.filter(({ id }) => problems?.channels.some((one) => one.id === id));
  return (
    <span className="audience" title={channels.map(({ name }) => name).join(", ")}>
      {pages.length > 0 ? (
        <>
          Shown on <Names names={pages.map(({ title }) => title)} />
        </>
      ) : (
        "Not public"
      )}
      {dot}
      will notify {recipients.length > 0 ? <Names names={recipients} /> : "no one"}
      {failing.length > 0 && (
        <b className="degraded">
          <StateIcon state="degraded" size={13} />{" "}
          <span>
            <Names names={shorten(failing)} /> {failing.length === 1 ? "is" : "are"} failing
          </span>
        </b>
      )}
    </span>
  );
}
