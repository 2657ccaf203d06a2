import { describe, expect, test } from "bun:test";
import { namedLeases } from "../../src/cluster/rules.ts";
import { formatTimestamp } from "../../src/core/time/clock.ts";
import { readSince } from "../../src/events/log.ts";
import { listOpenProblems } from "../../src/events/problems.ts";
import { ProblemWatch } from "../../src/operations/diagnostics/watch.ts";
import { Housekeeping } from "../../src/operations/retention/service.ts";
import type { TestAppliance } from "../support/appliance.ts";
import { type Sharing, createSharing } from "../support/shared-database.ts";
import { createPerson } from "../support/people.ts";
import { replyWith, startTarget } from "../support/target.ts";

const GB = 1_000_000_000;

describe("one of several nodes does", () => {
  const sortByLease = ({ both }: Sharing, name: (typeof namedLeases)[number]) =>
    both.toSorted(
      (x, y) => Number(x.node.findNamed(name) === null) - Number(y.node.findNamed(name) === null),
    );
  const readTypes = async ({ store }: Sharing, prefix: string) =>
    (await readSince(store, 0, 1_000))
      .map(({ type }) => type)
      .filter((type) => type.startsWith(prefix));

  test("the maintenance alerts, and another one continues after its death", async () => {
    const sharing = await createSharing();
    const { both, ours, advance, time } = sharing;
    const [startsAt, endsAt] = [10, 40].map((seconds) =>
      formatTimestamp(time.now + seconds * 1_000),
    );
    const { json } = await ours.api("POST", "/api/v1/monitors", {
      body: { name: "Job", type: "push" },
    });
    const body = { title: "Upgrade", startsAt, endsAt, monitorIds: [json.data.id] };
    const planned = await ours.api("POST", "/api/v1/maintenance-windows", { body });
    expect(planned.status).toBe(201);
    await advance(15, both);
    expect(await readTypes(sharing, "maintenance.s")).toEqual(["maintenance.started"]);
    const [, other] = sortByLease(sharing, "maintenance");
    await advance(45, [other!]);
    await advance(10, both);
    expect(await readTypes(sharing, "maintenance.")).toEqual([
      "maintenance.created",
      "maintenance.started",
      "maintenance.ended",
    ]);
  });

  test("each step of an escalation, and another one continues after its death", async () => {
    const sharing = await createSharing();
    const { both, ours, advance } = sharing;
    await using phone = await startTarget(replyWith());
    const create = async (path: string, body: object) =>
      (await ours.api("POST", `/api/v1/${path}`, { body })).json.data;
    const { id } = await create("alert-channels", {
      type: "webhook",
      name: "Phone",
      url: phone.at("/"),
      incidents: false,
    });
    const targets = [{ type: "channel", id }];
    await create("escalation-policies", {
      name: "Shop",
      incidentSeverities: ["critical"],
      steps: [0, 1].map((afterMinutes) => ({ afterMinutes, targets })),
    });
    await create("incidents", { title: "Slow", severity: "critical" });
    await advance(20, both);
    expect(phone.asked).toHaveLength(1);
    const [, other] = sortByLease(sharing, "alerting");
    await advance(70, [other!]);
    await advance(20, both);
    expect(phone.asked).toHaveLength(2);
  });

  test("the housekeeping", async () => {
    const sharing = await createSharing();
    const { both, store, time } = sharing;
    const swept: string[] = [];
    const minutes: string[] = [];
    const runs = both.map(
      ({ id, node, appliance }) =>
        new Housekeeping({
          store,
          clock: () => time.now,
          leases: node,
          log: appliance.log,
          retention: { results: 14, hours: 400, audit: 400 },
          readUpTo: async () => swept.push(id),
          eachMinute: async () => void minutes.push(id),
        }),
    );
    for (const run of runs) await run.runOnce();
    expect(swept).toEqual([sortByLease(sharing, "retention")[0]!.id]);
    // Each node for itself, such as last uses of keys.
    expect(minutes).toEqual(["a", "b"]);
  });

  /** The problems of each node; the first node's disk can be nearly full. */
  async function startWatching(sharing: Sharing, isFull: boolean) {
    const { both, ours, store, time } = sharing;
    const seen = { ...both[0], store, time } as unknown as TestAppliance;
    await createPerson(seen, ours.id, "owner", { administrator: true });
    // Its wall clock stops, and the monotonic clock nearly does, so no jump is detected.
    const { now } = time;
    return both.map(
      ({ id, appliance }) =>
        new ProblemWatch({
          ...appliance,
          clock: () => now,
          diskOf: async () => ({ free: (isFull && id === "a" ? 0.1 : 50) * GB, total: 100 * GB }),
          certificateExpiresAt: () => null,
        }),
    );
  }

  test("the alerts about a machine's problems, which another node closes only if the machine is gone", async () => {
    const sharing = await createSharing();
    const { both, store, advance } = sharing;
    const watches = await startWatching(sharing, true);
    const inspect = async () => {
      for (const watch of watches) await watch.runOnce();
    };
    await inspect();
    await inspect();
    expect(await listOpenProblems(store)).toMatchObject([
      { name: "disk", node: "a", message: expect.stringMatching(/^a\.lan:3210: The disk/) },
    ]);
    expect(await readTypes(sharing, "appliance.")).toEqual(["appliance.troubled"]);
    await both[0].node.stop();
    await advance(4, [both[1]]);
    await watches[1]!.runOnce();
    expect(await listOpenProblems(store)).toEqual([]);
    expect(await readTypes(sharing, "appliance.")).toEqual([
      "appliance.troubled",
      "appliance.recovered",
    ]);
  });

  test("the alert that a machine is gone, and the one that it is back", async () => {
    const sharing = await createSharing();
    const { both, store, advance } = sharing;
    const watches = await startWatching(sharing, false);
    const inspect = async () => {
      for (const watch of watches) await watch.runOnce();
    };
    await advance(20, [both[1]]);
    await inspect();
    await inspect();
    expect(await listOpenProblems(store)).toMatchObject([
      {
        name: "node",
        node: "a",
        message: expect.stringMatching(/^a\.lan:3210 has not been heard from/),
      },
    ]);
    await advance(20, both);
    await inspect();
    expect(await listOpenProblems(store)).toEqual([]);
    expect(await readTypes(sharing, "appliance.")).toEqual([
      "appliance.troubled",
      "appliance.recovered",
    ]);
  });
});
