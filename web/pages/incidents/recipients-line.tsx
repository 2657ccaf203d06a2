import type { IncidentAudience } from "../../../src/dashboard/incident-schema.ts";
import { dot, plural } from "../../components/format.ts";

/** `Shown on Acme status · will notify 214 subscribers and Slack #ops`. */
export function RecipientsLine({
  audience,
  isPublic,
  resolves = false,
}: {
  audience: IncidentAudience | undefined;
  isPublic: boolean;
  /** A resolution goes only to channels that were alerted of the incident. */
  resolves?: boolean;
}) {
  if (audience === undefined) return <span className="audience" />;
  const pages = isPublic ? audience.pages : [];
  const channels = resolves ? audience.resolution : audience.updates;
  const subscribers = pages.reduce((sum, page) => sum + page.subscribers, 0);
  const recipients = [
    ...(subscribers > 0 ? [plural(subscribers, "subscriber")] : []),
    ...(channels.length > 3
      ? [plural(channels.length, "channel")]
      : channels.map(({ name }) => name)),
  ];
  const names = new Intl.ListFormat("en-GB").format(recipients);
  return (
    <span className="audience" title={channels.map(({ name }) => name).join(", ")}>
      {pages.length > 0 ? `Shown on ${pages.map(({ title }) => title).join(", ")}` : "Not public"}
      {dot}
      {recipients.length > 0 ? `will notify ${names}` : "will notify nobody"}
    </span>
  );
}
