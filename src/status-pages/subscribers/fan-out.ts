import { type Leases, perLease, underLease, whileHeld } from "../../cluster/leases.ts";
import { type Clock, timestamp } from "../../core/time/clock.ts";
import { newId } from "../../core/ids.ts";
import type { Statement, Store } from "../../database/store.ts";
import { type OutboxRoom, outboxRoom } from "../../alerting/sending/outbox-room.ts";
import { FairFollower, type Outcome, type Work } from "../../events/fair-follower.ts";
import type { LoggedEvent } from "../../events/catalogue.ts";
import { readSince } from "../../events/log.ts";
import type { Log } from "../../core/log.ts";
import type { EventReader } from "../../events/reader.ts";
import { type Loaded, loaderOf } from "../load.ts";
import type { PublicIncident } from "../formats/public-data.ts";
import { findPublicPageById } from "../store.ts";
import { updateInWords } from "../../incidents/rules.ts";
import type { IncidentData, NoticeContent } from "./notice.ts";
import { concernsSubscribers, type NoticedEvent } from "./rules.ts";
import {
  countSubscribersAt,
  insertDeliveries,
  insertNotice,
  lastNoticeOf,
  organizationsWithSubscribers,
  pagesWithSubscribers,
  subscribersAt,
} from "./store.ts";

type Dependencies = {
  store: Store;
  clock: Clock;
  events: EventReader;
  leases: Leases;
  log: Log;
  /** Rows of one write; tests set fewer. */
  rowsAtOnce?: number;
};

type ShownPage = { id: string; loaded: Loaded };

/** Progress with a notice that has more subscribers than one write takes. */
type Part = {
  seq: number;
  pageId: string;
  noticeId: string;
  /** The last subscriber. */
  after: string;
};

/** The statements of one write, the deliveries that it has room for, and those that the outbox lacks room for. */
type Portion = { statements: Statement[]; left: number; room: number; leftOut: number };

/** Turns events into notices for the subscribers of status pages, in turns between organizations. */
export function subscriberFanOut(dependencies: Dependencies) {
  const { store, clock, events: reader, leases, log, rowsAtOnce } = dependencies;
  const followerNow = perLease(leases, "subscribers", (lease) =>
    followerOf(underLease(store, lease)),
  );
  const load = loaderOf(store);

  const telling = whileHeld({ leases, log }, "subscribers", async () => {
    const follower = followerNow()?.follower;
    if (follower === undefined) return async () => {};
    const stop = await follower.start(reader, log);
    return async () => {
      await stop();
      await follower.save().catch(() => {});
    };
  });

  function followerOf(leased: Store) {
    const room = outboxRoom(leased, "notices");
    const follower = new FairFollower<NoticedEvent, Part>(leased, {
      name: "subscribers",
      concerns: concernsSubscribers,
      listening: (organizationIds) => organizationsWithSubscribers(store, organizationIds),
      decide: (work) => decide(work, room),
      ...(rowsAtOnce !== undefined && { rowsAtOnce }),
    });
    /** Ends the reports of a full outbox that has room again. */
    const reportRoom = () => follower.write(() => room.endings(clock()));
    return { follower, reportRoom };
  }

  async function decide(
    { organizationId, events, part, rows }: Work<NoticedEvent, Part>,
    room: OutboxRoom,
  ): Promise<Outcome<Part>> {
    const now = clock();
    const portion: Portion = {
      statements: [],
      left: rows,
      room: await room.of(organizationId, now),
      leftOut: 0,
    };
    const outcome = await addNotices(portion, await pagesOf(organizationId), events, part);
    const added = rows - portion.left;
    const { leftOut } = portion;
    const reports = await room.add({ organizationId, now, added, leftOut });
    return { ...outcome, statements: [...portion.statements, ...reports], rows: added };
  }

  /** Adds the notices of these events to `portion`, as far as it has room. */
  async function addNotices(
    portion: Portion,
    pages: readonly ShownPage[],
    events: readonly NoticedEvent[],
    earlier: Part | null,
  ): Promise<Pick<Outcome<Part>, "finished" | "part">> {
    for (const [finished, event] of events.entries()) {
      // The notice of a removal is read from the notices that were written.
      const mustWait = isRemoval(event) && portion.statements.length > 0;
      if (mustWait || portion.left <= 0) return { finished, part: null };
      const part = earlier?.seq === event.seq ? earlier : null;
      for (const page of pages) {
        if (part !== null && page.id < part.pageId) continue;
        const own = part?.pageId === page.id ? part : null;
        const rest = await addNotice(page, event, portion, own);
        if (rest !== null) return { finished, part: rest };
      }
    }
    return { finished: events.length, part: null };
  }

  /** An organization's visible pages that have subscribers, as they are now. */
  async function pagesOf(organizationId: string): Promise<ShownPage[]> {
    const shown: ShownPage[] = [];
    for (const id of await pagesWithSubscribers(store, organizationId)) {
      const page = await findPublicPageById({ store, organizationId }, id);
      if (page !== null) shown.push({ id, loaded: await load(page, clock()) });
    }
    return shown;
  }

  /** Adds a page's notice of an event after `part` to `portion`; returns the progress, or null when all of it was added. */
  async function addNotice(
    { id: pageId, loaded }: ShownPage,
    event: NoticedEvent,
    portion: Portion,
    part: Part | null,
  ): Promise<Part | null> {
    const now = clock();
    const { organizationId, seq } = event;
    const content = (await contentOf(loaded, event)) ?? (await removalOf(store, pageId, event));
    if (content === null) return null;
    const after = part?.after ?? "";
    const of = { organizationId, pageId };
    if (portion.room <= 0) {
      portion.leftOut += await countSubscribersAt(store, of, { seq, after });
      return null;
    }
    const available = Math.max(1, portion.left);
    const found = await subscribersAt(store, of, { seq, after, limit: available + 1 });
    const to = found.slice(0, available);
    const last = to.at(-1);
    if (last === undefined) return null;
    const id = part?.noticeId ?? newId(now);
    const data = JSON.stringify(content.data);
    const row = { organizationId, pageId, id, at: event.at, type: content.type, data };
    if (part === null) portion.statements.push(insertNotice(row));
    portion.statements.push(insertDeliveries(row, to, now, timestamp(now)));
    portion.left -= to.length;
    portion.room -= to.length;
    return found.length === to.length ? null : { seq, pageId, noticeId: id, after: last.id };
  }

  return {
    start: () => telling.start(),
    stop: () => telling.stop(),
    /** Saves the position of events that led to nothing, and ends reports of a full outbox. */
    async save() {
      const following = followerNow();
      if (following === null) return;
      await following.follower.save();
      await following.reportRoom();
    },
    /** Turns events into deliveries: for tests, instead of `start`. */
    async runOnce() {
      const follower = followerNow()?.follower;
      if (follower === undefined) return;
      const { seq } = await follower.cursor.read();
      await follower.take(await readSince(store, seq, 10_000));
      await follower.drain();
    },
  };
}

/** What the page says of what happened, under its public names; null where it shows nothing of it. */
async function contentOf(loaded: Loaded, event: NoticedEvent): Promise<NoticeContent | null> {
  switch (event.type) {
    case "maintenance.created": {
      const window = await loaded.window(event.subjectId);
      if (window === null) return null;
      const { id, title, description, startsAt, endsAt } = window;
      return { type: "maintenance.planned", data: { id, title, description, startsAt, endsAt } };
    }
    case "incident.reopened":
      return incidentContent(loaded, event, "incident.updated");
    case "incident.opened":
    case "incident.updated":
    case "incident.resolved":
      return incidentContent(loaded, event, event.type);
    case "incident.postmortem-published":
      return event.data.notify ? postmortemContent(loaded, event.subjectId) : null;
    case "subscriber.added":
    case "subscriber.confirmed":
      return null;
    default:
      return event satisfies never;
  }
}

async function incidentContent(
  loaded: Loaded,
  { subjectId, at, data }: Extract<NoticedEvent, { data: { updateId: string | null } }>,
  type: "incident.opened" | "incident.updated" | "incident.resolved",
): Promise<NoticeContent | null> {
  // A correction of the title or severity posts nothing to the timeline.
  if (data.updateId === null) return null;
  const incident = await loaded.incident(subjectId, { only: data.updateId });
  const update = incident?.updates.find(({ id }) => id === data.updateId);
  if (incident === null || update === undefined) return null;
  return {
    type,
    data: {
      ...aboutOf(incident),
      status: update.status as (typeof incident)["status"],
      resolvedAt: update.status === "resolved" ? (incident.resolvedAt ?? at) : null,
      message: update.message,
      isMarkdown: update.isMarkdown,
    },
  };
}

/** Where the page still shows it. */
async function postmortemContent(loaded: Loaded, id: string): Promise<NoticeContent | null> {
  const incident = await loaded.incident(id);
  if (incident === null || incident.postmortem === null) return null;
  const { message } = incident.postmortem;
  return { type: "incident.postmortem", data: { ...aboutOf(incident), message, isMarkdown: true } };
}

const aboutOf = ({
  id,
  title,
  status,
  severity,
  monitors,
  createdAt,
  resolvedAt,
}: PublicIncident) => ({
  id,
  title,
  status,
  severity,
  monitor: monitors[0]?.name ?? null,
  monitors: monitors.map(({ name }) => name),
  createdAt,
  resolvedAt,
});

/** An incident that its deleted monitor opened: pages show it no more, but whoever heard of it hears of its end. */
const isRemoval = (event: LoggedEvent) =>
  event.type === "incident.resolved" && event.data.monitorRemoved === true;

async function removalOf(
  store: Store,
  pageId: string,
  event: LoggedEvent,
): Promise<NoticeContent | null> {
  if (!isRemoval(event)) return null;
  const { organizationId, subjectId, at } = event;
  const last = await lastNoticeOf(store, { organizationId, pageId }, subjectId);
  if (last === null) return null;
  const told = JSON.parse(last.data) as IncidentData;
  return {
    type: "incident.resolved",
    data: {
      ...told,
      status: "resolved",
      resolvedAt: at,
      message: updateInWords({ kind: "removed" }, told.monitor ?? "A service"),
      isMarkdown: false,
    },
  };
}
