/** Finds out who would be notified of a change by a tool. */
import { findAudience, findWindowAudience } from "../dashboard/incident-service.ts";
import type { Scope } from "../events/scope.ts";
import { getIncident } from "../incidents/service.ts";
import { getWindow } from "../monitoring/maintenance/service.ts";
import type { Json } from "./operations.ts";
import type { RestClient } from "./rest-client.ts";
import type { AudienceKind } from "./tools.ts";

type Page = { title: string; slug: string; subscribers: number };

/** Recipients of a change. */
export type Notified = {
  /** Alert channels of the team. */
  channels: { name: string; type: string }[];
  /** Escalation policies that start with an incident of its severity. */
  escalationPolicies: string[];
  /** Status pages that show it, with their subscribers. */
  statusPages: Page[];
  /** Subscribers that get a message. */
  subscribers: number;
};

type Change = { kind: AudienceKind; id: string | undefined; values: Json };

/** Returns the recipients of a change. Throws NOT_FOUND. */
export async function findNotified(
  scope: Scope,
  rest: RestClient,
  { kind, id, values }: Change,
): Promise<Notified> {
  if (kind === "maintenance" && id !== undefined) {
    const window = await getWindow(scope, id);
    const isAnnounced = window.public && window.state !== "over";
    return buildAudience([], [], isAnnounced ? await findWindowAudience(scope, window) : [], true);
  }
  if (kind === "maintenance") {
    const { monitorIds, groupIds } = values as Record<"monitorIds" | "groupIds", string[]>;
    const pages = await findWindowAudience(scope, { monitorIds, groupIds });
    return buildAudience(
      [],
      [],
      values["public"] === false ? [] : pages,
      values["notify"] === true,
    );
  }
  const incident = id === undefined ? null : await getIncident(scope, id);
  const monitorIds = values["monitorIds"] as string[] | undefined;
  const audience = await findAudience(scope, {
    ...(id !== undefined && { incidentId: id }),
    ...(monitorIds !== undefined && { monitorIds }),
  });
  const isPublic = (values["public"] ?? incident?.public ?? true) === true;
  const pages = isPublic ? audience.pages : [];
  const notify = values["notify"] === true;
  if (kind === "postmortem") {
    const publishes = values["published"] === true;
    return buildAudience([], [], publishes ? pages : [], publishes && notify);
  }
  const isPosted = id === undefined || "status" in values || "message" in values;
  const step = (values["status"] ?? incident?.status) === "resolved" ? "resolution" : "updates";
  const policies = id === undefined ? await findPolicies(rest, values["severity"] ?? "minor") : [];
  return buildAudience(isPosted ? audience[step] : [], policies, pages, isPosted && notify);
}

const buildAudience = (
  channels: readonly { name: string; type: string }[],
  escalationPolicies: string[],
  pages: readonly Page[],
  notify: boolean,
): Notified => ({
  channels: channels.map(({ name, type }) => ({ name, type })),
  escalationPolicies,
  statusPages: pages.map(({ title, slug, subscribers }) => ({ title, slug, subscribers })),
  subscribers: notify ? pages.reduce((sum, { subscribers }) => sum + subscribers, 0) : 0,
});

async function findPolicies(rest: RestClient, severity: unknown): Promise<string[]> {
  const { data } = await rest.send("listEscalationPolicies", {});
  const policies = data as { name: string; incidentSeverities: unknown[] }[];
  return policies
    .filter(({ incidentSeverities }) => incidentSeverities.includes(severity))
    .map(({ name }) => name);
}
