import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Vault } from "../core/secrets.ts";
import type { Store } from "../database/store.ts";
import { followEvents, type Following } from "../events/follow.ts";
import { lastSeqOf, type LoggedEvent } from "../events/log.ts";
import { type Listener, type Live, messageOf, type Reader } from "../http/event-stream.ts";
import { positionOf, seqOf } from "./positions.ts";
import { mayListen, replayable } from "./rules.ts";
import { rowsOf } from "./service.ts";
import { channelSignaturesOf } from "./channel-store.ts";
import { eventsAfter, signaturesOf, type TellableEvent } from "./store.ts";

/** Rows of monitors go out this often at most … */
const batchMs = 500;
/** … and so many at a time; the others follow with the next. */
const maxRows = 500;
/** Of more events at one time, pages are told to read everything anew. */
const maxEvents = 200;
/** How often it is asked whether a reader may still listen, beside what events say of people. */
const welcomeMs = 2_000;
/** What may end somebody's right to listen. */
const endsRights = /^(person\.(?!signed-in$)|organization\.deleted$)/;

type Member = Listener & {
  reader: Reader;
  /** What came while it is told what it missed; null from then on. */
  early: { seq: number; message: Uint8Array }[] | null;
};

/** The open pages of one organization, and what they know. */
type Room = {
  members: Set<Member>;
  /** Resolves when it knows its monitors. */
  ready: Promise<void>;
  signatures: Map<string, string>;
  /** What was last known of the deliveries of each alert channel. */
  deliveries: Map<string, string>;
  /** Monitors whose rows are to be sent, in the order in which they changed. */
  behind: Set<string>;
  /** Set while a batch waits for its time or is made. */
  batch: ReturnType<typeof setTimeout> | null;
  isDue: boolean;
};

export type LivePages = Live & {
  start(): void;
  /** Ends all streams at once. */
  stop(): Promise<void>;
};

type Dependencies = { store: Store; clock: Clock; vault: Vault; log: Log };

/**
 * Tells the open pages of every organization what happens: its events as they are, and the rows of
 * monitors that changed, which checks do without an event. Read once, whoever listens.
 */
export function livePages({ store, clock, vault, log }: Dependencies): LivePages {
  const rooms = new Map<string, Room>();
  let following: Following | null = null;
  let unsubscribe = () => {};
  let welcoming: ReturnType<typeof setInterval> | null = null;
  let stopped = false;

  function send({ members }: Room, message: Uint8Array, seq = Infinity) {
    for (const member of members)
      if (member.early === null) member.reader.send(message);
      else member.early.push({ seq, message });
  }

  async function take(events: readonly LoggedEvent[]) {
    for (const [organizationId, its] of Map.groupBy(events, (event) => event.organizationId)) {
      const room = rooms.get(organizationId);
      if (room === undefined) continue;
      // Whoever lost the right to listen hears nothing of what came after.
      if (its.some(({ type }) => endsRights.test(type))) await endUnwelcome(room);
      const last = its.at(-1)?.seq ?? 0;
      if (its.length > maxEvents) send(room, at("reset", organizationId, last), last);
      else for (const event of its) send(room, changeOf(organizationId, event), event.seq);
    }
  }

  /** Something was written: perhaps results of checks. */
  function wake() {
    for (const [organizationId, room] of rooms) {
      room.isDue = true;
      room.batch ??= setTimeout(() => void work(organizationId, room), 0);
    }
  }

  async function work(organizationId: string, room: Room) {
    room.isDue = false;
    try {
      await findChanges(organizationId, room);
      await sendRows(organizationId, room);
      const channelIds = await findDeliveries(organizationId, room);
      if (channelIds.length > 0) send(room, messageOf("deliveries", { channelIds }));
    } catch (error) {
      log.error("telling open pages failed", { cause: String(error) });
    }
    room.batch = setTimeout(() => {
      room.batch = null;
      if (stopped || rooms.get(organizationId) !== room) return;
      if (room.isDue || room.behind.size > 0)
        room.batch = setTimeout(() => void work(organizationId, room), 0);
    }, batchMs);
  }

  async function findChanges(organizationId: string, { signatures, behind }: Room) {
    const found = await signaturesOf(store, organizationId);
    for (const { id, signature } of found) {
      if (signatures.get(id) === signature) continue;
      signatures.set(id, signature);
      behind.add(id);
    }
    if (signatures.size === found.length) return;
    const there = new Set(found.map(({ id }) => id));
    for (const id of signatures.keys()) if (!there.has(id)) signatures.delete(id);
  }

  /** Channels at which something was sent, tried or put off since it was last asked. */
  async function findDeliveries(organizationId: string, { deliveries }: Room): Promise<string[]> {
    const found = await channelSignaturesOf(store, organizationId);
    const changed = found.filter(({ id, signature }) => deliveries.get(id) !== signature);
    deliveries.clear();
    for (const { id, signature } of found) deliveries.set(id, signature);
    return changed.map(({ id }) => id);
  }

  async function sendRows(organizationId: string, room: Room) {
    const ids = [...room.behind].slice(0, maxRows);
    if (ids.length === 0) return;
    for (const id of ids) room.behind.delete(id);
    const monitors = await rowsOf({ store, clock, organizationId }, ids);
    if (monitors.length > 0) send(room, messageOf("monitors", { monitors }));
  }

  /** A message whose id is a position in the log, from which a page that was away goes on. */
  function at(event: string, organizationId: string, seq: number, data = {}) {
    return messageOf(event, data, positionOf(vault, organizationId, seq));
  }

  function changeOf(organizationId: string, { seq, type, subjectId, at: time }: TellableEvent) {
    return at("change", organizationId, seq, { type, subjectId, at: time });
  }

  async function welcome(member: Member) {
    const { organizationId, reader } = member;
    const seq = await lastSeqOf(store, organizationId);
    reader.send(at("hello", organizationId, seq));
    const after = member.after === null ? seq : seqOf(vault, organizationId, member.after);
    const isKnown = after !== null && after <= seq;
    const missed = isKnown ? await eventsAfter(store, organizationId, after, replayable + 1) : [];
    if (!isKnown || missed.length > replayable) reader.send(at("reset", organizationId, seq));
    else {
      for (const event of missed) reader.send(changeOf(organizationId, event));
      const changed = new Set(
        missed.filter(({ type }) => type.startsWith("monitor.")).map((event) => event.subjectId),
      );
      const monitors = await rowsOf({ store, clock, organizationId }, [...changed]);
      if (monitors.length > 0) reader.send(messageOf("monitors", { monitors }));
    }
    const told = missed.at(-1)?.seq ?? seq;
    for (const early of member.early ?? []) if (early.seq > told) reader.send(early.message);
    member.early = null;
  }

  function* listeners() {
    for (const { members } of rooms.values()) yield* members;
  }

  function roomOf(organizationId: string): Room {
    const known = rooms.get(organizationId);
    if (known !== undefined) return known;
    const room: Room = {
      members: new Set(),
      ready: Promise.resolve(),
      signatures: new Map(),
      deliveries: new Map(),
      behind: new Set(),
      batch: null,
      isDue: false,
    };
    rooms.set(organizationId, room);
    // What is there to begin with is no change.
    room.ready = Promise.all([
      findChanges(organizationId, room).then(() => room.behind.clear()),
      findDeliveries(organizationId, room),
    ]).then(() => {});
    return room;
  }

  /** Those who signed out, whose session grew old, or who left the organization or have another role in it. */
  async function sayGoodbye() {
    for (const room of rooms.values()) await endUnwelcome(room);
  }

  async function endUnwelcome({ members }: Room) {
    const asked = new Map<string, Promise<boolean>>();
    for (const { sessionId, role, isWelcome, reader } of members) {
      const key = `${sessionId} ${role}`;
      const answer = asked.get(key) ?? isWelcome();
      asked.set(key, answer);
      if (!(await answer)) reader.end();
    }
  }

  return {
    start() {
      following = followEvents(store, log, take);
      unsubscribe = store.onCommit(wake);
      welcoming = setInterval(() => {
        sayGoodbye().catch((error: unknown) =>
          log.error("sessions of open pages can't be read", { cause: String(error) }),
        );
      }, welcomeMs);
    },
    async stop() {
      stopped = true;
      unsubscribe();
      if (welcoming !== null) clearInterval(welcoming);
      for (const { members, batch } of rooms.values()) {
        if (batch !== null) clearTimeout(batch);
        for (const { reader } of members) reader.end();
      }
      await following?.stop();
    },
    isOpen: () => !stopped,
    mayListen: (listener) => mayListen(listener, listeners()),
    join(reader, listener) {
      const member: Member = { ...listener, reader, early: [] };
      const { organizationId } = listener;
      const room = roomOf(organizationId);
      room.members.add(member);
      room.ready
        .then(() => welcome(member))
        .catch((error: unknown) => {
          log.error("a page can't be told what happens", { cause: String(error) });
          reader.end();
        });
      return () => {
        if (!room.members.delete(member)) return;
        if (room.members.size > 0) return;
        if (room.batch !== null) clearTimeout(room.batch);
        if (rooms.get(organizationId) === room) rooms.delete(organizationId);
      };
    },
  };
}
