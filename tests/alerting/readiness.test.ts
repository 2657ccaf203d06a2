/** Readiness: who can be reached how, and what is missing; also as a problem of the appliance. */
import { expect, test } from "bun:test";
import { examineOnCall } from "../../src/operations/diagnostics/on-call.ts";
import type { Json } from "../support/json.ts";
import { createPersonWithPhone } from "../support/on-call.ts";
import { createPager } from "../support/pager.ts";
import { signInMember } from "../support/people.ts";

async function createWorld() {
  const pager = await createPager();
  const ada = await createPersonWithPhone(pager, "Ada");
  const ben = await signInMember(pager, "member", { name: "Ben" });
  const { api, appliance } = pager;
  const create = async (noun: string, body: object) => {
    const { status, json, text } = await api("POST", `/api/v1/${noun}`, { body });
    if (status !== 201) throw new Error(text);
    return json.data.id as string;
  };
  const layer = { personIds: [ada.id], start: "2026-11-01T00:00" };
  const scheduleId = await create("schedules", { name: "Platform", layers: [layer] });
  const read = async () => (await api("GET", "/api/v1/on-call/readiness")).json.data as Json;
  const listProblems = async () =>
    (await read()).problems.map(({ type, severity }: Json) => `${severity} ${type}`) as string[];
  const examine = async () =>
    (await examineOnCall({ store: appliance.store, clock: appliance.clock })).map(
      ({ verdict, problem }) => problem?.message ?? verdict,
    );
  return { ...pager, ada, ben, create, layer, scheduleId, read, listProblems, examine };
}

test("people, schedules and policies are judged, with the record that mends each problem", async () => {
  const world = await createWorld();
  const { api, ada, ben, create, layer, scheduleId, read, listProblems, examine, inbox } = world;
  expect(await listProblems()).toEqual(["warning not-used"]);
  expect(await examine()).toEqual([]);
  const policyId = await create("escalation-policies", {
    name: "Shop",
    steps: [{ afterMinutes: 0, targets: [{ type: "schedule", id: scheduleId }] }],
  });
  expect(await listProblems()).toEqual(["warning ends-in-nobody"]);
  const ops = await inbox({ name: "Ops" });
  expect(await listProblems()).toEqual([]);
  expect(await examine()).toEqual(["ok"]);
  const before = await read();
  expect(before.people).toMatchObject([
    {
      name: "Ada",
      onCall: true,
      reachable: true,
      reachableForCritical: true,
      uses: [{ type: "schedule", name: "Platform" }],
      contactMethods: [
        { name: "Phone", usedAfterMinutes: 0, provenAt: "2026-11-20T10:00:00.000Z" },
      ],
      acknowledgedAt: null,
    },
  ]);

  // Ben takes over at noon, and nobody is on call on the second day.
  await api("PATCH", `/api/v1/schedules/${scheduleId}`, {
    body: {
      layers: [
        { ...layer, end: "2026-11-20T12:00" },
        { personIds: [ben.id], start: "2026-11-20T12:00", end: "2026-11-21T12:00" },
      ],
    },
  });
  const { problems, people } = await read();
  expect(problems).toMatchObject([
    {
      type: "no-contact-method",
      message: "Ben has no contact method.",
      subject: { type: "person", id: ben.id },
    },
    {
      type: "gap",
      message: "Nobody is on call in Platform from 2026-11-21 12:00 (UTC).",
      subject: { type: "schedule", id: scheduleId },
    },
  ]);
  expect(people.map(({ name, onCall }: Json) => [name, onCall])).toEqual([
    ["Ben", false],
    ["Ada", true],
  ]);
  expect(await examine()).toEqual(["ok"]);
  world.time.now += 3 * 3_600_000;
  expect(await examine()).toEqual(["Ben has no contact method. See On call → Readiness."]);
  expect(await listProblems()).toContain("error reaches-nobody");

  await api("PATCH", `/api/v1/escalation-policies/${policyId}`, {
    body: {
      steps: [
        {
          afterMinutes: 0,
          targets: [
            { type: "person", id: ada.id },
            { type: "channel", id: ops.id },
          ],
        },
      ],
    },
  });
  await world.changeChannel(ops, { enabled: false });
  expect(await listProblems()).toEqual([
    "error no-contact-method",
    "warning ends-in-nobody",
    "warning channel-disabled",
    "warning gap",
    "warning not-used",
  ]);
});

test("every reason for which a person can't be reached is named", async () => {
  const world = await createWorld();
  const { api, ada, create, database, listProblems, inbox } = world;
  await inbox({ name: "Ops" });
  const targets = [{ type: "person", id: ada.id }];
  await create("escalation-policies", { name: "Shop", steps: [{ afterMinutes: 0, targets }] });
  const method = `/api/v1/contact-methods/${ada.methodId}`;
  const patch = async (body: object) => {
    expect((await api("PATCH", method, { body })).status).toBe(200);
    return (await listProblems()).filter((one) => !one.endsWith("not-used"));
  };
  expect(await patch({ criticalAfterMinutes: null })).toEqual(["error none-for-critical"]);
  expect(await patch({ criticalAfterMinutes: 0, afterMinutes: null })).toEqual([]);
  expect(await patch({ enabled: false })).toEqual(["error disabled", "error reaches-nobody"]);
  await patch({ enabled: true });
  database.run(
    "update alert_channels set failing_since = ?, last_error = 'It is off.' where id = ?",
    ["2026-11-20T09:00:00.000Z", ada.methodId],
  );
  const { problems } = (await api("GET", "/api/v1/on-call/readiness")).json.data;
  expect(problems[0]).toMatchObject({
    type: "failing",
    message: "Messages to Ada can't be delivered. It is off.",
  });
  database.run("update alert_channels set failing_since = null, verified_at = null");
  expect((await listProblems())[0]).toBe("error not-verified");
});

test("an acknowledgment proves that a person can be reached, and organizations are separate", async () => {
  const { ada, read, theirs, create, api } = await createWorld();
  const started = await ada.page("POST", `/dashboard/api/v1/people/${ada.id}/drill`);
  const { id } = started.json.data;
  await ada.page("POST", `/dashboard/api/v1/alerts/${id}/acknowledge`);
  expect((await read()).people[0].acknowledgedAt).toBe("2026-11-20T10:00:00.000Z");
  await create("escalation-policies", {
    name: "Ada",
    steps: [{ afterMinutes: 0, targets: [{ type: "person", id: ada.id }] }],
  });
  expect((await read()).people[0].uses.map(({ type }: Json) => type)).toEqual([
    "schedule",
    "policy",
  ]);
  expect((await theirs.api("GET", "/api/v1/on-call/readiness")).json.data).toMatchObject({
    people: [],
    problems: [],
  });
  await api("POST", `/api/v1/people/${ada.id}/drill`);
});
