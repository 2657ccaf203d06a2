/** Escalation policies over REST: their steps, where they apply, and what can't be deleted. */
import { describe, expect, test } from "bun:test";
import { createDashboard } from "../../support/dashboard.ts";
import { dumpTables, unknownId } from "../../support/appliance.ts";
import {
  addToOrganization,
  createPerson,
  signInMember,
  sortStatuses,
} from "../../support/people.ts";
import { createSampleRecord } from "../../support/records.ts";

const path = "/api/v1/escalation-policies";

async function createTargets() {
  const board = await createDashboard();
  const { api } = board;
  const ada = await createPerson(board, board.ours.id, "member", { name: "Ada" });
  const ops = (await board.channel({ name: "#ops" })).id as string;
  const steps = [
    { afterMinutes: 0, targets: [{ type: "person", id: ada.id }] },
    {
      afterMinutes: 10,
      targets: [
        { type: "channel", id: ops },
        { type: "person", id: ada.id },
      ],
    },
  ];
  const create = (body: object = {}) => api("POST", path, { body: { name: "Shop", ...body } });
  const createPolicy = async (body: object = {}): Promise<string> => {
    const { status, json, text } = await create(body);
    expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
    return json.data.id;
  };
  return { ...board, ada, ops, steps, create, policy: createPolicy };
}

test("a policy is created, read, changed and deleted", async () => {
  const { api, create, steps } = await createTargets();
  const { status, json } = await create({ steps, repeat: 2, incidentSeverities: ["critical"] });
  expect(status).toBe(201);
  const { id } = json.data;
  expect(json.data).toEqual({
    id,
    name: "Shop",
    description: "",
    drill: null,
    steps,
    repeat: 2,
    default: false,
    incidentSeverities: ["critical"],
    createdAt: "2026-11-20T10:00:00.000Z",
    updatedAt: "2026-11-20T10:00:00.000Z",
  });
  expect((await api("GET", `${path}/${id}`)).json.data).toEqual(json.data);
  const [, second] = steps;
  const change = { steps: [second], incidentSeverities: ["critical", "major"], default: true };
  const changed = await api("PATCH", `${path}/${id}`, { body: change });
  expect(changed.json.data).toMatchObject({
    ...change,
    incidentSeverities: ["major", "critical"],
  });
  expect((await api("GET", path)).json.data).toEqual([changed.json.data]);
  expect((await api("DELETE", `${path}/${id}`)).status).toBe(200);
  expect((await api("GET", path)).json.data).toEqual([]);
});

test("steps are rejected with the path of the field", async () => {
  const { create, ops } = await createTargets();
  const target = { type: "channel", id: ops };
  const buildSteps = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ afterMinutes: index, targets: [target] }));
  const issueOf = async (steps: unknown) => (await create({ steps })).json.error?.details[0].path;
  expect(await issueOf(buildSteps(11))).toBe("steps");
  expect(await issueOf([{ afterMinutes: 0, targets: [] }])).toBe("steps[0].targets");
  expect(await issueOf([{ afterMinutes: 1_441, targets: [target] }])).toBe("steps[0].afterMinutes");
  expect(await issueOf([...buildSteps(2), ...buildSteps(2).slice(1)])).toBe(
    "steps[2].afterMinutes",
  );
  expect(await issueOf([{ afterMinutes: 0, targets: [target, target] }])).toBe(
    "steps[0].targets[1]",
  );
  expect((await create({ steps: buildSteps(10) })).status).toBe(201);
});

test("targets must exist in the organization", async () => {
  const { api, ours, theirs, create, policy, ...board } = await createTargets();
  const foreign = await createPerson({ ...board, ours, theirs }, theirs.id, "member");
  const theirChannel = await createSampleRecord(theirs.api, "alert-channels");
  const id = await policy();
  for (const target of [
    { type: "channel", id: unknownId },
    { type: "channel", id: theirChannel },
    { type: "channel", id: foreign.id },
    { type: "person", id: foreign.id },
    { type: "person", id: unknownId },
    { type: "schedule", id: unknownId },
  ]) {
    const steps = [{ afterMinutes: 0, targets: [target] }];
    for (const { status, json } of [
      await create({ steps }),
      await api("PATCH", `${path}/${id}`, { body: { steps } }),
    ])
      expect([target, status, json.error.details?.[0].path]).toEqual([target, 404, "steps"]);
  }
});

test("one policy is the default, and a severity has one policy, also with concurrent requests", async () => {
  const { api, create, policy } = await createTargets();
  const responses = await Promise.all(
    [1, 2, 3].map((name) => create({ name: `${name}`, default: true })),
  );
  expect(sortStatuses(responses)).toEqual([201, 409, 409]);
  const other = await policy({ incidentSeverities: ["major"] });
  const refusals = [
    [await api("PATCH", `${path}/${other}`, { body: { default: true } }), "default"],
    [await create({ incidentSeverities: ["major", "minor"] }), "incidentSeverities"],
  ] as const;
  for (const [{ status, json }, field] of refusals)
    expect([status, json.error.details[0].path]).toEqual([409, field]);
});

describe("joining a group", () => {
  test("gives its policy to a monitor without one, by every way, and leaves another one unchanged", async () => {
    const { policy, group, monitor, readMonitor, changeMonitor, ...board } = await createTargets();
    const [ofGroup, own] = [await policy(), await policy({ name: "Own" })];
    const { id: groupId } = await group({ escalationPolicyId: ofGroup });
    const policyOf = async (id: string) => (await readMonitor(id)).escalationPolicyId;
    const created = await monitor({ groupId });
    expect(created.escalationPolicyId).toBe(ofGroup);
    expect(await policyOf(created.id)).toBe(ofGroup);
    const moved = (await monitor()).id;
    const { json } = await changeMonitor(moved, { groupId });
    expect([json.data.escalationPolicyId, await policyOf(moved)]).toEqual([ofGroup, ofGroup]);
    const listed = (await monitor()).id;
    const before = (await monitor({ escalationPolicyId: own, groupId })).id;
    await board.changeGroup(groupId, { monitorIds: [created.id, moved, listed, before] });
    expect([await policyOf(listed), await policyOf(before)]).toEqual([ofGroup, own]);
    // The policy remains after the monitor leaves its group, as channels do. A member can have no policy.
    await changeMonitor(moved, { groupId: null });
    await changeMonitor(created.id, { escalationPolicyId: null });
    await board.changeGroup(groupId, { monitorIds: [created.id], escalationPolicyId: own });
    expect([await policyOf(moved), await policyOf(created.id)]).toEqual([ofGroup, null]);
  });

  test("in bulk gives it, too, and the audit log mentions it", async () => {
    const { policy, group, monitor, readMonitor, ...board } = await createTargets();
    const owner = await signInMember({ ...board }, "owner");
    const escalationPolicyId = await policy();
    const { id: groupId } = await group({ escalationPolicyId });
    const { id } = await monitor();
    await owner.page("POST", "/dashboard/api/v1/monitors/bulk", {
      body: { monitorIds: [id], change: { groupId } },
    });
    expect((await readMonitor(id)).escalationPolicyId).toBe(escalationPolicyId);
    const log = await owner.page("GET", "/dashboard/audit-log?noun=monitor");
    expect(log.json.data[0].fields).toEqual(["groupId", "escalationPolicyId"]);
  });

  test("a policy of another organization or an unknown one is rejected", async () => {
    const { api, theirs, group, monitor, changeMonitor, changeGroup } = await createTargets();
    const foreign = await createSampleRecord(theirs.api, "escalation-policies");
    const [monitorId, groupId] = [(await monitor()).id, (await group()).id];
    for (const escalationPolicyId of [foreign, unknownId]) {
      const body = { escalationPolicyId };
      for (const { status, json } of [
        await changeMonitor(monitorId, body),
        await changeGroup(groupId, body),
        await api("POST", "/api/v1/monitor-groups", { body: { name: "X", ...body } }),
        await api("POST", "/api/v1/monitors", { body: { type: "push", name: "X", ...body } }),
      ])
        expect([status, json.error.details?.[0].path]).toEqual([404, "escalationPolicyId"]);
    }
  });
});

describe("a deletion is rejected with the records that use", () => {
  test("a policy", async () => {
    const board = await createTargets();
    const { api, policy, group, monitor } = board;
    const escalationPolicyId = await policy();
    const at = `${path}/${escalationPolicyId}`;
    const groupId = (await group({ name: "Payments", escalationPolicyId })).id;
    const monitorId = (await monitor({ name: "Database", escalationPolicyId })).id;
    const before = dumpTables(board);
    const { status, json } = await api("DELETE", at);
    expect([status, json.error.message]).toEqual([
      409,
      "The escalation policy is used by the monitor group Payments, the monitor Database. Remove it there first.",
    ]);
    expect(json.error.details).toEqual([
      { path: `monitor-groups/${groupId}`, message: "Payments" },
      { path: `monitors/${monitorId}`, message: "Database" },
    ]);
    expect(dumpTables(board)).toBe(before);
    // Deleted users don't count, and are restored without the policy.
    await api("DELETE", `/api/v1/monitors/${monitorId}`);
    await api("DELETE", `/api/v1/monitor-groups/${groupId}`);
    expect((await api("DELETE", at)).status).toBe(200);
    for (const noun of ["monitors", "monitor-groups"]) {
      const id = noun === "monitors" ? monitorId : groupId;
      const restored = await api("POST", `/api/v1/${noun}/${id}/restore`, { body: {} });
      expect(restored.status).toBe(200);
      expect((await api("GET", `/api/v1/${noun}/${id}`)).json.data.escalationPolicyId).toBe(null);
    }
  });

  test("a channel", async () => {
    const { api, ops, policy, steps } = await createTargets();
    const id = await policy({ steps });
    const { status, json } = await api("DELETE", `/api/v1/alert-channels/${ops}`);
    expect([status, json.error.message]).toEqual([
      409,
      "The alert channel is used by the escalation policy Shop. Remove it there first.",
    ]);
    expect(json.error.details).toEqual([{ path: `escalation-policies/${id}`, message: "Shop" }]);
    await api("PATCH", `${path}/${id}`, { body: { steps: [] } });
    expect((await api("DELETE", `/api/v1/alert-channels/${ops}`)).status).toBe(200);
  });

  test("a schedule", async () => {
    const { api, ada, policy } = await createTargets();
    const layer = { personIds: [ada.id], start: "2026-11-20T09:00" };
    const schedule = await api("POST", "/api/v1/schedules", {
      body: { name: "Primary", timeZone: "UTC", layers: [layer] },
    });
    expect(schedule.status).toBe(201);
    const target = { type: "schedule", id: schedule.json.data.id };
    const id = await policy({ steps: [{ afterMinutes: 0, targets: [target] }] });
    const at = `/api/v1/schedules/${schedule.json.data.id}`;
    const { status, json } = await api("DELETE", at);
    expect([status, json.error.message]).toEqual([
      409,
      "The schedule is used by the escalation policy Shop. Remove it there first.",
    ]);
    await api("DELETE", `${path}/${id}`);
    expect((await api("DELETE", at)).status).toBe(200);
  });

  test("a person", async () => {
    const board = await createTargets();
    const { api, ada, policy, steps, theirs } = board;
    await addToOrganization(board, theirs.id, ada.id, "member");
    const id = await policy({ steps });
    const { page } = await signInMember(board, "owner");
    const { status, json } = await page("DELETE", `/dashboard/people/${ada.id}`);
    expect([status, json.error.message]).toEqual([
      409,
      "The person is used by the escalation policy Shop. Remove it there first.",
    ]);
    await api("DELETE", `${path}/${id}`);
    expect((await page("DELETE", `/dashboard/people/${ada.id}`)).status).toBe(200);
  });
});

test("people are listed by name, with their role and nothing else", async () => {
  const { api, ada, ours } = await createTargets();
  const person = { id: ada.id, name: "Ada", role: "member" };
  expect((await api("GET", "/api/v1/people")).json.data).toEqual([person]);
  expect((await ours.reader("GET", `/api/v1/people/${ada.id}`)).json.data).toEqual(person);
  expect((await api("GET", `/api/v1/people/${unknownId}`)).status).toBe(404);
});

test("admins write policies, members and viewers read them", async () => {
  const board = await createTargets();
  const id = await board.policy();
  for (const [role, expected] of [
    ["viewer", 403],
    ["member", 403],
    ["admin", 200],
  ] as const) {
    const { page } = await signInMember(board, role);
    expect((await page("GET", `/dashboard${path}/${id}`)).status).toBe(200);
    const { status } = await page("PATCH", `/dashboard${path}/${id}`, { body: { repeat: 1 } });
    expect([role, status]).toEqual([role, expected]);
  }
});
