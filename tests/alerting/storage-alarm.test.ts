import { expect, test } from "bun:test";
import { StorageAlarm } from "../../src/alerting/sending/storage-alarm.ts";
import { createPager } from "../support/pager.ts";
import { replyWith } from "../support/target.ts";
import { makeUnstorable } from "../support/unwritable-store.ts";

/** An appliance whose regular writes can fail, with its own clock. */
async function watched() {
  const made = await createPager();
  const disk = makeUnstorable(made.store, made.time);
  const alarm = new StorageAlarm({
    ...made.appliance,
    monotonic: () => made.time.now,
    random: () => 0.5,
  });
  const passes = async (seconds: number, isFailing: boolean) => {
    for (let passed = 0; passed < seconds; passed++) {
      made.time.now += 1_000;
      if (isFailing) made.store.writes.recordFailure("results");
      else made.store.writes.recordSuccess("results");
      await alarm.runOnce();
    }
  };
  return { ...made, disk, passes };
}

const told = (inbox: { received(): { type: string; data: { problem: string } }[] }) =>
  inbox.received().map(({ type, data }) => `${type} ${data.problem}`);

test("one alert reports that results can't be stored, and one that they can again", async () => {
  const made = await watched();
  await using usual = await made.inbox({ default: true });
  await using other = await made.inbox();
  await using off = await made.inbox({ default: true, enabled: false });
  made.disk.fill();
  await made.passes(8, true);
  expect(told(usual)).toEqual(["appliance.troubled storage"]);
  for (let times = 0; times < 10; times++) {
    await made.passes(60, true);
    await made.passes(5, false);
  }
  expect(told(usual)).toEqual(["appliance.troubled storage"]);
  made.disk.free();
  await made.passes(60, false);
  const both = ["appliance.troubled storage", "appliance.recovered storage"];
  expect(told(usual)).toEqual(both);
  await made.passes(60, true);
  expect(told(usual)).toEqual([...both, "appliance.troubled storage"]);
  expect([...told(other), ...told(off)]).toEqual([]);
});

test("without a default channel all channels of an organization are notified", async () => {
  const made = await watched();
  await using one = await made.inbox();
  await using two = await made.inbox();
  const { json } = await made.theirs.api("POST", "/api/v1/alert-channels", {
    body: { type: "webhook", name: "Theirs", url: two.at("/theirs") },
  });
  expect(json.data.name).toBe("Theirs");
  await made.passes(8, true);
  expect(told(one)).toEqual(["appliance.troubled storage"]);
  expect(two.asked.map(({ path }) => path).toSorted()).toEqual(["/hook", "/theirs"]);
});

test("a channel that fails is retried with the same id, and gets the end after the start", async () => {
  const made = await watched();
  await using hook = await made.inbox({ default: true }, replyWith(503));
  await made.passes(8, true);
  const first = hook.received()[0]?.id;
  await made.passes(20, false);
  hook.setReply(replyWith());
  await made.passes(60, false);
  const delivered = hook.received().slice(-2);
  expect(delivered.map(({ type }) => type)).toEqual(["appliance.troubled", "appliance.recovered"]);
  expect(delivered[0]?.id).toBe(first ?? "");
});

test("a write that fails once causes no alert", async () => {
  const made = await watched();
  await using hook = await made.inbox({ default: true });
  await made.passes(1, true);
  await made.passes(60, false);
  expect(hook.asked).toEqual([]);
});
