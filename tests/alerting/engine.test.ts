import { expect, test } from "bun:test";
import { pager } from "../support/pager.ts";
import { answer, hang, reset } from "../support/target.ts";

test("an outage and its end are told, once each", async () => {
  const { inbox, watched, later } = await pager();
  await using hook = await inbox();
  const backup = await watched([hook]);
  await later();
  expect(hook.heard()).toEqual([]);
  await backup.goes("down");
  await later();
  await backup.goes("up");
  await later();
  await later(3_600);
  expect(hook.heard()).toEqual(["monitor.down Backup", "monitor.up Backup"]);
});

test("a receiver that fails once gets the same delivery again", async () => {
  const { inbox, watched, later } = await pager();
  await using hook = await inbox({}, answer(500));
  const backup = await watched([hook]);
  await backup.goes("down");
  await later();
  hook.reply(answer());
  await later(6);
  await later(3_600);
  const [first, second, ...more] = hook.asked;
  expect(more).toEqual([]);
  expect(first?.headers["webhook-id"]).toBe(second?.headers["webhook-id"] as string);
  expect(first?.body).toBe(second?.body as string);
});
