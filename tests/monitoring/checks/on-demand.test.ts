import { describe, expect, test } from "bun:test";
import { CheckEngine } from "../../../src/monitoring/checks/engine/check-engine.ts";
import type { TestResponse } from "../../support/appliance.ts";
import { replyWith, hang, startTarget } from "../../support/target.ts";
import { signInMember, createPerson, sortStatuses, signInVisitor } from "../../support/people.ts";
import { createWatch } from "../../support/check-board.ts";

const path = "/dashboard/monitors/try";

type Ask = () => Promise<TestResponse>;

/** People and keys of two organizations that test a monitor; its target hangs until it is released. */
async function createHangingWorld() {
  const watch = await createWatch();
  const shop = await startTarget(hang);
  const body = { type: "http", name: "Shop", url: shop.at(), timeout: 60 };
  const createRequester = (
    page: (method: string, path: string, options: object) => Promise<TestResponse>,
  ): Ask => {
    return () => page("POST", path, { body });
  };
  return {
    ...watch,
    shop,
    someone: async (): Promise<Ask> => createRequester((await signInMember(watch, "member")).page),
    stranger: async (): Promise<Ask> => {
      const { id } = await createPerson(watch, watch.theirs.id, "member");
      return createRequester((await signInVisitor(watch, id)).page);
    },
    /** Starts `count` checks and resolves when all are running. */
    underWay: async (request: Ask, count: number) => {
      const before = shop.asked.length;
      const running = Array.from({ length: count }, request);
      await shop.waitUntilRequested(before + count);
      return running;
    },
    async [Symbol.asyncDispose]() {
      await shop[Symbol.asyncDispose]();
    },
  };
}

function expectTooMany({ status, json, headers }: TestResponse) {
  expect([status, json.error.code]).toEqual([429, "RATE_LIMITED"]);
  expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
}

describe("concurrent checks on demand are limited to", () => {
  test("four per person, independent of other people", async () => {
    await using world = await createHangingWorld();
    const { shop, someone, underWay } = world;
    const [ann, bob] = [await someone(), await someone()];
    const four = await underWay(ann, 4);
    expectTooMany(await ann());
    const others = await underWay(bob, 1);
    expect(shop.asked).toHaveLength(5);
    shop.release();
    expect(sortStatuses(await Promise.all([...four, ...others]))).toEqual(Array(5).fill(200));
    const again = await underWay(ann, 4);
    shop.release(replyWith(500));
    expect(sortStatuses(await Promise.all(again))).toEqual(Array(4).fill(200));
  });

  test("four per API key, including checks of existing monitors", async () => {
    await using world = await createHangingWorld();
    const { shop, monitor, ours } = world;
    const monitors = [];
    for (let number = 0; number < 5; number++)
      monitors.push(await monitor({ type: "http", name: "Shop", url: shop.at(`/${number}`) }));
    const check = ({ id }: { id: string }) => ours.api("POST", `/api/v1/monitors/${id}/check`);
    const four = monitors.slice(0, 4).map(check);
    await shop.waitUntilRequested(4);
    expectTooMany(await check(monitors[4]));
    shop.release();
    expect(sortStatuses(await Promise.all(four))).toEqual([200, 200, 200, 200]);
  });

  test("sixteen per organization, independent of other organizations", async () => {
    await using world = await createHangingWorld();
    const { shop, someone, stranger, underWay } = world;
    const running = [];
    for (let people = 0; people < 4; people++)
      running.push(...(await underWay(await someone(), 4)));
    expectTooMany(await (await someone())());
    running.push(...(await underWay(await stranger(), 4)));
    shop.release();
    expect(sortStatuses(await Promise.all(running))).toEqual(Array(20).fill(200));
  });

  test("64 in all", async () => {
    const { appliance } = await createWatch();
    await using shop = await startTarget(hang);
    const engine = new CheckEngine({ ...appliance, monotonic: appliance.clock });
    const request = (number: number) =>
      engine.tryCheck(
        { organizationId: `organization ${number >> 2}`, callerId: `person ${number}` },
        {
          type: "tcp",
          settings: { host: "127.0.0.1", port: shop.port, send: null, expect: "never" },
          timeoutMs: 60_000,
          degradedAfterMs: null,
          inverted: false,
        },
      );
    const running = Array.from({ length: 64 }, (_, number) => request(number));
    expect(await request(64).catch((error: unknown) => error)).toMatchObject({
      code: "RATE_LIMITED",
    });
    await shop.waitUntilConnected(64);
    shop.disconnect();
    expect(new Set((await Promise.all(running)).map(({ status }) => status))).toEqual(
      new Set(["down"]),
    );
    expect(shop.connections()).toBe(64);
  });
});

describe("checks on demand per minute are limited to", () => {
  test("60 per person and 240 per organization, counted from the first", async () => {
    await using world = await createHangingWorld();
    const { shop, time, someone, stranger } = world;
    shop.setReply(replyWith());
    const requestInTurn = async (request: Ask, count: number) => {
      for (let number = 0; number < count; number++) expect((await request()).status).toBe(200);
    };
    const ann = await someone();
    await requestInTurn(ann, 60);
    expectTooMany(await ann());
    for (let people = 0; people < 3; people++) await requestInTurn(await someone(), 60);
    expectTooMany(await (await someone())());
    await requestInTurn(await stranger(), 1);
    expect(shop.asked).toHaveLength(241);
    time.now += 60_000;
    await requestInTurn(ann, 1);
  });
});

test("repeatedly changed monitors are checked immediately 120 times a minute, then within seconds", async () => {
  const watch = await createWatch();
  const { engine, createSite, changeMonitor, theirs, time } = watch;
  await using shop = await createSite({ interval: 3_600 });
  await engine.runOnce();
  for (let change = 0; change < 130; change++) {
    await changeMonitor(shop.id, { url: shop.at(`/${change}`) });
    await engine.runOnce();
  }
  expect(shop.asked).toHaveLength(120);
  const body = { type: "http", name: "Theirs", url: shop.at("/theirs") };
  await theirs.api("POST", "/api/v1/monitors", { body });
  await engine.runOnce();
  expect(shop.asked.map(({ path }) => path).slice(120)).toEqual(["/theirs"]);
  time.now += 5_000;
  await engine.runOnce();
  expect(shop.asked.at(-1)?.path).toBe("/129");
});
