import { expect, test } from "bun:test";
import { createFairTurns } from "../../src/http/fair-turns.ts";

/** A server whose requests take 1 ms by default. `answered` has the time of each response. */
function createBusyServer(tookMs = () => 1) {
  let now = 0;
  const answered: number[] = [];
  const connections = new WeakMap<Request, number>();
  const handle = createFairTurns(
    (request) => {
      now += tookMs();
      answered.push(connections.get(request) ?? 0);
      return new Response();
    },
    (request) => connections.get(request),
    () => now,
  );
  return {
    answered,
    request(connection: number) {
      const request = new Request("http://localhost/");
      connections.set(request, connection);
      return handle(request);
    },
  };
}

const waitForTurn = () => new Promise((resolve) => setImmediate(resolve));

test("new connections have a limited share of an event-loop turn, and are served in order", async () => {
  const server = createBusyServer();
  const all = Array.from({ length: 200 }, (_, connection) => server.request(connection));
  const atOnce = server.answered.length;
  expect(atOnce).toBeLessThan(20);
  let turns = 0;
  while (server.answered.length < 200) {
    const before = server.answered.length;
    await waitForTurn();
    expect(server.answered.length - before).toBeLessThan(20);
    turns++;
  }
  expect(turns).toBeGreaterThan(5);
  for (const response of all) expect((await response).ok).toBe(true);
  expect(server.answered).toEqual(Array.from({ length: 200 }, (_, connection) => connection));
});

test("a connection with sequential requests never waits, because Bun would close it", () => {
  const server = createBusyServer();
  for (let i = 0; i < 200; i++) expect(server.request(1)).toBeInstanceOf(Response);
});

test("a connection that pipelines many requests waits for the next turn, so that others are served", async () => {
  const server = createBusyServer();
  const all = Array.from({ length: 1_000 }, () => server.request(1));
  expect(server.answered.length).toBeLessThan(600);
  expect(server.request(2)).toBeInstanceOf(Response);
  while (server.answered.length < 1_001) await waitForTurn();
  for (const response of all) expect((await response).ok).toBe(true);
});

test("a connection with sequential requests never waits, even if one takes a whole turn", () => {
  let requestCount = 0;
  const server = createBusyServer(() => (requestCount++ % 50 === 0 ? 100 : 1));
  for (let i = 0; i < 200; i++) expect(server.request(1)).toBeInstanceOf(Response);
});

test("a few new connections in one turn are served at once, however long the turn", () => {
  const server = createBusyServer(() => 100);
  for (let connection = 0; connection < 8; connection++)
    expect(server.request(connection)).toBeInstanceOf(Response);
  expect(server.request(8)).toBeInstanceOf(Promise);
});

test("in the next turn new connections are served at once again", async () => {
  const server = createBusyServer();
  for (let connection = 0; connection < 30; connection++) void server.request(connection);
  while (server.answered.length < 30) await waitForTurn();
  await waitForTurn();
  expect(server.request(99)).toBeInstanceOf(Response);
});
