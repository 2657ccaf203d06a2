/** Records concurrent requests and responses of clients, for the linearizability check. */
import type { Client } from "./appliance.ts";
import type { Membership, Move, Operation, PostOperation } from "./linearizability.ts";
import { createSampleRecord } from "./records.ts";
import type { Json } from "./json.ts";
import { waitUntil } from "./poll.ts";

type Moves = Operation<Move, readonly (string | null)[]>[];

const readMessages = ({ data }: { data: { updates: { message: string }[] } }) =>
  data.updates.slice(1).map(({ message }) => message);

/**
 * Clients that post to incidents and move monitors among groups, one request at a time each, at any
 * of these servers. Records every response with its times.
 */
export async function recordClientHistory(
  servers: readonly Client[],
  random: () => number,
  { clients, incidents, sets }: Record<"clients" | "incidents" | "sets", number>,
) {
  const [server] = servers as [Client];
  const createMany = (count: number, noun: string) =>
    Promise.all(Array.from({ length: count }, () => createSampleRecord(server, noun)));
  const incidentIds = await createMany(incidents, "incidents");
  const all = await Promise.all(
    Array.from({ length: sets }, async () => {
      const [monitorIds, groupIds] = [
        await createMany(3, "monitors"),
        await createMany(2, "monitor-groups"),
      ];
      const initial: Membership = Object.fromEntries(monitorIds.map((id) => [id, null]));
      return { monitorIds, groupIds, initial, moves: [] as Moves };
    }),
  );
  const pickOne = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const timelines = new Map<string, PostOperation[]>(incidentIds.map((id) => [id, []]));
  let isOver = false;
  let posted = 0;
  let answered = 0;
  const wrong: string[] = [];

  /** Records one operation; the outcome of a write without a response is unknown. */
  async function record<Input, Output>(
    history: Operation<Input, Output>[],
    input: Input,
    [method, path, body]: [method: "GET" | "PATCH", path: string, body?: object],
    outputOf: (json: Json) => Output,
    server = pickOne(servers),
  ) {
    const start = performance.now();
    const response = await server(method, path, body && { body }).catch(
      (error: Error & { code?: string }) => error,
    );
    const end = performance.now();
    if (response instanceof Error || response.status === 503) {
      const isSent = !(response instanceof Error && response.code === "ConnectionRefused");
      if (isSent && method !== "GET") history.push({ input, output: null, start, end });
      await Bun.sleep(20);
    } else if (response.status === 200) {
      history.push({ input, output: outputOf(response.json), start, end });
      answered++;
    } else wrong.push(`${method} ${path}: ${response.status} ${response.text}`);
  }

  const buildPath = (noun: string, id: string) => `/api/v1/${noun}/${id}`;
  const readMembers = ({ data }: { data: { monitorIds: string[] } }) => data.monitorIds;
  const readGroup = ({ data }: { data: { groupId: string | null } }) => [data.groupId];

  function runStep(): Promise<void> {
    const { monitorIds, groupIds, moves } = pickOne(all);
    const [incident, monitor, group] = [
      pickOne(incidentIds),
      pickOne(monitorIds),
      pickOne(groupIds),
    ];
    const incidentTimeline = timelines.get(incident) as PostOperation[];
    const at = {
      incident: buildPath("incidents", incident),
      monitor: buildPath("monitors", monitor),
      group: buildPath("monitor-groups", group),
    };
    const message = `Post ${posted++}`;
    const members = monitorIds.filter(() => random() < 0.5);
    const steps = [
      () =>
        record(
          incidentTimeline,
          { post: message },
          ["PATCH", at.incident, { message }],
          readMessages,
        ),
      () => record(incidentTimeline, "read", ["GET", at.incident], readMessages),
      () =>
        record(moves, { monitor, to: group }, ["PATCH", at.monitor, { groupId: group }], readGroup),
      () =>
        record(
          moves,
          { group, members },
          ["PATCH", at.group, { monitorIds: members }],
          readMembers,
        ),
      () => record(moves, { groupOf: monitor }, ["GET", at.monitor], readGroup),
      () => record(moves, { membersOf: group }, ["GET", at.group], readMembers),
    ];
    return pickOne(steps)();
  }

  /** The final state at each server, which must contain every acknowledged write once. */
  async function readAll(server: Client) {
    for (const [id, history] of timelines)
      await record(history, "read", ["GET", buildPath("incidents", id)], readMessages, server);
    for (const { monitorIds, groupIds, moves } of all) {
      for (const id of monitorIds)
        await record(moves, { groupOf: id }, ["GET", buildPath("monitors", id)], readGroup, server);
      for (const id of groupIds) {
        const path = buildPath("monitor-groups", id);
        await record(moves, { membersOf: id }, ["GET", path], readMembers, server);
      }
    }
  }

  const working = Array.from({ length: clients }, async () => {
    while (!isOver) await runStep();
  });

  return {
    /** Resolves after this number of further responses. */
    async waitForResponses(count: number) {
      const until = answered + count;
      await waitUntil(() => answered >= until);
    },
    /** Resolves with the recorded operations after the last response. Throws for an invalid response. */
    async finish() {
      isOver = true;
      await Promise.all(working);
      await Promise.all(servers.map(readAll));
      if (wrong.length > 0) throw new Error(wrong.join("\n"));
      return { timelines: [...timelines.values()], sets: all };
    },
  };
}
