/** Builds the admin page's views of an incident: preview, audience and traces. */
import { hourMs } from "../core/time/clock.ts";
import { loadSnapshot } from "../alerting/deciding/snapshot.ts";
import { selectIncidentAudience, type IncidentStep } from "../alerting/deciding/rules.ts";
import type { IncidentRecord, UpdateRecord } from "../incidents/store.ts";
import { forEachListed, type ListOrStream } from "../core/text/streamed-list.ts";
import { runInOnCallTurn } from "../events/organization-turns.ts";
import type { Scope } from "../events/scope.ts";
import { getIncident } from "../incidents/service.ts";
import { getWindow } from "../monitoring/maintenance/service.ts";
import { insertIncident, patchIncident } from "../incidents/statements.ts";
import { previewIncidentPage } from "../status-pages/site/preview-service.ts";
import type {
  IncidentAudienceQuery,
  IncidentDraft,
  IncidentPreview,
  IncidentTraces,
  WindowReceipt,
} from "./incident-schema.ts";
import { buildReceipts, listStatesInIncident } from "./incident-rules.ts";
import {
  findAuthors,
  findChanges,
  findNames,
  findPagesShowing,
  findReceivers,
  findNotifiedChannels,
} from "./incident-store.ts";
import { findStateEventsBetween } from "./timeline-store.ts";

/** Previews the public page with this draft; stores nothing. Throws NOT_FOUND. */
export async function previewIncident(
  scope: Scope,
  { incidentId, statusPageId, language, ...draft }: IncidentDraft,
): Promise<IncidentPreview> {
  const { organizationId } = scope;
  // Limited callers can't see status pages.
  if (scope.groupIds !== null) return { html: null, style: {} };
  const now = scope.clock();
  const before = incidentId === null ? null : await getIncident(scope, incidentId);
  const { after, posted } =
    before === null
      ? insertIncident(organizationId, completeDraft(draft), "manual", now)
      : patchIncident(organizationId, before, draft, now);
  const updates = before === null ? [] : await readLatestUpdates(before.updates);
  if (posted !== null) updates.push(posted);
  const page = await previewIncidentPage(scope, { ...after, updates }, now, {
    statusPageId,
    language,
  });
  return page ?? { html: null, style: {} };
}

/** Maximum updates in a preview. */
const previewedUpdates = 100;

async function readLatestUpdates(all: ListOrStream<UpdateRecord>): Promise<UpdateRecord[]> {
  const latest: UpdateRecord[] = [];
  await forEachListed(all, (update) => {
    latest.push(update);
    if (latest.length >= previewedUpdates) latest.shift();
  });
  return latest;
}

/** Fills missing fields of a draft with defaults. */
function completeDraft(
  draft: Omit<IncidentDraft, "incidentId" | "status" | "statusPageId" | "language">,
) {
  const { title = "Incident", severity = "minor", message = "Incident opened." } = draft;
  const { monitorIds = [], impacts = [], translations = {} } = draft;
  return {
    translations,
    title,
    severity,
    message,
    public: draft.public ?? true,
    monitorIds,
    impacts,
  };
}

/** Returns the recipients of an update and of the resolution, and the pages that show it. Throws NOT_FOUND. */
export const findAudience = (scope: Scope, query: IncidentAudienceQuery) =>
  runInOnCallTurn(scope, () => readAudience(scope, query));

async function readAudience(scope: Scope, { incidentId, monitorIds = [] }: IncidentAudienceQuery) {
  const { store, organizationId } = scope;
  const incident = incidentId === undefined ? null : await getIncident(scope, incidentId);
  const incidentIds = incident === null ? [] : [incident.id];
  const { channels, notified } = await loadSnapshot(store, organizationId, {
    monitorIds: [],
    incidentIds,
  });
  const selectChannels = (step: IncidentStep) =>
    selectIncidentAudience(
      [...channels.values()],
      step,
      notified.get(incident?.id ?? "") ?? new Map(),
      {
        byMonitor: false,
        monitorMuted: false,
        monitorChannels: [],
      },
    ).flatMap((id) => {
      const channel = channels.get(id);
      return channel === undefined ? [] : [{ id, name: channel.name, type: channel.type }];
    });
  const subject = incident ?? { monitorIds, origin: "manual" };
  return {
    updates: selectChannels("updated"),
    resolution: selectChannels("resolved"),
    // Limited callers can't see status pages.
    pages: scope.groupIds === null ? await findPagesShowing(scope, subject) : [],
  };
}

/** Returns the pages that would announce a maintenance window. */
export const findWindowAudience = (
  scope: Scope,
  { monitorIds = [], groupIds = [] }: { monitorIds?: string[]; groupIds?: string[] },
) => findPagesShowing(scope, { monitorIds, groupIds, origin: "manual" });

/** Maximum lines of each kind, and maximum monitors, in the timeline of an incident. */
const limits = { lines: 100, monitors: 20, receivers: 2_000 };
/** Maximum time from an update to the creation of its notices, and difference between the clocks of nodes. */
const noticeDelayMs = hourMs;

/** Returns authors, other changes, monitor states and notified channels of an incident. Throws NOT_FOUND. */
export async function getTraces(scope: Scope, incidentId: string): Promise<IncidentTraces> {
  const incident = await getIncident(scope, incidentId);
  const updates: { id: string; createdAt: string }[] = [];
  await forEachListed(
    incident.updates,
    ({ id, createdAt }) => void updates.push({ id, createdAt }),
  );
  const latestAt = Date.parse(updates.at(-1)?.createdAt ?? incident.createdAt);
  const [authors, notifiedChannels, states, changes, receivers] = await Promise.all([
    findAuthors(scope, incidentId),
    findNotifiedChannels(scope, incident),
    findStatesDuring(scope, incident),
    findChanges(scope, incidentId, limits.lines),
    findReceivers(scope, {
      id: incidentId,
      from: Date.parse(incident.createdAt) - noticeDelayMs,
      to: latestAt + noticeDelayMs,
      limit: limits.receivers,
    }),
  ]);
  // Each update has one audit row, in the same order. The oldest rows can be removed already.
  const latest = updates.slice(-authors.length);
  return {
    authors: latest.flatMap(({ id: updateId }, index) => {
      const author = authors.slice(-latest.length)[index];
      return author === undefined ? [] : [{ updateId, ...author }];
    }),
    states,
    changes: changes.toReversed().map(({ fields, ...change }) => ({
      ...change,
      fields: fields === null ? [] : (JSON.parse(fields) as string[]),
    })),
    receipts: buildReceipts(updates, receivers),
    told: notifiedChannels,
  };
}

/** Returns the subscribers that were notified of a maintenance window. Throws NOT_FOUND. */
export async function getWindowReceipt(scope: Scope, id: string): Promise<WindowReceipt> {
  const { createdAt } = await getWindow(scope, id);
  const at = Date.parse(createdAt);
  const range = { from: at - noticeDelayMs, to: at + noticeDelayMs, limit: limits.receivers };
  return { receivers: await findReceivers(scope, { id, ...range }) };
}

/** Reads the monitor states during an incident, except states that are already recorded as notes. */
async function findStatesDuring(
  scope: Scope,
  incident: IncidentRecord,
): Promise<IncidentTraces["states"]> {
  const monitorIds = incident.monitorIds.slice(0, limits.monitors);
  const from = Date.parse(incident.createdAt);
  const to = incident.resolvedAt === null ? scope.clock() : Date.parse(incident.resolvedAt);
  const noted = new Set<string>();
  await forEachListed(
    incident.notes,
    ({ author, createdAt }) => void noted.add(`${author.id} ${createdAt}`),
  );
  const all = await Promise.all(
    (await findNames(scope, monitorIds)).map(async ({ id, name }) => {
      const begun = await findStateEventsBetween(scope, id, from, to + 1);
      return listStatesInIncident(begun, incident.createdAt).map((state) => ({
        ...state,
        monitorId: id,
        name,
      }));
    }),
  );
  return all
    .flat()
    .filter(({ monitorId, at }) => !noted.has(`${monitorId} ${at}`))
    .toSorted((one, other) => one.at.localeCompare(other.at))
    .slice(-limits.lines);
}
