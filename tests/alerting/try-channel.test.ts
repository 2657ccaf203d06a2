import { expect, test } from "bun:test";
import { dumpTables } from "../support/appliance.ts";
import { replyWith, startTarget } from "../support/target.ts";
import { signInMember } from "../support/people.ts";
import { testAppliance } from "../support/appliance.ts";

const path = "/dashboard/alert-channels";

test("an unsaved alert channel gets the same test alert, and nothing is stored", async () => {
  const appliance = await testAppliance();
  await using bot = await startTarget();
  const { page } = await signInMember(appliance, "member");
  const before = dumpTables(appliance);
  const body = { type: "webhook", name: "Deploy bot", url: bot.at("/alerts") };
  const good = await page("POST", `${path}/try`, { body });
  expect([good.status, good.json.data]).toEqual([200, { delivered: true, message: "Delivered." }]);
  expect(JSON.parse(bot.asked[0]?.body ?? "")).toMatchObject({
    type: "test",
    data: { channel: { name: "Deploy bot" } },
  });
  bot.setReply(replyWith(500), "/alerts");
  const bad = await page("POST", `${path}/try`, { body });
  expect(bad.json.data).toMatchObject({ delivered: false });
  const refused = await page("POST", `${path}/try`, {
    body: { ...body, url: "http://169.254.169.254/" },
  });
  expect([refused.status, refused.json.error.details[0].path]).toEqual([422, "url"]);
  expect(dumpTables(appliance)).toBe(before);
});

test("a channel is tested with unsaved changes, and stays unchanged", async () => {
  const appliance = await testAppliance();
  await using bot = await startTarget();
  const { page } = await signInMember(appliance, "member");
  const { api } = appliance.ours;
  const stored = { type: "webhook", name: "Bot", url: bot.at("/old"), headers: { "X-Team": "a" } };
  const { id } = (await api("POST", "/api/v1/alert-channels", { body: stored })).json.data;
  const before = dumpTables(appliance);
  const body = { name: "Robot", headers: { "X-Team": null } };
  const { json } = await page("POST", `${path}/${id}/try`, { body });
  expect(json.data.delivered).toBe(true);
  expect(bot.asked[0]).toMatchObject({ path: "/old", headers: { "x-team": "a" } });
  expect(bot.asked[0]?.body).toContain("Robot");
  expect(dumpTables(appliance)).toBe(before);
  const stranger = await page("POST", `${path}/${crypto.randomUUID()}/try`, { body });
  expect(stranger.status).toBe(404);
});

test("tests of unsaved channels count, too", async () => {
  const appliance = await testAppliance();
  await using bot = await startTarget();
  const { page } = await signInMember(appliance, "member");
  const body = { type: "webhook", name: "Bot", url: bot.at() };
  const statuses: number[] = [];
  while (statuses.at(-1) !== 429 && statuses.length < 200)
    statuses.push((await page("POST", `${path}/try`, { body })).status);
  expect(statuses.at(-1)).toBe(429);
});
