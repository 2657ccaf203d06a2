import type { IncidentAudience } from "../../../src/dashboard/incident-schema.ts";
import { plural } from "../../components/figures.ts";

/** `Shown on Acme status · 214 subscribers and Slack #ops will be told`. */
export function AudienceLine({
  audience,
  isPublic,
  resolves = false,
}: {
  audience: IncidentAudience | undefined;
  isPublic: boolean;
  /** A resolution is told only to channels that heard of the incident. */
  resolves?: boolean;
}) {
  if (audience === undefined) return <span className="audience" />;
  const pages = isPublic ? audience.pages : [];
  const channels = resolves ? audience.resolution : audience.updates;
  const subscribers = pages.reduce((sum, page) => sum + page.subscribers, 0);
  const told = [
    ...(subscribers > 0 ? [plural(subscribers, "subscriber")] : []),
    ...(channels.length > 3
      ? [plural(channels.length, "channel")]
      : channels.map(({ name }) => name)),
  ];
  const names = new Intl.ListFormat("en-GB").format(told);
  return (
    <span className="audience" title={channels.map(({ name }) => name).join(", ")}>
      {pages.length > 0 ? `Shown on ${pages.map(({ title }) => title).join(", ")}` : "Not public"}
      {" · "}
      {told.length > 0 ? `${names} will be told` : "no channel will be told"}
    </span>
  );
}
