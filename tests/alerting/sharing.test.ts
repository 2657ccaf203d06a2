import { expect, test } from "bun:test";
import { startInbox } from "../support/inbox.ts";
import { createSharing } from "../support/shared-database.ts";
import { createApplianceClient } from "../support/appliance.ts";
import { replyWith, hang } from "../support/target.ts";

test("if a node dies while sending, every alert arrives, and only those in flight can arrive twice", async () => {
  const sharing = await createSharing({ allowTarget: ["127.0.0.1/32"] });
  const { both, ours, advance, time, store } = sharing;
  const [alive, dying] = both;
  await using hook = await startInbox();
  const post = async (path: string, body: object) => {
    const { status, json, text } = await ours.api("POST", path, { body });
    expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
    return json.data;
  };
  const paths = new Map<string, string>();
  const listHeld = ({ node }: typeof alive) =>
    [...paths.keys()].filter((id) => node.findByRecord(id) !== null);
  // Ids are random, so either node can have the channel's lease.
  while (both.some((server) => listHeld(server).length < 2)) {
    const path = `/${paths.size}`;
    const channel = { name: path, type: "webhook", url: hook.at(path) };
    paths.set((await post("/api/v1/alert-channels", channel)).id, path);
  }
  const channels = paths.size;
  const job = { name: "Job", type: "push", retries: 0, alertChannelIds: [...paths.keys()] };
  const { id, pushUrl } = await post("/api/v1/monitors", job);
  await advance(1, both);
  const [owner] = both.filter(({ node }) => node.findByRecord(id) !== null);
  const report = (query: string) =>
    createApplianceClient(owner!.app, null)("GET", `${new URL(pushUrl).pathname}?${query}`);
  await report("status=up");
  await report("status=down");

  const dyingPaths = listHeld(dying).map((id) => paths.get(id) ?? "");
  hook.behave((response) =>
    (dyingPaths.includes(response.req.url ?? "") ? hang : replyWith())(response),
  );
  // Both nodes run; one of them decides.
  await Promise.all(both.map(({ alerts }) => alerts.runOnce()));
  time.now += 6_000;
  await Promise.all(both.map(({ node }) => node.runOnce()));
  await alive.alerts.runOnce();
  const sending = dying.alerts.runOnce();
  await hook.waitUntilRequested(channels);

  hook.behave(replyWith());
  await advance(16, [alive]);
  const listPaths = () => hook.asked.map(({ path }) => path).toSorted();
  const expectedPaths = [...paths.values(), ...dyingPaths].toSorted();
  expect(listPaths()).toEqual(expectedPaths);
  expect(hook.listArrived()).toHaveLength(channels);

  // Late results of the dead node change nothing.
  hook.release();
  await sending;
  await advance(30, both);
  expect(listPaths()).toEqual(expectedPaths);
  const rows = await store.query("select status, attempts from deliveries", []);
  expect(rows).toEqual(
    Array.from({ length: channels }, () => ({ status: "delivered", attempts: 1 })),
  );
  expect(await store.query("select type from alerts", [])).toEqual([{ type: "monitor.down" }]);
});
