/** The heartbeat to another system: only while this machine is healthy, and its failures once in the log. */
import { expect, test } from "bun:test";
import { parseConfig } from "../../../src/config.ts";
import type { Exchange } from "../../../src/core/outgoing/http/exchange.ts";
import { TargetFailure } from "../../../src/core/outgoing/failures.ts";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import { Heartbeat } from "../../../src/operations/diagnostics/heartbeat.ts";

const url = "https://watch.example/push/TOKEN?status=up";

function createHeartbeat(address: string | null = url) {
  const state = { failingSince: null as number | null, lack: null as object | null };
  const requested: string[] = [];
  const logged: string[] = [];
  const response = { status: 200, isReachable: true };
  const exchange: Exchange = async ({ url: requestedUrl, method }) => {
    requested.push(`${method} ${requestedUrl.href}`);
    if (!response.isReachable) throw new TargetFailure("The connection was refused.");
    return { status: response.status, headers: new Map(), body: "" };
  };
  const heartbeat = new Heartbeat({
    url: address,
    store: { writes: { getFailingSince: () => state.failingSince } as never },
    targets: createTargetGuard(() => []),
    log: {
      warn: (message, fields) => void logged.push(`${message}: ${JSON.stringify(fields)}`),
      info: (message) => void logged.push(message),
    },
    findCurrentLack: () => state.lack,
    exchange,
  });
  return { heartbeat, state, requested, logged, response };
}

test("a heartbeat is sent only while results can be stored and checks can be judged", async () => {
  const { heartbeat, state, requested, logged } = createHeartbeat();
  await heartbeat.runOnce();
  expect(requested).toEqual([`GET ${url}`]);
  state.failingSince = 1;
  await heartbeat.runOnce();
  state.failingSince = null;
  state.lack = { resource: "network" };
  await heartbeat.runOnce();
  expect(requested).toHaveLength(1);
  state.lack = null;
  await heartbeat.runOnce();
  expect(requested).toHaveLength(2);
  expect(logged).toEqual([]);
});

test("failures and their end are logged once, without the address", async () => {
  const { heartbeat, logged, response } = createHeartbeat();
  response.status = 404;
  await heartbeat.runOnce();
  response.isReachable = false;
  await heartbeat.runOnce();
  expect(logged).toEqual([
    'the heartbeat is not accepted: {"reason":"The response has the status 404."}',
  ]);
  Object.assign(response, { status: 200, isReachable: true });
  await heartbeat.runOnce();
  await heartbeat.runOnce();
  expect(logged.slice(1)).toEqual(["the heartbeat is accepted again"]);
  expect(logged.join(" ")).not.toContain("TOKEN");
});

test("without an address nothing is sent, and a wrong address is rejected", async () => {
  const { heartbeat, requested } = createHeartbeat(null);
  heartbeat.start();
  await heartbeat.runOnce();
  heartbeat.stop();
  expect(requested).toEqual([]);
  expect(parseConfig({ heartbeatUrl: url }, {}).heartbeatUrl).toBe(url);
  for (const wrong of ["watch.example", "ftp://watch.example/", "https://"])
    expect(() => parseConfig({ heartbeatUrl: wrong }, {})).toThrow();
});
