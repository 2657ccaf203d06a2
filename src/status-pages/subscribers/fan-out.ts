import { type Leases, perLease, underLease, whileHeld } from "../../cluster/leases.ts";
import { type Clock, timestamp } from "../../core/clock.ts";
import { newId } from "../../core/ids.ts";
import { retrying, type Statement, type Store } from "../../database/store.ts";
import { eventCursor, type Position } from "../../events/cursor.ts";
import type { LoggedEvent } from "../../events/catalogue.ts";
import { readSince } from "../../events/log.ts";
import type { Log } from "../../core/log.ts";
import type { EventReader } from "../../events/reader.ts";
import { type Loaded, loaderOf } from "../load.ts";
import type { PublicIncident } from "../public-data.ts";
import { findPublicPageById } from "../store.ts";
import { updateInWords } from "../../incidents/rules.ts";
import type { IncidentData, NoticeContent } from "./notice.ts";
import { concernsSubscribers, type NoticedEvent } from "./rules.ts";
import {
  insertNotice,
  lastNoticeOf,
  subscribersAt,
  pagesWithSubscribers,
  insertDeliveries,
} from "./store.ts";

/** So long events gather between two portions: a storm is told in few writes. */
const portionMs = 100;
/** So many deliveries stand in one write. */
const atOnce = 2_000;

type Cursor = ReturnType<typeof eventCursor>;
type ShownPage = { id: string; loaded: Loaded };

/** What of one notice earlier writes have told. */
type Part = {
  seq: number;
  pageId: string;
  noticeId: string;
  /** The last subscriber. */
  after: string;
};

/** What one write holds so far. */
type Portion = { statements: Statement[]; left: number };

type Dependencies = {
  store: Store;
  clock: Clock;
  events: EventReader;
  leases: Leases;
  log: Log;
};

/** Tells the subscribers of status pages what these show: the new deliveries and the position in the log stand in one atomic write. */
export function subscriberFanOut(dependencies: Dependencies) {
  const { store, clock, events: reader, leases } = dependencies;
  const cursorNow = perLease(leases, "subscribers", (lease) =>
    eventCursor(underLease(store, lease), "subscribers"),
  );
  const load = loaderOf(store);
  const save = async () => {
    const cursor = cursorNow();
    if (cursor !== null) await retrying(() => cursor.save());
  };

  const telling = whileHeld(dependencies, "subscribers", async () => {
    const cursor = cursorNow();
    if (cursor === null) return async () => {};
    const { seq } = await cursor.read();
    const subscription = reader.subscribe("subscribers", seq, async (events) => {
      await take(cursor, events);
      await Bun.sleep(portionMs);
    });
    return async () => {
      await subscription.stop();
      await retrying(() => cursor.save()).catch(() => {});
    };
  });

  const take = (cursor: Cursor, events: readonly LoggedEvent[]) =>
    retrying(async () => {
      let position = await cursor.read();
      const unread = events.filter(({ seq }) => seq > position.seq).filter(concernsSubscribers);
      const last = unread.at(-1);
      if (last === undefined) return;
      const pages = new Map<string, ShownPage[] | null>();
      for (const { organizationId } of unread)
        if (!pages.has(organizationId)) pages.set(organizationId, await pagesOf(organizationId));
      // Where nobody listens, a write costs others more than reading the events again.
      if ([...pages.values()].every((its) => its === null)) return cursor.skip(last.seq);
      let portion: Portion = { statements: [], left: atOnce };
      const write = async (seq: number, part: Part | null) => {
        const rest = part === null ? null : JSON.stringify(part);
        await cursor.advance(position, seq, portion.statements, rest);
        position = await cursor.read();
        portion = { statements: [], left: atOnce };
        // Others have their turn between two writes of a storm.
        await Bun.sleep(0);
      };
      for (const [index, event] of unread.entries()) {
        let part = partOf(position, event);
        const before = unread[index - 1]?.seq ?? position.seq;
        // What was told so far says who is told of it.
        if (isRemoval(event) && portion.statements.length > 0) await write(before, null);
        for (const page of pages.get(event.organizationId) ?? []) {
          if (part !== null && page.id < part.pageId) continue;
          do {
            part = await addNotice(page, event, portion, part?.pageId === page.id ? part : null);
            if (part !== null) await write(Math.max(before, position.seq), part);
          } while (part !== null);
        }
        if (event === last || portion.left <= 0) await write(event.seq, null);
      }
    });

  /** An organization's pages that somebody subscribes to, as they are now, without hidden ones; null where nobody subscribes. */
  async function pagesOf(organizationId: string): Promise<ShownPage[] | null> {
    const ids = await pagesWithSubscribers(store, organizationId);
    const shown: ShownPage[] = [];
    for (const id of ids) {
      const page = await findPublicPageById({ store, organizationId }, id);
      if (page !== null) shown.push({ id, loaded: await load(page, clock()) });
    }
    return ids.length === 0 ? null : shown;
  }

  /** Adds to `portion` what a page tells of an event after `part`, as far as it takes that; returns how far it came, or null where that is all. */
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
    const available = Math.max(1, portion.left);
    const found = await subscribersAt(
      store,
      { organizationId, pageId },
      { seq, after: part?.after ?? "", limit: available + 1 },
    );
    const to = found.slice(0, available);
    const last = to.at(-1);
    if (last === undefined) return null;
    const id = part?.noticeId ?? newId(now);
    const data = JSON.stringify(content.data);
    const row = { organizationId, pageId, id, at: event.at, type: content.type, data };
    if (part === null) portion.statements.push(insertNotice(row));
    portion.statements.push(insertDeliveries(row, to, now, timestamp(now)));
    portion.left -= to.length;
    return found.length === to.length ? null : { seq, pageId, noticeId: id, after: last.id };
  }

  return {
    start: () => telling.start(),
    stop: () => telling.stop(),
    /** Writes down how far it has come, where nothing else did. */
    save,
    /** Turns what happened into deliveries: for tests, instead of `start`. */
    async runOnce() {
      const cursor = cursorNow();
      if (cursor === null) return;
      const { seq } = await cursor.read();
      await take(cursor, await readSince(store, seq, 10_000));
    },
  };
}

/** How far earlier writes came with this event; null where it is not under way. */
function partOf({ part }: Position, { seq }: LoggedEvent): Part | null {
  const found = part === null ? null : (JSON.parse(part) as Part);
  return found?.seq === seq ? found : null;
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
  const incident = await loaded.incident(subjectId);
  const update = incident?.updates.find(({ id }) => id === data.updateId);
  // A correction of the title or severity posts nothing to the timeline.
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
