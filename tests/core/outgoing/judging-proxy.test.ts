import { expect, test } from "bun:test";
import { connect } from "node:net";
import { TargetFailure } from "../../../src/core/outgoing/failures.ts";
import { JudgingProxy } from "../../../src/core/outgoing/judging-proxy.ts";
import { createCheckContext, startListener } from "../../support/check-runs.ts";

/** Behind it all hosts are loopback, except for one that is blocked. */
async function startProxied({ maxBytes = 1_000_000 } = {}) {
  const ending = new AbortController();
  const judged: string[] = [];
  const context = createCheckContext(ending);
  const target = await startListener((socket) => socket.pipe(socket));
  const proxy = await JudgingProxy.start(
    {
      ...context,
      async addressesOf(host, port) {
        judged.push(`${host} ${port}`);
        if (host === "blocked.test") throw new TargetFailure("Blocked: it is.", true);
        return [{ address: "127.0.0.1", family: 4, isPrivate: true }];
      },
    },
    maxBytes,
  );
  return {
    proxy,
    target,
    judged,
    ending,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await target[Symbol.asyncDispose]();
    },
  };
}

/** A client of the proxy, and the bytes that it received so far. */
function connectClient(port: number, request: readonly number[]) {
  const socket = connect(port, "127.0.0.1");
  let all = Buffer.alloc(0);
  let changed = Promise.withResolvers<void>();
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  socket.on("data", (chunk: Buffer) => {
    all = Buffer.concat([all, chunk]);
    change();
  });
  socket.on("error", () => {});
  socket.on("close", change);
  socket.write(Uint8Array.from([...greeting, ...request]));
  return {
    socket,
    /** Waits for `length` bytes, or for the end. */
    received: async (length = Infinity): Promise<Buffer> => {
      while (all.length < length && !socket.destroyed) await changed.promise;
      return all;
    },
  };
}

const greeting = [5, 1, 0];
const greeted = [5, 0];
const accepted = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
const refused = [5, 4, 0, 1, 0, 0, 0, 0, 0, 0];
const encodePort = (port: number) => [port >> 8, port & 0xff];
const findByName = (name: string, port: number, command = 1) => [
  5,
  command,
  0,
  3,
  name.length,
  ...Buffer.from(name),
  ...encodePort(port),
];

test("each address is checked in any notation, and allowed connections are forwarded", async () => {
  await using result = await startProxied();
  const { proxy, target, judged } = result;
  const { port } = target;
  const requests: [asked: number[], judged: string][] = [
    [findByName("shop.test", port), `shop.test ${port}`],
    [[5, 1, 0, 1, 192, 0, 2, 7, ...encodePort(port)], `192.0.2.7 ${port}`],
    [
      [5, 1, 0, 4, 0x20, 0x01, 0x0d, 0xb8, ...Array(11).fill(0), 7, ...encodePort(port)],
      `2001:0db8:0000:0000:0000:0000:0000:0007 ${port}`,
    ],
  ];
  for (const [request, host] of requests) {
    const { socket, received } = connectClient(proxy.port, request);
    expect(Array.from(await received(12))).toEqual([...greeted, ...accepted]);
    socket.write("ping");
    expect((await received(16)).toString().slice(-4)).toBe("ping");
    socket.destroy();
    expect(judged.at(-1)).toBe(host);
  }
  expect(proxy.failureOf("shop.test", port)).toBeNull();
});

test("a blocked address is rejected without a connection, and the reason is recorded", async () => {
  await using result = await startProxied();
  const { proxy, target } = result;
  const { received } = connectClient(proxy.port, findByName("blocked.test", target.port));
  expect(Array.from(await received())).toEqual([...greeted, ...refused]);
  expect(proxy.failureOf("blocked.test", target.port)?.message).toBe("Blocked: it is.");
  expect(target.countAccepted()).toBe(0);
});

test("it only connects: it neither listens nor sends datagrams", async () => {
  await using result = await startProxied();
  const { proxy, target, judged } = result;
  for (const command of [2, 3]) {
    const { received } = connectClient(proxy.port, findByName("shop.test", target.port, command));
    expect(Array.from(await received())).toEqual(greeted);
  }
  expect([judged, target.countAccepted()]).toEqual([[], 0]);
});

test("all connections together have a limit of bytes, beyond which the page fails", async () => {
  await using result = await startProxied({ maxBytes: 1024 * 1024 });
  const { proxy, target } = result;
  const all = [1, 2].map(async () => {
    const { socket, received } = connectClient(proxy.port, findByName("shop.test", target.port));
    await received(12);
    socket.write(Buffer.alloc(1024 * 1024, "x"));
    return (await received()).length;
  });
  const through = (await Promise.all(all)).reduce((sum, length) => sum + length, 0);
  expect(through).toBeLessThanOrEqual(1024 * 1024 + 2 * 12);
  expect(proxy.failureOf("elsewhere.test", 1)?.message).toBe("The page loads more than 1 MiB.");
});

test("the end of its check closes all connections on both sides", async () => {
  await using result = await startProxied();
  const { proxy, target, ending } = result;
  const { received } = connectClient(proxy.port, findByName("shop.test", target.port));
  await received(12);
  expect(target.countAccepted()).toBe(1);
  ending.abort();
  await received();
  await target.waitUntilAllClosed();
});

test("a page sends at most 8 MiB, whether its target reads it or not", async () => {
  await using result = await startProxied();
  const { proxy } = result;
  await using silent = await startListener((socket) => socket.pause());
  const { socket, received } = connectClient(proxy.port, findByName("a.test", silent.port));
  await received(greeted.length + accepted.length);
  expect(proxy.failureOf("a.test", silent.port)).toBe(null);
  socket.write(Buffer.alloc(9 * 1024 * 1024));
  await received();
  expect(proxy.failureOf("a.test", silent.port)?.message).toBe("The page sends more than 8 MiB.");
});
