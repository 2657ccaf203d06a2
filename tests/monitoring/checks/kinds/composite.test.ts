import { describe, expect, test } from "bun:test";
import type { Member } from "../../../../src/monitoring/dependencies/rules.ts";
import { readSince } from "../../../../src/events/log.ts";
import { runCheckOfType } from "../../../support/check-runs.ts";
import { createMcpKey } from "../../../support/mcp.ts";
import { createWatch } from "../../../support/check-board.ts";

const statuses: Record<string, Member["status"]> = {
  u: "up",
  g: "degraded",
  d: "down",
  p: "pending",
  m: "maintenance",
  z: "paused",
};
const membersOf = (text: string): Member[] =>
  text
    .split("")
    .map((letter, index) => ({ name: `M${index + 1}`, status: statuses[letter] ?? "up" }));

const findOutcome = (fields: object, members: string) =>
  runCheckOfType("composite", { minimum: null, ...fields }, { members: membersOf(members) });

describe("a composite monitor", () => {
  test.each([
    ["all", null, "uuu", "up", "3 of 3 are up, 3 must be."],
    ["all", null, "uud", "down", "2 of 3 are up, 3 must be. M3 is down."],
    ["all", null, "ugu", "degraded", "3 of 3 are up, 3 must be."],
    ["any", null, "dud", "up", "1 of 3 are up, 1 must be. M1 and M3 are down."],
    ["any", null, "ddd", "down", "0 of 3 are up, 1 must be. M1, M2 and M3 are down."],
    ["any", null, "dgd", "degraded", "1 of 3 are up, 1 must be. M1 and M3 are down."],
    ["count", 2, "uudd", "up", "2 of 4 are up, 2 must be. M3 and M4 are down."],
    ["count", 3, "uudd", "down", "2 of 4 are up, 3 must be. M3 and M4 are down."],
    ["count", 9, "uu", "down", "2 of 2 are up, 9 must be."],
    ["percentage", 50, "uudd", "up", "2 of 4 are up, 2 must be. M3 and M4 are down."],
    ["percentage", 51, "uudd", "down", "2 of 4 are up, 3 must be. M3 and M4 are down."],
    [
      "percentage",
      100,
      "ddddd",
      "down",
      "0 of 5 are up, 5 must be. M1, M2, M3 and 2 more are down.",
    ],
    ["all", null, "uzm", "up", "1 of 1 are up, 1 must be."],
    ["all", null, "up", "up", "1 of 2 are up, 2 must be."],
  ])("with mode %s and minimum %p of %s is %s", async (mode, minimum, members, status, text) => {
    const { message, ...outcome } = await findOutcome({ mode, minimum }, members);
    expect(outcome).toMatchObject({ status });
    expect(outcome.serverText ?? message).toBe(text);
    expect(message).toBe(text.replace(/(must be\.).*/, "$1"));
  });

  test("is not judged while none of its monitors is checked", async () => {
    expect(await findOutcome({ mode: "any" }, "zm")).toMatchObject({
      status: "unknown",
      message: "Not judged: none of its monitors is checked at the moment.",
    });
    expect((await findOutcome({ mode: "any" }, "pp")).message).toBe(
      "Not judged: none of its monitors was checked yet.",
    );
    expect((await findOutcome({ mode: "any" }, "")).message).toBe(
      "Not judged: it depends on no monitors.",
    );
  });

  test("without monitors shows why, and is no problem of the appliance", async () => {
    const { api, advance, readMonitor, readBeats, logged, store } = await createWatch();
    const body = { type: "composite", name: "Shop" };
    const { id } = (await api("POST", "/api/v1/monitors", { body })).json.data;
    await advance(180);
    expect(await readMonitor(id)).toMatchObject({
      status: "pending",
      lastMessage: "Not judged: it depends on no monitors.",
    });
    expect((await readBeats(id)).length).toBeGreaterThan(1);
    expect(logged.join("\n")).not.toContain("can't be judged");
    const events = await readSince(store, 0, 1_000);
    expect(events.map(({ type }) => type)).not.toContain("appliance.troubled");
  });

  test("needs a minimum for a count or percentage, and for nothing else", async () => {
    const { api } = await createWatch();
    const create = async (fields: object) => {
      const body = { type: "composite", name: "Shop", ...fields };
      const { status, json } = await api("POST", "/api/v1/monitors", { body });
      return [status, json.error?.details ?? null];
    };
    expect(await create({ mode: "count" })).toEqual([
      422,
      [{ path: "minimum", message: "is required where mode is count" }],
    ]);
    expect(await create({ minimum: 2 })).toEqual([
      422,
      [{ path: "minimum", message: "must be null where mode is all" }],
    ]);
    expect(await create({ mode: "percentage", minimum: 50 })).toEqual([201, null]);
  });

  test("names only monitors of its own group while someone is limited to groups", async () => {
    const { api, ours, createJob, advance, readMonitor } = await createWatch();
    const [one, two] = [await createJob({ name: "One" }), await createJob({ name: "Two" })];
    const groupOf = async (name: string, monitorIds: string[]) =>
      (await api("POST", "/api/v1/monitor-groups", { body: { name, monitorIds } })).json.data.id;
    const body = { type: "composite", name: "Shop", interval: 5, dependsOn: [one.id, two.id] };
    const { id } = (await api("POST", "/api/v1/monitors", { body })).json.data;
    const seen = await groupOf("Seen", [id, one.id]);
    await groupOf("Hidden", [two.id]);
    for (const job of [one, two]) await job.report({ status: "down" });
    await advance(6);
    const all = "0 of 2 are up, 2 must be. One and Two are down.";
    expect((await readMonitor(id)).lastMessage).toBe(all);
    await createMcpKey(ours, "read", [seen]);
    await advance(6);
    expect((await readMonitor(id)).lastMessage).toBe(
      "0 of 2 are up, 2 must be. One and 1 more are down.",
    );
    await one.report({ status: "up" });
    await advance(6);
    expect((await readMonitor(id)).lastMessage).toBe("1 of 2 are up, 2 must be. 1 is down.");
  });

  test("follows its monitors at once, without waiting for its interval or for retries", async () => {
    const { api, createJob, advance, readMonitor } = await createWatch();
    const [one, two] = [await createJob({ name: "One" }), await createJob({ name: "Two" })];
    const body = {
      type: "composite",
      name: "Shop",
      mode: "any",
      interval: 86_400,
      dependsOn: [one.id, two.id],
    };
    const { id } = (await api("POST", "/api/v1/monitors", { body })).json.data;
    for (const [first, second, status] of [
      ["up", "up", "up"],
      ["down", "up", "up"],
      ["down", "down", "down"],
      ["up", "down", "up"],
    ] as const) {
      await one.report({ status: first });
      await two.report({ status: second });
      await advance(3);
      expect((await readMonitor(id)).status).toBe(status);
    }
    expect((await readMonitor(id)).lastMessage).toBe("1 of 2 are up, 1 must be. Two is down.");
  });
});
