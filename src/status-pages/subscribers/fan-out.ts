/** Turns events into notices for subscribers: one row per notice, and one delivery per subscriber. */
import {
  type Leases,
  createLeaseValue,
  guardStoreWithLease,
  createLeasedWork,
} from "../../cluster/leases.ts";
import { type Clock, formatTimestamp, minuteMs } from "../../core/time/clock.ts";
import { createId } from "../../core/ids.ts";
import type { Statement, Store } from "../../database/store.ts";
import { type OutboxRoom, createOutboxRoom } from "../../alerting/sending/outbox-room.ts";
import { FairFollower, type Outcome, type FollowerWork } from "../../events/fair-follower.ts";
import type { LoggedEvent } from "../../events/catalog.ts";
import { readSince } from "../../events/log.ts";
import type { Log } from "../../core/log.ts";
import { computeSituation } from "../../monitoring/maintenance/rules.ts";
import { findDeletedWindow } from "../../monitoring/maintenance/store.ts";
import type { EventReader } from "../../events/reader.ts";
import { createOnFirstUse } from "../../core/first-use.ts";
import type { LoadedPage, loaderOf } from "../load.ts";
import type { PublicIncident } from "../formats/public-data.ts";
import { findPublicPageById } from "../store.ts";
import { getLanguage } from "../languages/catalog.ts";
import { describeUpdate } from "../languages/updates.ts";
import type { MessageSources } from "../languages/updates.ts";
import type { IncidentData, MaintenanceData, NoticeContent } from "./notice.ts";
import { listDueDigests } from "./digests.ts";
import { concernsSubscribers, type NoticedEvent, type NoticeScope, widenScope } from "./rules.ts";
import {
  countRecipients,
  hasDigests,
  insertDeliveries,
  insertNotice,
  findLastMaintenanceNotice,
  findLastNotice,
  findOrganizationsWithSubscribers,
  findPagesWithSubscribers,
  findRecipients,
} from "./store.ts";

type Dependencies = {
  store: Store;
  clock: Clock;
  events: EventReader;
  leases: Leases;
  log: Log;
  /** Maximum rows per write. Tests set fewer. */
  rowsAtOnce?: number;
};

/** A notice, and the choice that its recipients must have made. */
type ScopedContent = {
  content: NoticeContent;
  scope: NoticeScope;
  /** The maintenance window that recipients must have heard of; absent for all recipients. */
  notifiedOfWindow?: string;
};

/** Interval between two searches for due digests, in milliseconds. */
const digestSearchMs = 10 * minuteMs;

type ShownPage = { id: string; loaded: LoadedPage };

/** Progress of a notice with too many subscribers for one write. */
type Part = {
  seq: number;
  pageId: string;
  noticeId: string;
  /** Id of the last subscriber with a delivery. */
  after: string;
};

/** Statements of one write, with the remaining limits on its deliveries. */
type Portion = {
  statements: Statement[];
  /** Deliveries that this write still has room for. */
  left: number;
  /** Deliveries that the outbox still has room for. */
  room: number;
  /** Deliveries left out because the outbox is full. */
  leftOut: number;
  /** Scopes of the notices that this write adds, by page and subject. */
  scopes: Map<string, NoticeScope>;
};

/** The follower of the event log on the node with the lease. */
type FanOutState = { follower: FairFollower<NoticedEvent, Part>; room: OutboxRoom };

/** Follows the event log and writes notices with their deliveries. Organizations take turns. */
export class SubscriberFanOut {
  readonly #dependencies: Dependencies;
  readonly #loader: { get: () => Promise<ReturnType<typeof loaderOf>> };
  /** Time of the last search for due digests. */
  #plannedAt = -Infinity;
  readonly #following: () => FanOutState | null;
  readonly #running: ReturnType<typeof createLeasedWork>;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    const { store, leases } = dependencies;
    this.#loader = createOnFirstUse(async () => (await import("../load.ts")).loaderOf(store));
    this.#following = createLeaseValue(leases, "subscribers", (lease) =>
      this.#createFanOutState(guardStoreWithLease(store, lease)),
    );
    this.#running = createLeasedWork(dependencies, "subscribers", () => this.#follow());
  }

  start() {
    return this.#running.start();
  }

  stop() {
    return this.#running.stop();
  }

  /** Saves the cursor past events without notices, and ends reports of a full outbox once it has room again. */
  async save() {
    const following = this.#following();
    if (following === null) return;
    const { follower, room } = following;
    await follower.save();
    await follower.write(
      "ending the problem of a full outbox",
      await room.listEnds(this.#dependencies.clock()),
    );
    // The search reads all subscribers, so it does not run each minute.
    const now = this.#dependencies.clock();
    if (Math.abs(now - this.#plannedAt) < digestSearchMs) return;
    await this.planDigests();
    this.#plannedAt = now;
  }

  /** Appends the events of digests that are due. */
  async planDigests() {
    const { store, clock } = this.#dependencies;
    await this.#following()?.follower.write(
      "starting weekly digests",
      await listDueDigests(store, clock()),
    );
  }

  /** Processes all waiting events once. Tests call it instead of `start`. */
  async runOnce() {
    const follower = this.#following()?.follower;
    if (follower === undefined) return;
    const { seq } = await follower.cursor.read();
    await follower.handleBatch(await readSince(this.#dependencies.store, seq, 10_000));
    await follower.drain();
  }

  async #follow() {
    const follower = this.#following()?.follower;
    if (follower === undefined) return async () => {};
    const stop = await follower.start(this.#dependencies.events, this.#dependencies.log);
    return async () => {
      await stop();
      await follower.save().catch(() => {});
    };
  }

  #createFanOutState(leased: Store): FanOutState {
    const { store, rowsAtOnce } = this.#dependencies;
    const room = createOutboxRoom(leased, "notices");
    const follower = new FairFollower<NoticedEvent, Part>(leased, {
      name: "subscribers",
      concerns: concernsSubscribers,
      listening: (organizationIds) => findOrganizationsWithSubscribers(store, organizationIds),
      decide: (work) => this.#decide(work, room),
      clock: this.#dependencies.clock,
      log: this.#dependencies.log,
      ...(rowsAtOnce !== undefined && { rowsAtOnce }),
    });
    return { follower, room };
  }

  async #decide(
    { organizationId, events, part, rows }: FollowerWork<NoticedEvent, Part>,
    room: OutboxRoom,
  ): Promise<Outcome<Part>> {
    const now = this.#dependencies.clock();
    const portion: Portion = {
      statements: [],
      left: rows,
      room: await room.countAvailable(organizationId, now),
      leftOut: 0,
      scopes: new Map(),
    };
    const outcome = await this.#addNotices(
      portion,
      await this.#listVisiblePages(organizationId),
      events,
      part,
    );
    const added = rows - portion.left;
    const { leftOut } = portion;
    const reports = await room.add({ organizationId, now, added, leftOut });
    return { ...outcome, statements: [...portion.statements, ...reports], rows: added };
  }

  /** Adds the notices of these events to `portion`, up to its limits. */
  async #addNotices(
    portion: Portion,
    pages: readonly ShownPage[],
    events: readonly NoticedEvent[],
    earlier: Part | null,
  ): Promise<Pick<Outcome<Part>, "finished" | "part">> {
    for (const [finished, event] of events.entries()) {
      // Some notices are based on earlier ones, which must be written first.
      const isBlocked = isBasedOnEarlier(event) && portion.statements.length > 0;
      if (isBlocked || portion.left <= 0) return { finished, part: null };
      const part = earlier?.seq === event.seq ? earlier : null;
      for (const page of pages) {
        if (part !== null && page.id < part.pageId) continue;
        const ownPart = part?.pageId === page.id ? part : null;
        const rest = await this.#addNotice(page, event, portion, ownPart);
        if (rest !== null) return { finished, part: rest };
      }
    }
    return { finished: events.length, part: null };
  }

  /** Loads an organization's visible pages with confirmed subscribers. */
  async #listVisiblePages(organizationId: string): Promise<ShownPage[]> {
    const { store } = this.#dependencies;
    const pages: ShownPage[] = [];
    for (const id of await findPagesWithSubscribers(store, organizationId)) {
      const page = await findPublicPageById({ store, organizationId }, id);
      if (page === null) continue;
      const load = await this.#loader.get();
      pages.push({ id, loaded: await load(page, this.#dependencies.clock()) });
    }
    return pages;
  }

  /** Adds a page's notice of an event, continuing from `part`. Returns the new progress; null if it is complete. */
  async #addNotice(
    { id: pageId, loaded }: ShownPage,
    event: NoticedEvent,
    portion: Portion,
    part: Part | null,
  ): Promise<Part | null> {
    const now = this.#dependencies.clock();
    const { store } = this.#dependencies;
    const { organizationId, seq } = event;
    const found = await findContent(store, { loaded, id: pageId }, event, part);
    if (found === null) return null;
    const { content, notifiedOfWindow = null } = found;
    const after = part?.after ?? "";
    const pageKey = { organizationId, pageId };
    const scope = await this.#findScope(pageKey, event, found, portion);
    const isDigest = content.type === "digest";
    if (portion.room <= 0) {
      portion.leftOut += await countRecipients(store, pageKey, {
        seq,
        after,
        scope,
        isDigest,
        notifiedOfWindow,
      });
      return null;
    }
    const available = Math.max(1, portion.left);
    const recipients = await findRecipients(store, pageKey, {
      seq,
      after,
      scope,
      isDigest,
      notifiedOfWindow,
      limit: available + 1,
    });
    const to = recipients.slice(0, available);
    const last = to.at(-1);
    if (last === undefined && (part !== null || isDigest || !(await hasDigests(store, pageKey))))
      return null;
    const id = part?.noticeId ?? createId(now);
    const data = JSON.stringify(content.data);
    const row = { organizationId, pageId, id, at: event.at, type: content.type, data, scope };
    if (part === null) portion.statements.push(insertNotice(row));
    if (last === undefined) return null;
    portion.statements.push(insertDeliveries(row, to, now, formatTimestamp(now)));
    portion.left -= to.length;
    portion.room -= to.length;
    return recipients.length === to.length ? null : { seq, pageId, noticeId: id, after: last.id };
  }

  /** Returns the scope of a notice, widened by the earlier notices of its incident. */
  async #findScope(
    of: { organizationId: string; pageId: string },
    { subjectId }: NoticedEvent,
    { scope }: ScopedContent,
    { scopes }: Portion,
  ): Promise<NoticeScope> {
    if (scope.severity === null) return scope;
    const key = `${of.pageId} ${subjectId}`;
    const last =
      scopes.get(key) ??
      (await findLastNotice(this.#dependencies.store, of, subjectId))?.scope ??
      null;
    const widened = widenScope(scope, last);
    scopes.set(key, widened);
    return widened;
  }
}

async function findContent(
  store: Store,
  page: ShownPage,
  event: NoticedEvent,
  part: Part | null,
): Promise<ScopedContent | null> {
  switch (event.type) {
    case "maintenance.updated":
      return findChange(store, page, event, part);
    case "maintenance.deleted":
      return findCancellation(store, page.id, event, part);
    case "maintenance.restored":
      return findRestoredNotice(store, page, event, part);
    default:
      return (
        (await buildContent(page.loaded, event)) ??
        (isRemoval(event) ? findRemoval(store, page.id, event) : null)
      );
  }
}

/** Returns the content of the notice, with the page's public names; null if the page does not show the event. */
async function buildContent(
  loaded: LoadedPage,
  event: NoticedEvent,
): Promise<ScopedContent | null> {
  switch (event.type) {
    case "maintenance.created": {
      if (event.data?.notify === false) return null;
      const window = await loaded.findWindow(event.subjectId);
      if (window === null) return null;
      return buildMaintenanceContent(loaded, "maintenance.planned", window);
    }
    case "maintenance.reminded":
    case "maintenance.started":
    case "maintenance.ended": {
      const [start, end] = [Date.parse(event.data.startsAt), Date.parse(event.data.endsAt)];
      const window = await loaded.findWindow(event.subjectId, { start, end });
      // A reminder has its own switch.
      if (window === null || !(window.progressNotices || event.type === "maintenance.reminded"))
        return null;
      return buildMaintenanceContent(loaded, noticeOf[event.type], window);
    }
    case "incident.reopened":
      return buildIncidentContent(loaded, event, "incident.updated");
    case "incident.opened":
    case "incident.updated":
    case "incident.resolved":
      return buildIncidentContent(loaded, event, event.type);
    case "incident.postmortem-published":
      return event.data.notify ? buildPostmortemContent(loaded, event.subjectId) : null;
    case "status-page.digest-due":
      return event.subjectId === loaded.page.id
        ? { content: { type: "digest", data: event.data }, scope: wholePage }
        : null;
    case "maintenance.updated":
    case "maintenance.deleted":
    case "maintenance.restored":
    case "subscriber.added":
    case "subscriber.confirmed":
      return null;
    default:
      return event satisfies never;
  }
}

const wholePage: NoticeScope = { severity: null, componentIds: null };

const noticeOf = {
  "maintenance.reminded": "maintenance.reminder",
  "maintenance.started": "maintenance.started",
  "maintenance.ended": "maintenance.completed",
} as const;

type AnnouncedWindow = NonNullable<Awaited<ReturnType<LoadedPage["findWindow"]>>>;

function buildMaintenanceContent(
  loaded: LoadedPage,
  type: Extract<NoticeContent, { data: MaintenanceData }>["type"],
  window: AnnouncedWindow,
): ScopedContent {
  const { id, title, description, startsAt, endsAt, times, monitors } = window;
  const componentIds = loaded.listComponentIds(monitors);
  const data = { id, title, description, startsAt, endsAt, times, componentIds };
  return { content: { type, data } as NoticeContent, scope: { severity: null, componentIds } };
}

/** Returns the notice of a change of maintenance; null if subscribers know everything that the page shows. */
async function findChange(
  store: Store,
  { loaded, id: pageId }: ShownPage,
  { organizationId, subjectId, data }: Extract<NoticedEvent, { type: "maintenance.updated" }>,
  part: Part | null,
): Promise<ScopedContent | null> {
  if (data?.notify === false) return null;
  const window = await loaded.findWindow(subjectId);
  if (window === null || !window.progressNotices) return null;
  // The rest of the recipients gets the notice that the first ones already have.
  const ownNoticeId = part?.noticeId ?? "";
  const last = await findLastMaintenanceNotice(
    store,
    { organizationId, pageId },
    subjectId,
    ownNoticeId,
  );
  if (last === null || last.type === "maintenance.cancelled")
    return buildMaintenanceContent(loaded, "maintenance.planned", window);
  const found = buildMaintenanceContent(loaded, "maintenance.changed", window);
  const known = JSON.parse(last.data) as MaintenanceData;
  const { componentIds = last.scope?.componentIds } = known;
  const scope = widenScope(found.scope, last.scope);
  const isSame =
    known.title === window.title &&
    known.description === window.description &&
    (known.times === undefined || known.times === window.times) &&
    Bun.deepEquals(componentIds?.toSorted(), found.scope.componentIds?.toSorted());
  return isSame ? null : { ...found, scope };
}

/**
 * Returns the notice that announced maintenance does not take place; null for past maintenance, and if the page sent
 * no notice of it. It has the texts that its recipients know.
 */
async function findCancellation(
  store: Store,
  pageId: string,
  { organizationId, subjectId, at }: NoticedEvent,
  part: Part | null,
): Promise<ScopedContent | null> {
  const ownNoticeId = part?.noticeId ?? "";
  const last = await findLastMaintenanceNotice(
    store,
    { organizationId, pageId },
    subjectId,
    ownNoticeId,
  );
  if (last === null || last.type === "maintenance.cancelled") return null;
  const window = await findDeletedWindow(store, organizationId, subjectId);
  if (window === null || !window.public) return null;
  const { current, next } = computeSituation(window, Date.parse(at));
  const missed = current ?? next;
  if (missed === null) return null;
  const data = {
    ...(JSON.parse(last.data) as MaintenanceData),
    startsAt: formatTimestamp(missed.start),
    endsAt: formatTimestamp(missed.end),
  };
  const content = { type: "maintenance.cancelled", data } as const;
  return { content, scope: last.scope ?? wholePage, notifiedOfWindow: subjectId };
}

/** Returns the notice that cancelled maintenance takes place after all; null if the page sent no cancellation. */
async function findRestoredNotice(
  store: Store,
  { loaded, id: pageId }: ShownPage,
  { organizationId, subjectId, data }: Extract<NoticedEvent, { type: "maintenance.restored" }>,
  part: Part | null,
): Promise<ScopedContent | null> {
  if (data?.notify === false) return null;
  const window = await loaded.findWindow(subjectId);
  if (window === null) return null;
  const ownNoticeId = part?.noticeId ?? "";
  const last = await findLastMaintenanceNotice(
    store,
    { organizationId, pageId },
    subjectId,
    ownNoticeId,
  );
  if (last?.type !== "maintenance.cancelled") return null;
  return buildMaintenanceContent(loaded, "maintenance.planned", window);
}

async function buildIncidentContent(
  loaded: LoadedPage,
  { subjectId, at, data }: Extract<NoticedEvent, { data: { updateId: string | null } }>,
  type: "incident.opened" | "incident.updated" | "incident.resolved",
): Promise<ScopedContent | null> {
  // A correction of the title or severity posts nothing to the timeline.
  if (data.updateId === null || data.notify === false) return null;
  const incident = await loaded.findIncident(subjectId, { only: data.updateId });
  const update = incident?.updates.find(({ id }) => id === data.updateId);
  if (incident === null || update === undefined) return null;
  const content: NoticeContent = {
    type,
    data: {
      ...summarizeIncident(incident),
      status: update.status as (typeof incident)["status"],
      resolvedAt: update.status === "resolved" ? (incident.resolvedAt ?? at) : null,
      message: update.message,
      isMarkdown: update.isMarkdown,
      ...(hasSources(update.sources) && { sources: update.sources }),
    },
  };
  return { content, scope: scopeOf(loaded, incident) };
}

const scopeOf = (
  loaded: LoadedPage,
  { severity, monitors }: Pick<PublicIncident, "severity" | "monitors">,
): NoticeScope => ({ severity, componentIds: loaded.listComponentIds(monitors) });

/** Returns the notice of a postmortem; null if the page does not show it. */
async function buildPostmortemContent(
  loaded: LoadedPage,
  id: string,
): Promise<ScopedContent | null> {
  const incident = await loaded.findIncident(id);
  if (incident === null || incident.postmortem === null) return null;
  const { message } = incident.postmortem;
  const data = { ...summarizeIncident(incident), message, isMarkdown: true };
  return { content: { type: "incident.postmortem", data }, scope: scopeOf(loaded, incident) };
}

/** Whether a message can be written in other languages. */
const hasSources = (sources: MessageSources | undefined): sources is MessageSources =>
  sources !== undefined && (sources.automatic !== null || sources.translations !== null);

const summarizeIncident = ({
  id,
  title,
  status,
  severity,
  monitors,
  createdAt,
  resolvedAt,
  automatic,
}: PublicIncident) => ({
  ...(automatic && { automatic }),
  id,
  title,
  status,
  severity,
  monitor: monitors[0]?.name ?? null,
  monitors: monitors.map(({ name }) => name),
  createdAt,
  resolvedAt,
});

/**
 * Whether an incident was resolved because its monitor was deleted. Pages no longer show it, but subscribers are
 * notified if the page sent a notice of it before.
 */
const isBasedOnEarlier = (event: LoggedEvent) =>
  isRemoval(event) || /^maintenance\.(?:updated|deleted|restored)$/.test(event.type);

const isRemoval = (event: LoggedEvent) =>
  event.type === "incident.resolved" && event.data.monitorRemoved === true;

async function findRemoval(
  store: Store,
  pageId: string,
  event: LoggedEvent,
): Promise<ScopedContent | null> {
  const { organizationId, subjectId, at } = event;
  const last = await findLastNotice(store, { organizationId, pageId }, subjectId);
  if (last === null) return null;
  const data = JSON.parse(last.data) as IncidentData;
  const removed = { kind: "removed" } as const;
  const { subject, hasTitle } = data.automatic ?? { subject: data.monitor, hasTitle: false };
  const content: NoticeContent = {
    type: "incident.resolved",
    data: {
      ...data,
      status: "resolved",
      resolvedAt: at,
      message: describeUpdate(getLanguage("en"), removed, subject),
      automatic: { subject, hasTitle },
      sources: { automatic: removed, translations: null },
      isMarkdown: false,
    },
  };
  return { content, scope: last.scope ?? { severity: data.severity, componentIds: null } };
}
