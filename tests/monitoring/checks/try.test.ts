import { describe, expect, test } from "bun:test";
import { dumpTables } from "../../support/appliance.ts";
import { replyWith, startTarget } from "../../support/target.ts";
import { signInMember, createPerson, signInVisitor } from "../../support/people.ts";
import { createWatch } from "../../support/check-board.ts";

const path = "/dashboard/monitors/try";

async function setUp() {
  const watch = await createWatch();
  const { page } = await signInMember(watch, "member");
  return {
    ...watch,
    page,
    try: (body: object) => page("POST", path, { body: { name: "Shop", ...body } }),
  };
}

test("an unsaved monitor is checked like a saved one, and nothing is stored", async () => {
  const world = await setUp();
  await using shop = await startTarget();
  const before = dumpTables(world);
  const http = { type: "http", url: shop.at("/health"), headers: { "X-Team": "platform" } };
  const good = await world.try({ ...http, bearerToken: "a-token" });
  expect([good.status, good.json.data]).toEqual([
    200,
    {
      status: "up",
      message: expect.any(String),
      latencyMs: expect.any(Number),
      certificateExpiresAt: null,
      details: {},
      number: null,
    },
  ]);
  expect(shop.asked[0]?.headers).toMatchObject({
    authorization: "Bearer a-token",
    "x-team": "platform",
  });
  shop.setReply(replyWith(500, "internal gossip"), "/health");
  const bad = await world.try({ ...http, retries: 5 });
  expect(bad.json.data).toMatchObject({ status: "down", latencyMs: null });
  expect(bad.text).not.toContain("gossip");
  await world.engine.runOnce();
  expect(dumpTables(world)).toBe(before);
  expect(shop.asked).toHaveLength(2);
});

test("an invalid monitor, or one without checks, can't be tested", async () => {
  const world = await setUp();
  const readPaths = async (body: object) => {
    const { status, json } = await world.try(body);
    return [status, ...(json.error?.details?.map((detail: { path: string }) => detail.path) ?? [])];
  };
  expect(await readPaths({ type: "http" })).toEqual([422, "url"]);
  expect(await readPaths({ type: "http", url: "http://169.254.169.254/" })).toEqual([422, "url"]);
  expect(await readPaths({ type: "tcp", host: "0.0.0.0", port: 80 })).toEqual([422, "host"]);
  expect(await readPaths({ type: "tcp", host: "127.0.0.1", port: 3210 })).toEqual([422, "host"]);
  expect(await readPaths({ type: "push" })).toEqual([422, "type"]);
});

describe("a monitor with unsaved changes", () => {
  async function readStored() {
    const world = await setUp();
    const shop = await startTarget();
    const http = { type: "http", name: "Shop", url: shop.at(), retries: 0, bearerToken: "a-token" };
    const { id } = await world.monitor({ ...http, headers: { "X-Team": "platform" } });
    const tryChange = (body: object, who = world.page) =>
      who("POST", `/dashboard/monitors/${id}/try`, { body });
    return Object.assign(shop, { world, id: id as string, tryChange });
  }

  test("is checked with its stored secrets and stays unchanged", async () => {
    await using shop = await readStored();
    const before = dumpTables(shop.world);
    const { status, json } = await shop.tryChange({
      url: shop.at("/health"),
      headers: { "X-Team": null, "X-More": "1" },
    });
    expect([status, json.data.status]).toEqual([200, "up"]);
    expect(shop.asked).toMatchObject([
      {
        path: "/health",
        headers: { authorization: "Bearer a-token", "x-team": "platform", "x-more": "1" },
      },
    ]);
    expect(dumpTables(shop.world)).toBe(before);
  });

  test("does not send its secrets to another address", async () => {
    await using shop = await readStored();
    await using other = await startTarget();
    const { status, json } = await shop.tryChange({ url: other.at() });
    expect([status, json.error.details.map(({ path }: { path: string }) => path)]).toEqual([
      422,
      ["bearerToken", "headers.X-Team"],
    ]);
    const again = { url: other.at(), bearerToken: null, headers: {} };
    expect((await shop.tryChange(again)).status).toBe(200);
    expect(other.asked).toHaveLength(1);
    expect(JSON.stringify(other.asked)).not.toContain("a-token");
  });

  test("is not found by another organization, and forbidden for viewers", async () => {
    await using shop = await readStored();
    const { world } = shop;
    const theirs = await createPerson(world, world.theirs.id, "member");
    expect((await shop.tryChange({}, (await signInVisitor(world, theirs.id)).page)).status).toBe(
      404,
    );
    expect((await shop.tryChange({}, (await signInMember(world, "viewer")).page)).status).toBe(403);
    expect(shop.asked).toEqual([]);
  });
});
