import { type Clock, timestamp } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { retrying, type Statement, type Store } from "../database/store.ts";
import { eventCursor } from "../events/cursor.ts";
import { followEvents, type Following } from "../events/follow.ts";
import { type LoggedEvent, readSince } from "../events/log.ts";
import { type Loaded, pageLoader } from "../status-pages/load.ts";
import { findPublicPageById } from "../status-pages/store.ts";
import type { Notice } from "./notice.ts";
import { concernsSubscribers, incidentNoticeOf, pendingMs } from "./rules.ts";
import { confirmedAt, forgetOld, pagesWithSubscribers, tell } from "./store.ts";

/** So long events gather between two portions: a storm is told in few writes. */
const portionMs = 100;
/** Notices are kept as long as their deliveries. */
const keptMs = 90 * 86_400_000;

export type SubscriberFanOut = {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Turns what happened into deliveries: for tests, instead of `start`. */
  runOnce(): Promise<void>;
};

type Room = { store: Store; clock: Clock; log: Log };

/** Tells the subscribers of status pages what these show: the new deliveries and the place in the log stand in one atomic write. */
export function subscriberFanOut({ store, clock, log }: Room): SubscriberFanOut {
  const cursor = eventCursor(store, "subscribers");
  const load = pageLoader(store);
  let following: Following | null = null;

  const take = (events: readonly LoggedEvent[]) =>
    retrying(async () => {
      const place = await cursor.place();
      const unread = events.filter(({ seq, type }) => seq > place.seq && concernsSubscribers(type));
      const last = unread.at(-1);
      if (last === undefined) return;
      const statements: Statement[] = [];
      let isHeard = false;
      for (const [organizationId, own] of Map.groupBy(unread, (event) => event.organizationId))
        for (const pageId of await pagesWithSubscribers(store, organizationId)) {
          isHeard = true;
          statements.push(...(await toldBy(organizationId, pageId, own)));
        }
      // Where nobody listens, a write costs others more than reading the events again.
      if (isHeard) await cursor.move(place, last.seq, statements);
      else cursor.pass(last.seq);
    });

  async function toldBy(
    organizationId: string,
    pageId: string,
    events: readonly LoggedEvent[],
  ): Promise<Statement[]> {
    const page = await findPublicPageById(store, organizationId, pageId);
    if (page === null) return [];
    const now = clock();
    const loaded = await load(page, now);
    const statements: Statement[] = [];
    for (const event of events) {
      const notice = await noticeOf(loaded, event, now);
      if (notice === null) continue;
      const to = await confirmedAt(store, { organizationId, pageId }, event.at);
      if (to.length === 0) continue;
      const row = { organizationId, pageId, ...notice, data: JSON.stringify(notice.data) };
      statements.push(...tell(row, to, now, timestamp(now)));
    }
    return statements;
  }

  return {
    async start() {
      const { seq } = await cursor.place();
      following = followEvents(
        store,
        log,
        async (events) => {
          await take(events);
          await Bun.sleep(portionMs);
        },
        seq,
      );
    },
    async stop() {
      await following?.stop();
      await retrying(() => cursor.save()).catch(() => {});
    },
    async runOnce() {
      const { seq } = await cursor.place();
      await take(await readSince(store, seq, 10_000));
    },
  };
}

/** What the page says of what happened, under its public names; null where it shows nothing of it. */
async function noticeOf(
  loaded: Loaded,
  { type, subjectId, at, data }: LoggedEvent,
  now: number,
): Promise<Notice | null> {
  const made = { id: newId(now), at };
  if (type === "maintenance.created") {
    const window = loaded.windows.find(({ id }) => id === subjectId);
    if (window === undefined) return null;
    const { id, title, description, startsAt, endsAt } = window;
    return {
      ...made,
      type: "maintenance.planned",
      data: { id, title, description, startsAt, endsAt },
    };
  }
  const noticeType = incidentNoticeOf(type);
  if (noticeType === null) return null;
  const incident = await loaded.incident(subjectId);
  const update = incident?.updates.find(({ id }) => id === data?.["updateId"]);
  // A correction of the title or severity posts nothing to the timeline.
  if (incident === null || update === undefined) return null;
  const { id, title, severity, monitor, createdAt, resolvedAt } = incident;
  return {
    ...made,
    type: noticeType,
    data: {
      id,
      title,
      status: update.status as (typeof incident)["status"],
      severity,
      monitor: monitor?.name ?? null,
      createdAt,
      resolvedAt: update.status === "resolved" ? (resolvedAt ?? at) : null,
      message: update.message,
    },
  };
}

/** Removes who never said yes and what was told long ago. */
export async function sweepSubscribers(store: Store, now: number): Promise<void> {
  const before = { notices: timestamp(now - keptMs), pending: timestamp(now - pendingMs) };
  await store.atomic(forgetOld(before));
}
