import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { assets } from "../../src/core/assets.ts";
import { createEmbeddedStore, openDatabase } from "../../src/database/file/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import type { Store } from "../../src/database/store.ts";
import type { LoggedEvent } from "../../src/events/catalog.ts";
import { appendEvent, findLastSeq } from "../../src/events/log.ts";
import { EventReader } from "../../src/events/reader.ts";
import { createOrganization } from "../../src/accounts/organizations/service.ts";
import { createMigratedStore } from "../support/engines.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();

function createStoreInFile(file: string) {
  const database = openDatabase(file);
  migrate(database, assets.migrations);
  return createEmbeddedStore(database);
}

const createLog = async () => createLogIn((await createMigratedStore()).store);

/** An organization in a database, and a function that appends events through any store on it. */
async function createLogIn<S extends Store>(store: S) {
  const { id: organizationId } = await createOrganization(store, () => 0, "Acme");
  const logged: string[] = [];
  const write = (message: string) => void logged.push(message);
  const eventOf = (subjectId: string | number) =>
    appendEvent({
      organizationId,
      at: "2026-11-20T10:00:00.000Z",
      type: "monitor.down",
      subjectId: String(subjectId),
      data: { before: "up", since: "2026-11-20T09:00:00.000Z", message: "", latencyMs: null },
    });
  return {
    store,
    logged,
    log: { info: write, warn: write, error: write },
    /** Appends these in one write. */
    append: (on: Store, ...subjects: (string | number)[]) => on.atomic(subjects.map(eventOf)),
  };
}

/** A subscriber that records its batches. */
function createRecordingSubscriber(
  handle: (events: readonly LoggedEvent[]) => Promise<void> | void = () => {},
) {
  const batches: string[][] = [];
  const awaited: { count: number; arrived: () => void }[] = [];
  const listAll = () => batches.flat();
  return {
    batches,
    listAll,
    take: async (events: readonly LoggedEvent[]) => {
      await handle(events);
      batches.push(events.map(({ subjectId }) => subjectId));
      for (const { count, arrived } of awaited) if (listAll().length >= count) arrived();
    },
    /** Resolves after this number of handled events in total. */
    arrived: (count: number): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (listAll().length >= count) resolve();
      else awaited.push({ count, arrived: resolve });
      return promise;
    },
  };
}

const buildNumbers = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => String(from + index));

describe("a subscriber of events", () => {
  test("gets the events after its position in the log, in order and each once", async () => {
    const { store, log, append } = await createLog();
    await append(store, "old");
    const from = await findLastSeq(store);
    await append(store, 0, 1);
    const { take, arrived, listAll } = createRecordingSubscriber();
    const subscription = new EventReader(store, log).subscribe("test", from, take);
    await Promise.all([append(store, 2), append(store, 3, 4), append(store, 5)]);
    await append(store, 6);
    await arrived(7);
    expect(listAll()).toEqual(buildNumbers(7));
    await subscription.stop();
  });

  test("is woken by a write of its own process, without polling", async () => {
    const { store, log, append } = await createLog();
    // This store never appears changed, so only the wake-up can report a write.
    const still: Store = { ...store, revision: () => "always the same" };
    const { take, arrived, listAll } = createRecordingSubscriber();
    const subscription = new EventReader(still, log).subscribe(
      "test",
      await findLastSeq(store),
      take,
    );
    for (const event of [1, 2, 3]) {
      await append(store, event);
      await arrived(event);
    }
    expect(listAll()).toEqual(["1", "2", "3"]);
    await subscription.stop();
  });

  test("sees events of another process", async () => {
    const file = join(newDirectory(), "events.db");
    const { store, log, append } = await createLogIn(createStoreInFile(file));
    const other = createEmbeddedStore(openDatabase(file));
    const { take, arrived, listAll } = createRecordingSubscriber();
    const subscription = new EventReader(store, log).subscribe(
      "test",
      await findLastSeq(store),
      take,
    );
    await append(other, 0);
    await arrived(1);
    await append(other, 1);
    await append(store, 2);
    await arrived(3);
    expect(listAll()).toEqual(buildNumbers(3));
    await subscription.stop();
    other.close();
    store.close();
  });

  test("sees them even if the store can't detect changes", async () => {
    const file = join(newDirectory(), "events.db");
    const { store, log, append } = await createLogIn(createStoreInFile(file));
    const other = createEmbeddedStore(openDatabase(file));
    const { take, arrived, listAll } = createRecordingSubscriber();
    const subscription = new EventReader({ ...store, revision: () => null }, log).subscribe(
      "test",
      await findLastSeq(store),
      take,
    );
    await append(other, 0);
    await arrived(1);
    await subscription.stop();
    expect(listAll()).toEqual(["0"]);
    other.close();
    store.close();
  });

  test("gets one batch at a time, of at most 500, even during further writes", async () => {
    const { store, log, append } = await createLog();
    const from = await findLastSeq(store);
    await append(store, ...buildNumbers(1200));
    let handling = 0;
    let written = 1200;
    const { take, arrived, batches, listAll } = createRecordingSubscriber(async () => {
      expect(++handling).toBe(1);
      if (written < 1210) await append(store, written++);
      handling--;
    });
    const subscription = new EventReader(store, log).subscribe("test", from, take);
    await arrived(1210);
    expect(listAll()).toEqual(buildNumbers(1210));
    expect(Math.max(...batches.map(({ length }) => length))).toBe(500);
    await subscription.stop();
  });
});

/** A store that counts the reads of the log. */
function createCountingStore(store: Store) {
  const reads: string[] = [];
  const query: Store["query"] = (text, parameters) => {
    if (text.includes("from events")) reads.push(text);
    return store.query(text, parameters);
  };
  return { reads, store: { ...store, query } };
}

describe("many subscribers", () => {
  test("cost one read of the log for each write, and none while nothing is written", async () => {
    const { log, append, ...world } = await createLog();
    const { store, reads } = createCountingStore(world.store);
    const from = await findLastSeq(store);
    const all = Array.from({ length: 6 }, () => createRecordingSubscriber());
    const reader = new EventReader(store, log);
    const subscriptions = all.map(({ take }, index) => reader.subscribe(`${index}`, from, take));
    await append(world.store, "first");
    await Promise.all(all.map(({ arrived }) => arrived(1)));
    reads.length = 0;
    for (const count of [2, 3, 4]) {
      await append(world.store, count);
      await Promise.all(all.map(({ arrived }) => arrived(count)));
    }
    expect(reads).toHaveLength(3);
    // Two polls that found no events.
    const looks = Promise.withResolvers<void>();
    let looked = 0;
    store.revision = () => {
      if (++looked === 2) looks.resolve();
      return world.store.revision();
    };
    await looks.promise;
    expect(reads).toHaveLength(3);
    await Promise.all(subscriptions.map((subscription) => subscription.stop()));
  });

  test("get all events while one of them is stuck, which then continues at its position", async () => {
    const { store, log, append } = await createLog();
    const stuck = Promise.withResolvers<void>();
    const [slow, quick] = [
      createRecordingSubscriber(() => stuck.promise),
      createRecordingSubscriber(),
    ];
    const reader = new EventReader(store, log);
    const from = await findLastSeq(store);
    const subscriptions = [slow, quick].map(({ take }) => reader.subscribe("test", from, take));
    // More events than the reader caches for slow subscribers.
    for (let count = 0; count < 5_000; count += 500) {
      await append(store, ...buildNumbers(500, count));
      await quick.arrived(count + 500);
    }
    expect(slow.listAll()).toEqual([]);
    stuck.resolve();
    await slow.arrived(5_000);
    expect(slow.listAll()).toEqual(buildNumbers(5_000));
    expect(quick.listAll()).toEqual(buildNumbers(5_000));
    await Promise.all(subscriptions.map((subscription) => subscription.stop()));
  });

  test("get all events while one of them fails repeatedly", async () => {
    const { store, log, logged, append } = await createLog();
    let failures = 0;
    const failing = createRecordingSubscriber(() => {
      if (++failures < 3) throw new Error("Not today.");
    });
    const healthy = createRecordingSubscriber();
    const reader = new EventReader(store, log);
    const from = await findLastSeq(store);
    const subscriptions = [failing, healthy].map(({ take }) =>
      reader.subscribe("test", from, take),
    );
    await append(store, 0);
    await healthy.arrived(1);
    await append(store, 1);
    await healthy.arrived(2);
    await failing.arrived(2);
    expect(failing.listAll()).toEqual(["0", "1"]);
    expect(logged).toEqual(["handling events failed", "handling events failed"]);
    await Promise.all(subscriptions.map((subscription) => subscription.stop()));
  });

  test("at different positions get the events that each of them lacks", async () => {
    const { store, log, append } = await createLog();
    const from = await findLastSeq(store);
    await append(store, ...buildNumbers(3_000));
    const reader = new EventReader(store, log);
    const [far, near] = [createRecordingSubscriber(), createRecordingSubscriber()];
    const subscriptions = [
      reader.subscribe("near", from + 2_990, near.take),
      reader.subscribe("far", from, far.take),
    ];
    await append(store, "last");
    await Promise.all([far.arrived(3_001), near.arrived(11)]);
    expect(far.listAll()).toEqual([...buildNumbers(3_000), "last"]);
    expect(near.listAll()).toEqual([...buildNumbers(10, 2_990), "last"]);
    await Promise.all(subscriptions.map((subscription) => subscription.stop()));
  });

  test("whose next events were removed continue with the rest", async () => {
    const { store, log, append } = await createLog();
    const from = await findLastSeq(store);
    await append(store, ...buildNumbers(3));
    await store.atomic([{ text: "delete from events where seq > ?", parameters: [from] }]);
    const { take, arrived, listAll } = createRecordingSubscriber();
    const subscription = new EventReader(store, log).subscribe("test", from, take);
    await append(store, "next");
    await arrived(1);
    expect(listAll()).toEqual(["next"]);
    await subscription.stop();
  });
});

describe("a batch whose handler throws", () => {
  test("is passed again before later events, and logged", async () => {
    const { store, log, logged, append } = await createLog();
    const given: string[][] = [];
    const { take, arrived, listAll } = createRecordingSubscriber(async (events) => {
      given.push(events.map(({ subjectId }) => subjectId));
      if (given.length > 1) return;
      await append(store, 2);
      throw new Error("The disk is full.");
    });
    const subscription = new EventReader(store, log).subscribe(
      "test",
      await findLastSeq(store),
      take,
    );
    await append(store, 0, 1);
    await arrived(3);
    expect(given[0]).toEqual(["0", "1"]);
    expect(given.slice(1).flat()).toEqual(buildNumbers(3));
    expect(listAll()).toEqual(buildNumbers(3));
    expect(logged).toEqual(["handling events failed"]);
    await subscription.stop();
  });
});

describe("a stopped subscriber", () => {
  test("gets no more events", async () => {
    const { store, log, append } = await createLog();
    const [stopped, other] = [createRecordingSubscriber(), createRecordingSubscriber()];
    const reader = new EventReader(store, log);
    const from = await findLastSeq(store);
    const subscription = reader.subscribe("stopped", from, stopped.take);
    const still = reader.subscribe("other", from, other.take);
    await append(store, 0);
    await stopped.arrived(1);
    await subscription.stop();
    await append(store, 1);
    await other.arrived(2);
    expect(stopped.listAll()).toEqual(["0"]);
    await still.stop();
  });

  test("finishes its last batch", async () => {
    const { store, log, append } = await createLog();
    const [began, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const order: string[] = [];
    const from = await findLastSeq(store);
    const subscription = new EventReader(store, log).subscribe("test", from, async () => {
      began.resolve();
      await ending.promise;
      order.push("handled");
    });
    await append(store, 0);
    await began.promise;
    const stopped = subscription.stop().then(() => order.push("stopped"));
    ending.resolve();
    await stopped;
    expect(order).toEqual(["handled", "stopped"]);
  });

  test("can be stopped before its first read of the log", async () => {
    const { store, log, append } = await createLog();
    const { take, listAll } = createRecordingSubscriber();
    await new EventReader(store, log).subscribe("test", 0, take).stop();
    await append(store, 0);
    expect(listAll()).toEqual([]);
  });
});
