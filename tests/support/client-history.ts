/** Records concurrent requests and responses of clients, for the linearizability check. */
import type { Client } from "./appliance.ts";
import type { Membership, Move, Operation, Posting } from "./linearizability.ts";
import { made } from "./records.ts";
import type { Json } from "./json.ts";

type Moves = Operation<Move, readonly (string | null)[]>[];

const messagesOf = ({ data }: { data: { updates: { message: string }[] } }) =>
  data.updates.slice(1).map(({ message }) => message);

/**
 * Clients that post to incidents and move monitors among groups, one request at a time each, at any
 * of these servers. Records every response with its times.
 */
export async function clientHistory(
  servers: readonly Client[],
  random: () => number,
  { clients, incidents, sets }: Record<"clients" | "incidents" | "sets", number>,
) {
  const [server] = servers as [Client];
  const many = (count: number, noun: string) =>
    Promise.all(Array.from({ length: count }, () => made(server, noun)));
  const incidentIds = await many(incidents, "incidents");
  const all = await Promise.all(
    Array.from({ length: sets }, async () => {
      const [monitorIds, groupIds] = [await many(3, "monitors"), await many(2, "monitor-groups")];
      const initial: Membership = Object.fromEntries(monitorIds.map((id) => [id, null]));
      return { monitorIds, groupIds, initial, moves: [] as Moves };
    }),
  );
  const one = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const timelines = new Map<string, Posting[]>(incidentIds.map((id) => [id, []]));
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
    server = one(servers),
  ) {
    const start = performance.now();
    const answer = await server(method, path, body && { body }).catch(
      (error: Error & { code?: string }) => error,
    );
    const end = performance.now();
    if (answer instanceof Error || answer.status === 503) {
      const isSent = !(answer instanceof Error && answer.code === "ConnectionRefused");
      if (isSent && method !== "GET") history.push({ input, output: null, start, end });
      await Bun.sleep(20);
    } else if (answer.status === 200) {
      history.push({ input, output: outputOf(answer.json), start, end });
      answered++;
    } else wrong.push(`${method} ${path}: ${answer.status} ${answer.text}`);
  }

  const pathOf = (noun: string, id: string) => `/api/v1/${noun}/${id}`;
  const membersIn = ({ data }: { data: { monitorIds: string[] } }) => data.monitorIds;
  const groupIn = ({ data }: { data: { groupId: string | null } }) => [data.groupId];

  function step(): Promise<void> {
    const { monitorIds, groupIds, moves } = one(all);
    const [incident, monitor, group] = [one(incidentIds), one(monitorIds), one(groupIds)];
    const ofIncident = timelines.get(incident) as Posting[];
    const at = {
      incident: pathOf("incidents", incident),
      monitor: pathOf("monitors", monitor),
      group: pathOf("monitor-groups", group),
    };
    const message = `Post ${posted++}`;
    const members = monitorIds.filter(() => random() < 0.5);
    const steps = [
      () => record(ofIncident, { post: message }, ["PATCH", at.incident, { message }], messagesOf),
      () => record(ofIncident, "read", ["GET", at.incident], messagesOf),
      () =>
        record(moves, { monitor, to: group }, ["PATCH", at.monitor, { groupId: group }], groupIn),
      () =>
        record(moves, { group, members }, ["PATCH", at.group, { monitorIds: members }], membersIn),
      () => record(moves, { groupOf: monitor }, ["GET", at.monitor], groupIn),
      () => record(moves, { membersOf: group }, ["GET", at.group], membersIn),
    ];
    return one(steps)();
  }

  /** The final state at each server, which must contain every acknowledged write once. */
  async function readAll(server: Client) {
    for (const [id, history] of timelines)
      await record(history, "read", ["GET", pathOf("incidents", id)], messagesOf, server);
    for (const { monitorIds, groupIds, moves } of all) {
      for (const id of monitorIds)
        await record(moves, { groupOf: id }, ["GET", pathOf("monitors", id)], groupIn, server);
      for (const id of groupIds) {
        const path = pathOf("monitor-groups", id);
        await record(moves, { membersOf: id }, ["GET", path], membersIn, server);
      }
    }
  }

  const working = Array.from({ length: clients }, async () => {
    while (!isOver) await step();
  });

  return {
    /** Resolves after this number of further responses. */
    async answered(count: number) {
      const until = answered + count;
      while (answered < until) await Bun.sleep(5);
    },
    /** Resolves with the recorded operations after the last response. Throws for an invalid response. */
    async end() {
      isOver = true;
      await Promise.all(working);
      await Promise.all(servers.map(readAll));
      if (wrong.length > 0) throw new Error(wrong.join("\n"));
      return { timelines: [...timelines.values()], sets: all };
    },
  };
}
