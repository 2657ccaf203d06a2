import { expect, test } from "bun:test";
import { StorageAlarm } from "../../src/alerting/sending/storage-alarm.ts";
import { createPager } from "../support/pager.ts";
import { replyWith } from "../support/target.ts";
import { makeUnstorable } from "../support/unwritable-store.ts";

/** An appliance whose regular writes can fail, with its own clock. */
async function createFailingStore() {
  const pager = await createPager();
  const disk = makeUnstorable(pager.store, pager.time);
  const alarm = new StorageAlarm({
    ...pager.appliance,
    monotonic: () => pager.time.now,
    random: () => 0.5,
  });
  const passSeconds = async (seconds: number, isFailing: boolean) => {
    for (let elapsed = 0; elapsed < seconds; elapsed++) {
      pager.time.now += 1_000;
      if (isFailing) pager.store.writes.recordFailure("results");
      else pager.store.writes.recordSuccess("results");
      await alarm.runOnce();
    }
  };
  return { ...pager, disk, passSeconds };
}

const summarize = (inbox: { received(): { type: string; data: { problem: string } }[] }) =>
  inbox.received().map(({ type, data }) => `${type} ${data.problem}`);

test("one alert reports that results can't be stored, and one that they can again", async () => {
  const world = await createFailingStore();
  await using defaultInbox = await world.inbox({ default: true });
  await using other = await world.inbox();
  await using off = await world.inbox({ default: true, enabled: false });
  world.disk.fill();
  await world.passSeconds(8, true);
  expect(summarize(defaultInbox)).toEqual(["appliance.troubled storage"]);
  for (let times = 0; times < 10; times++) {
    await world.passSeconds(60, true);
    await world.passSeconds(5, false);
  }
  expect(summarize(defaultInbox)).toEqual(["appliance.troubled storage"]);
  world.disk.free();
  await world.passSeconds(60, false);
  const expected = ["appliance.troubled storage", "appliance.recovered storage"];
  expect(summarize(defaultInbox)).toEqual(expected);
  await world.passSeconds(60, true);
  expect(summarize(defaultInbox)).toEqual([...expected, "appliance.troubled storage"]);
  expect([...summarize(other), ...summarize(off)]).toEqual([]);
});

test("without a default channel all channels of an organization are notified", async () => {
  const world = await createFailingStore();
  await using one = await world.inbox();
  await using two = await world.inbox();
  const { json } = await world.theirs.api("POST", "/api/v1/alert-channels", {
    body: { type: "webhook", name: "Theirs", url: two.at("/theirs") },
  });
  expect(json.data.name).toBe("Theirs");
  await world.passSeconds(8, true);
  expect(summarize(one)).toEqual(["appliance.troubled storage"]);
  expect(two.asked.map(({ path }) => path).toSorted()).toEqual(["/hook", "/theirs"]);
});

test("a channel that fails is retried with the same id, and gets the end after the start", async () => {
  const world = await createFailingStore();
  await using hook = await world.inbox({ default: true }, replyWith(503));
  await world.passSeconds(8, true);
  const first = hook.received()[0]?.id;
  await world.passSeconds(20, false);
  hook.setReply(replyWith());
  await world.passSeconds(60, false);
  const delivered = hook.received().slice(-2);
  expect(delivered.map(({ type }) => type)).toEqual(["appliance.troubled", "appliance.recovered"]);
  expect(delivered[0]?.id).toBe(first ?? "");
});

test("a write that fails once causes no alert", async () => {
  const world = await createFailingStore();
  await using hook = await world.inbox({ default: true });
  await world.passSeconds(1, true);
  await world.passSeconds(60, false);
  expect(hook.asked).toEqual([]);
});
