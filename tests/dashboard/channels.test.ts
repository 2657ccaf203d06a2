import { afterEach, expect, test } from "bun:test";
import { createDashboard } from "../support/dashboard.ts";
import { openStream } from "../support/live.ts";
import { signInMember } from "../support/people.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const live of running.splice(0)) await live.stop();
});

/** A dashboard and one of its people. */
async function createDashboardWorld() {
  const dashboard = await createDashboard();
  const { page, cookie } = await signInMember(dashboard, "viewer");
  const read = async (path: string) => (await page("GET", `/dashboard${path}`)).json.data;
  return { ...dashboard, page, cookie, read };
}

test("each channel lists its monitors and groups with their number", async () => {
  const { monitor, group, channel, read } = await createDashboardWorld();
  const [used, unused] = [await channel({ name: "Used" }), await channel({ name: "Unused" })];
  const alertChannelIds = [used.id];
  const one = await monitor({ alertChannelIds });
  const other = await monitor({ name: "Other", alertChannelIds });
  const { id } = await group({ alertChannelIds });
  expect(await read("/alert-channel-uses")).toEqual([
    { channelId: used.id, monitors: 2, groups: 1 },
  ]);
  const users = await read(`/alert-channels/${used.id}/users`);
  expect(new Set(users.monitorIds)).toEqual(new Set([one.id, other.id]));
  expect(users.groupIds).toEqual([id]);
  expect(await read(`/alert-channels/${unused.id}/users`)).toEqual({
    monitorIds: [],
    groupIds: [],
  });
});

test("each status page counts its subscribers and its unconfirmed ones", async () => {
  const { api, read } = await createDashboardWorld();
  const [{ id }] = (await api("GET", "/api/v1/status-pages")).json.data;
  expect(await read("/subscriber-counts")).toEqual([]);
  const path = `/api/v1/status-pages/${id}/subscribers`;
  const mailbox = { type: "email", email: "ann@team.example", confirmed: true };
  for (const body of [mailbox, { type: "webhook", url: "http://bot.lan/hook" }])
    expect((await api("POST", path, { body })).status).toBe(201);
  expect(await read("/subscriber-counts")).toEqual([{ pageId: id, confirmed: 2, pending: 0 }]);
});

test("an open page receives an event for each attempt at a channel, even if it fails again", async () => {
  const { channel, api, live, cookie, ...world } = await createDashboardWorld();
  const { id } = await channel({ type: "ntfy", server: "http://127.0.0.1:9", topic: "alerts" });
  await live.start();
  running.push(live);
  const stream = await openStream(world, cookie);
  await stream.readUntil(({ event }) => event === "hello");
  for (let turn = 0; turn < 2; turn++) {
    expect((await api("POST", `/api/v1/alert-channels/${id}/test`)).status).toBe(200);
    const messages = await stream.readUntil(({ event }) => event === "deliveries");
    expect(messages.at(-1)?.data).toEqual({ channelIds: [id] });
  }
});

test("a link to a status page finds its organization", async () => {
  const { api, ours, read } = await createDashboardWorld();
  const [{ id }] = (await api("GET", "/api/v1/status-pages")).json.data;
  expect(await read(`/where?kind=status-page&id=${id}`)).toEqual({ organizationId: ours.id });
});
