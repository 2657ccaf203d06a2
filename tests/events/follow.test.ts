import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { assets } from "../../src/core/assets.ts";
import { embeddedStore, openDatabase } from "../../src/database/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import type { Store } from "../../src/database/store.ts";
import { followEvents } from "../../src/events/follow.ts";
import { appendEvent, lastSeq, type LoggedEvent } from "../../src/events/log.ts";
import { createOrganization } from "../../src/accounts/organizations/service.ts";
import { scratch } from "../support/scratch.ts";

const newDirectory = scratch();

/** An organization in a database, and how any store on it writes events. */
async function newLog(file = ":memory:") {
  const database = openDatabase(file);
  migrate(database, assets.migrations);
  const store = embeddedStore(database);
  const { id: organizationId } = await createOrganization(store, () => 0, "Acme");
  const logged: string[] = [];
  const write = (message: string) => void logged.push(message);
  const eventOf = (subjectId: string | number) =>
    appendEvent({
      organizationId,
      at: "2026-11-20T10:00:00.000Z",
      type: "monitor.down",
      subjectId: String(subjectId),
    });
  return {
    store,
    logged,
    log: { info: write, warn: write, error: write },
    /** Appends these in one write. */
    append: (on: Store, ...subjects: (string | number)[]) => on.atomic(subjects.map(eventOf)),
  };
}

/** A follower that keeps what it was handed, portion by portion. */
function follower(handle: (events: readonly LoggedEvent[]) => Promise<void> | void = () => {}) {
  const portions: string[][] = [];
  const awaited: { count: number; arrived: () => void }[] = [];
  const all = () => portions.flat();
  return {
    portions,
    all,
    take: async (events: readonly LoggedEvent[]) => {
      await handle(events);
      portions.push(events.map(({ subjectId }) => subjectId));
      for (const { count, arrived } of awaited) if (all().length >= count) arrived();
    },
    /** Resolves when so many events were handed over and handled, in all. */
    arrived: (count: number): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (all().length >= count) resolve();
      else awaited.push({ count, arrived: resolve });
      return promise;
    },
  };
}

const numbers = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => String(from + index));

describe("a follower of events", () => {
  test("is handed what follows its place in the log, in order and nothing twice", async () => {
    const { store, log, append } = await newLog();
    await append(store, "old");
    const from = await lastSeq(store);
    await append(store, 0, 1);
    const { take, arrived, all } = follower();
    const following = followEvents(store, log, take, from);
    await Promise.all([append(store, 2), append(store, 3, 4), append(store, 5)]);
    await append(store, 6);
    await arrived(7);
    expect(all()).toEqual(numbers(7));
    await following.stop();
  });

  test("without a place begins with the next event", async () => {
    const { store, log, append } = await newLog();
    await append(store, "old");
    const { take, arrived, all } = follower();
    const following = followEvents(store, log, take);
    await append(store, "new");
    await arrived(1);
    expect(all()).toEqual(["new"]);
    await following.stop();
  });

  test("is woken by a write of this process itself, without looking again and again", async () => {
    const { store, log, append } = await newLog();
    // As this store never looks changed, nothing but the wake-up can tell of a write.
    const still: Store = { ...store, revision: () => "always the same" };
    const { take, arrived, all } = follower();
    const following = followEvents(still, log, take);
    for (const event of [1, 2, 3]) {
      await append(store, event);
      await arrived(event);
    }
    expect(all()).toEqual(["1", "2", "3"]);
    await following.stop();
  });

  test("sees what another process wrote", async () => {
    const file = join(newDirectory(), "events.db");
    const { store, log, append } = await newLog(file);
    const other = embeddedStore(openDatabase(file));
    const { take, arrived, all } = follower();
    const following = followEvents(store, log, take);
    await append(other, 0);
    await arrived(1);
    await append(other, 1);
    await append(store, 2);
    await arrived(3);
    expect(all()).toEqual(numbers(3));
    await following.stop();
    other.close();
    store.close();
  });

  test("sees it also where a store can't tell at once that it was changed", async () => {
    const file = join(newDirectory(), "events.db");
    const { store, log, append } = await newLog(file);
    const other = embeddedStore(openDatabase(file));
    const { take, arrived } = follower();
    const following = followEvents({ ...store, revision: () => null }, log, take);
    await append(other, 0);
    await arrived(1);
    await following.stop();
    other.close();
    store.close();
  });

  test("gets one portion at a time, of 500 at most, also while more is written", async () => {
    const { store, log, append } = await newLog();
    const from = await lastSeq(store);
    await append(store, ...numbers(1200));
    let handling = 0;
    let written = 1200;
    const { take, arrived, portions, all } = follower(async () => {
      expect(++handling).toBe(1);
      if (written < 1210) await append(store, written++);
      handling--;
    });
    const following = followEvents(store, log, take, from);
    await arrived(1210);
    expect(all()).toEqual(numbers(1210));
    expect(Math.max(...portions.map(({ length }) => length))).toBe(500);
    await following.stop();
  });

  test("does not keep another from getting all", async () => {
    const { store, log, append } = await newLog();
    const stuck = Promise.withResolvers<void>();
    const [slow, quick] = [follower(() => stuck.promise), follower()];
    const followings = [slow, quick].map(({ take }) => followEvents(store, log, take));
    await append(store, 0);
    await append(store, 1);
    await quick.arrived(2);
    expect(slow.all()).toEqual([]);
    stuck.resolve();
    await slow.arrived(2);
    await Promise.all(followings.map((following) => following.stop()));
  });
});

describe("a portion whose handling throws", () => {
  test("comes again, before whatever was written since; the log tells of it", async () => {
    const { store, log, logged, append } = await newLog();
    const given: string[][] = [];
    const { take, arrived, all } = follower(async (events) => {
      given.push(events.map(({ subjectId }) => subjectId));
      if (given.length > 1) return;
      await append(store, 2);
      throw new Error("The disk is full.");
    });
    const following = followEvents(store, log, take, await lastSeq(store));
    await append(store, 0, 1);
    await arrived(3);
    expect(given[0]).toEqual(["0", "1"]);
    expect(given.slice(1).flat()).toEqual(numbers(3));
    expect(all()).toEqual(numbers(3));
    expect(logged).toEqual(["following events failed"]);
    await following.stop();
  });
});

describe("a follower that was stopped", () => {
  test("is handed nothing any more", async () => {
    const { store, log, append } = await newLog();
    const [stopped, other] = [follower(), follower()];
    const following = followEvents(store, log, stopped.take);
    const still = followEvents(store, log, other.take);
    await append(store, 0);
    await stopped.arrived(1);
    await following.stop();
    await append(store, 1);
    await other.arrived(2);
    expect(stopped.all()).toEqual(["0"]);
    await still.stop();
  });

  test("has handled its last portion to the end", async () => {
    const { store, log, append } = await newLog();
    const [began, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const order: string[] = [];
    const following = followEvents(store, log, async () => {
      began.resolve();
      await ending.promise;
      order.push("handled");
    });
    await append(store, 0);
    await began.promise;
    const stopped = following.stop().then(() => order.push("stopped"));
    ending.resolve();
    await stopped;
    expect(order).toEqual(["handled", "stopped"]);
  });

  test("before it had a look at the log is no harm", async () => {
    const { store, log, append } = await newLog();
    const { take, all } = follower();
    await followEvents(store, log, take).stop();
    await append(store, 0);
    expect(all()).toEqual([]);
  });
});
