import { expect, test } from "bun:test";
import { inbox } from "../support/inbox.ts";
import { sharing } from "../support/sharing.ts";
import { clientOf } from "../support/appliance.ts";
import { answer, hang } from "../support/target.ts";

const channels = 8;

test("a node that dies while it sends: every alert arrives, at most what was under way twice", async () => {
  const made = await sharing({ allowTarget: ["127.0.0.1/32"] });
  const { both, ours, pass, time, store } = made;
  const [alive, dying] = both;
  await using hook = await inbox();
  const post = async (path: string, body: object) => {
    const { status, json, text } = await ours.api("POST", path, { body });
    expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
    return json.data;
  };
  const paths = new Map<string, string>();
  for (let i = 0; i < channels; i++) {
    const url = hook.at(`/${i}`);
    const { id } = await post("/api/v1/alert-channels", { name: `${i}`, type: "webhook", url });
    paths.set(id, `/${i}`);
  }
  const job = { name: "Job", type: "push", retries: 0, alertChannelIds: [...paths.keys()] };
  const { id, pushUrl } = await post("/api/v1/monitors", job);
  await pass(1, both);
  const [owner] = both.filter(({ node }) => node.of(id) !== null);
  const report = (query: string) =>
    clientOf(owner!.app, null)("GET", `${new URL(pushUrl).pathname}?${query}`);
  await report("status=up");
  await report("status=down");

  const its = [...paths].filter(([id]) => dying.node.of(id) !== null).map(([, path]) => path);
  expect(its.length).toBeGreaterThan(0);
  expect(its.length).toBeLessThan(channels);
  hook.behave((response) => (its.includes(response.req.url ?? "") ? hang : answer())(response));
  // Decided by one of them, whichever looks first.
  await Promise.all(both.map(({ alerts }) => alerts.runOnce()));
  time.now += 6_000;
  await Promise.all(both.map(({ node }) => node.runOnce()));
  await alive.alerts.runOnce();
  const sending = dying.alerts.runOnce();
  await hook.untilAsked(channels);

  hook.behave(answer());
  await pass(16, [alive]);
  const arrivedAt = () => hook.asked.map(({ path }) => path).toSorted();
  const twice = [...paths.values(), ...its].toSorted();
  expect(arrivedAt()).toEqual(twice);
  expect(hook.arrived()).toHaveLength(channels);

  // What the dead one finds out after all changes nothing any more.
  hook.release();
  await sending;
  await pass(30, both);
  expect(arrivedAt()).toEqual(twice);
  const rows = await store.query("select status, attempts from deliveries", []);
  expect(rows).toEqual(
    Array.from({ length: channels }, () => ({ status: "delivered", attempts: 1 })),
  );
  expect(await store.query("select type from alerts", [])).toEqual([{ type: "monitor.down" }]);
});
