/** Decides how a patch or a monitor changes an incident, and which timeline entries it adds. */
import type { Severity } from "../core/fields.ts";
import { incidentBounds } from "../core/limits.ts";
import { formatDuration } from "../core/text/formatting.ts";
import { incidentStatuses, severities as allSeverities } from "../core/statuses.ts";
import type {
  Incident,
  IncidentImpact,
  IncidentPatch,
  IncidentQuery,
  IncidentStatus,
  IncidentUpdate,
  Postmortem,
  PostmortemPatch,
  Translations,
} from "./schema.ts";

const defaultMessages: Record<IncidentStatus, string> = {
  investigating: "Investigating.",
  identified: "Identified.",
  monitoring: "Monitoring.",
  resolved: "Incident resolved.",
};

type Changeable = Pick<
  Incident,
  "title" | "status" | "severity" | "public" | "resolvedAt" | "monitorId" | "monitorIds" | "impacts"
>;

/**
 * Applies a patch to an incident, and returns the timeline entry that it adds. Any status can
 * follow any status. A patch without status and message adds no entry.
 */
export function applyPatch(
  incident: Changeable,
  patch: IncidentPatch,
  at: string,
): {
  change: Changeable;
  update: Pick<IncidentUpdate, "status" | "message" | "translations"> | null;
} {
  const status = patch.status ?? incident.status;
  const monitorIds = patch.monitorIds ?? incident.monitorIds;
  const change = {
    title: patch.title ?? incident.title,
    severity: patch.severity ?? incident.severity,
    public: patch.public ?? incident.public,
    monitorId: monitorIds[0] ?? null,
    monitorIds,
    impacts: selectImpacts(patch.impacts ?? incident.impacts, monitorIds),
    status,
    resolvedAt: status === "resolved" ? (incident.resolvedAt ?? at) : null,
  };
  const posts = patch.status !== undefined || patch.message !== undefined;
  return {
    change,
    update: posts
      ? {
          status,
          message: patch.message ?? defaultMessages[status],
          translations: emptyToNull(patch.translations),
        }
      : null,
  };
}

/** Selects the impacts on affected monitors. A monitor that was removed from an incident leaves none. */
export const selectImpacts = (impacts: readonly IncidentImpact[], monitorIds: readonly string[]) =>
  impacts.filter(({ monitorId }) => monitorIds.includes(monitorId));

/** A changed impact: its time in Unix milliseconds, the monitor, and the new impact; null for its end. */
export type ImpactChange = [at: number, monitorId: string, impact: IncidentImpact["impact"] | null];

type IncidentWithImpacts = Pick<Incident, "status" | "impacts">;

/** Impacts that pages show: none once the incident is resolved. */
const listShownImpacts = ({ status, impacts }: IncidentWithImpacts) =>
  new Map(status === "resolved" ? [] : impacts.map(({ monitorId, impact }) => [monitorId, impact]));

/**
 * Appends the changes of impacts from `before` to `after`. Incidents of older versions without a list start with
 * their impacts at `since`.
 */
export function appendImpactChanges(
  before: IncidentWithImpacts & { impactChanges: ImpactChange[] | null },
  after: IncidentWithImpacts,
  since: number,
  now: number,
): ImpactChange[] | null {
  const [old, current] = [listShownImpacts(before), listShownImpacts(after)];
  const changes = [...new Set([...old.keys(), ...current.keys()])].flatMap((id): ImpactChange[] =>
    old.get(id) === current.get(id) ? [] : [[now, id, current.get(id) ?? null]],
  );
  if (changes.length === 0) return before.impactChanges;
  const known =
    before.impactChanges ?? [...old].map(([id, impact]): ImpactChange => [since, id, impact]);
  return [...known, ...changes].slice(-incidentBounds.impactChanges.value);
}

/** Returns null for translations without any text. */
export const emptyToNull = (translations: Translations | undefined): Translations | null =>
  translations !== undefined && Object.keys(translations).length > 0 ? translations : null;

/** Applies a patch to a postmortem; null if it has no text. Edits of a published one keep its publication time. */
export function applyPostmortemPatch(
  before: Postmortem | null,
  { message, published }: Pick<PostmortemPatch, "message" | "published">,
  at: string,
): Postmortem | null {
  const text = message ?? before?.message;
  if (text === undefined) return null;
  const isPublished = published ?? (before !== null && before.publishedAt !== null);
  return {
    message: text,
    publishedAt: isPublished ? (before?.publishedAt ?? at) : null,
    updatedAt: at,
  };
}

export type IncidentAction = `incident.${"resolved" | "reopened" | "updated"}`;

/**
 * Returns `incident.resolved` if an incident becomes resolved, `incident.reopened` if it is no
 * longer resolved, else `incident.updated`.
 */
export function actionOf(before: IncidentStatus, after: IncidentStatus): IncidentAction {
  if (after === "resolved" && before !== "resolved") return "incident.resolved";
  if (before === "resolved" && after !== "resolved") return "incident.reopened";
  return "incident.updated";
}

/**
 * Returns how a monitor's state change affects incidents; null for no effect. A monitor named by an open public
 * incident of a person opens no incident: internal notes are added to that one.
 */
export function decideAutomaticStep(
  { hasOwn, isNamed }: { hasOwn: boolean; isNamed: boolean },
  severity: Severity | null,
  { before, after }: { before: string; after: string },
): "open" | "join" | "update" | "resolve" | null {
  if (!hasOwn) {
    if (severity === null) return null;
    if (isNamed) return after === "down" || (after === "up" && before === "down") ? "join" : null;
    return after === "down" ? "open" : null;
  }
  if (after === "up") return "resolve";
  return after === "down" || after === "degraded" ? "update" : null;
}

/**
 * Facts of a monitor's state change. They are stored with the text, because each status page has
 * its own name for the monitor.
 */
export type AutomaticUpdate =
  | { kind: "down" | "down-again" | "degraded" }
  /** `downSeconds` is null if the last state was not the outage. */
  | { kind: "up"; downSeconds: number | null }
  /** The monitor was deleted. */
  | { kind: "removed" };

/** Facts of the title of an incident that a monitor opened. */
export type AutomaticTitle = { kind: "down" };

/** Renders an `AutomaticTitle`. `name` is the monitor's name, or its name on a status page. */
export function composeIncidentTitle(name: string): string {
  return `${name} is down`;
}

/** Renders an update for visitors of status pages. The reason is only in an internal note. */
export function describeAutomaticUpdate(update: AutomaticUpdate, name: string): string {
  switch (update.kind) {
    case "down":
      return `${name} is not responding. We are investigating.`;
    case "down-again":
      return `${name} is not responding again. We are investigating.`;
    case "degraded":
      return `${name} is responding again, but not as well as usual. We are investigating.`;
    case "up":
      return update.downSeconds === null
        ? `${name} is responding again.`
        : `${name} is responding again after ${formatDuration(update.downSeconds)}.`;
    case "removed":
      return `${name} is no longer monitored.`;
  }
}

/** Parses the stored translations of an update; null without any. */
export const parseTranslations = (stored: string | null): Translations | null =>
  stored === null ? null : (JSON.parse(stored) as Translations);

/** Parses the stored impacts of an incident on these monitors. */
export const parseImpacts = (stored: string | null, monitorIds: readonly string[]) =>
  stored === null ? [] : selectImpacts(JSON.parse(stored) as IncidentImpact[], monitorIds);

/** Parses the stored changes of impacts; null without any. */
export const parseImpactChanges = (stored: string | null) =>
  stored === null ? null : (JSON.parse(stored) as ImpactChange[]);

/** Parses the stored facts of a title or update; null for a person's text. */
export function parseFacts<T extends AutomaticTitle | AutomaticUpdate>(
  stored: string | null,
): T | null {
  return stored === null ? null : (JSON.parse(stored) as T);
}

/** Returns the combinations of status and severity that a list query selects; null for all. */
export function parseWantedStates(
  query: Pick<IncidentQuery, "status" | "severity" | "open">,
): { status: IncidentStatus; severity: Severity }[] | null {
  if (query.status === undefined && query.severity === undefined && query.open === undefined)
    return null;
  const statuses = incidentStatuses.filter(
    (status) =>
      (query.status === undefined || query.status === status) &&
      (query.open === undefined || (query.open === "true") === (status !== "resolved")),
  );
  const severities = query.severity === undefined ? allSeverities : [query.severity];
  return statuses.flatMap((status) => severities.map((severity) => ({ status, severity })));
}

/** Placeholders of a template, such as `{{monitors}}`. */
export const templatePlaceholders = ["monitors", "severity", "date", "time"] as const;
export type TemplatePlaceholder = (typeof templatePlaceholders)[number];
