import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createServerClient, createMachineWithKey } from "../support/machine.ts";
import { waitUntil } from "../support/poll.ts";

const MiB = 1024 * 1024;

/** Peak resident memory of a process, in bytes. */
function readPeakMemory(pid: number): number {
  const [, kB] = /VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kB) * 1024;
}

/** Sends a body of this many MiB as fast as it is read, and returns the response. */
async function pour(
  port: number,
  localAddress: string,
  head: string[],
  mebibytes: number,
  isChunked: boolean,
) {
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  let response = "";
  const closed = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  socket.on("data", (bytes) => {
    response += bytes.toString("latin1");
    if (response.includes("\r\n\r\n")) answered.resolve();
  });
  socket.on("error", () => {});
  socket.on("close", () => closed.resolve());
  const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${mebibytes * MiB}`;
  socket.write([...head, length, "", ""].join("\r\n"));
  const part = Buffer.alloc(MiB, "x");
  const piece = isChunked
    ? Buffer.concat([Buffer.from(`${MiB.toString(16)}\r\n`), part, Buffer.from("\r\n")])
    : part;
  for (let sent = 0; sent < mebibytes && !socket.destroyed; sent++)
    if (!socket.write(piece))
      await Promise.race([new Promise((go) => socket.once("drain", go)), closed.promise]);
  await Promise.race([answered.promise, closed.promise]);
  socket.destroy();
  return response;
}

test("16 bodies of 25 MiB from 16 networks, with and without a length, stay out of memory while passwords are hashed", async () => {
  await using box = await createMachineWithKey();
  const { port, url, child } = await box.serve();
  const api = createServerClient(url, box.key);
  const { json } = await api("GET", "/api/v1/status-pages");
  const { id, slug } = json.data[0];
  const secret = { visibility: "password", password: "correct horse battery" };
  await api("PATCH", `/api/v1/status-pages/${id}`, secret);
  // Two passwords are hashed at a time, which takes as much memory each.
  const other = await fetch(`${url}/status/${slug}`, {
    method: "POST",
    body: new URLSearchParams({ password: "wrong" }),
  });
  expect(other.status).toBe(403);
  const before = readPeakMemory(child.pid);
  const head = [`POST /status/${slug} HTTP/1.1`, "Host: localhost"];
  const responses = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      pour(port, `127.0.1.${index + 1}`, head, 25, index % 2 === 0),
    ),
  );
  // A client that still sends when the connection is closed can lose the response (RFC 9112 §9.6).
  const read = responses.filter((response) => response !== "");
  expect(read.filter((response) => !/^HTTP\/1.1 4(03|29) /.test(response))).toEqual([]);
  expect(readPeakMemory(child.pid) - before).toBeLessThan(150 * MiB);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test("2,400 endless sign-ins of 250 KiB stay out of memory", async () => {
  await using box = await createMachineWithKey();
  const { port, child } = await box.serve();
  const part = Buffer.alloc(250 * 1024, "x");
  const send = async (_: unknown, index: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = connect(port, "127.0.0.1").on("error", () => resolve());
    const isChunked = index % 2 === 0;
    const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${256 * 1024}`;
    const head = ["POST /dashboard/sign-in HTTP/1.1", "Host: localhost", length];
    const json = ["Sec-Fetch-Site: same-origin", "Content-Type: application/json", "", ""];
    socket.write([...head, ...json].join("\r\n"));
    socket.write(isChunked ? `${part.length.toString(16)}\r\n` : "");
    socket.write(part);
    socket.on("data", () => resolve());
    await promise;
    return socket;
  };
  /** Each gets a response before its end, because it is too long for a sign-in. Its connection stays open. */
  const readResponse = (count: number) => Promise.all(Array.from({ length: count }, send));
  // Memory of code that is loaded on first use does not count.
  const sockets = await readResponse(20);
  const before = readPeakMemory(child.pid);
  // A busy machine can read all requests of a round before the first response.
  for (let round = 0; round < 6; round++) sockets.push(...(await readResponse(400)));
  // 600 MB were sent; one round of them is in Bun's read buffers.
  expect(readPeakMemory(child.pid) - before).toBeLessThan(350 * MiB);
  for (const socket of sockets) socket.destroy();
});

test("ten long pages in every encoding at once stay below 400 MB", async () => {
  await using box = await createMachineWithKey();
  const server = await box.serve({ flags: ["--rate-limit", "0"] });
  const request = createServerClient(server.url, box.key);
  const keys = Array.from({ length: 1_000 }, (_, index) => `service-${index}`);
  const hosts = Array.from({ length: 10 }, (_, index) => `status-${index}.team.example`);
  const monitors = keys.map((key, index) => [
    key,
    { type: "push", name: `Service ${index} of the shop` },
  ]);
  const statusPages = hosts.map((host, index) => [
    `page-${index}`,
    {
      slug: `long-${index}`,
      title: "Long",
      visibility: "public",
      hosts: [host],
      historyDays: 365,
      sections: [{ name: "All", monitors: keys.map((monitor) => ({ monitor })) }],
    },
  ]);
  const configuration = {
    monitors: Object.fromEntries(monitors),
    statusPages: Object.fromEntries(statusPages),
  };
  expect((await request("PUT", "/api/v1/config", configuration)).status).toBe(200);
  const read = async (host: string, path: string, encoding: string) => {
    const headers = { Host: host, "Accept-Encoding": encoding };
    const response = await fetch(`${server.url}${path}`, { headers, decompress: false });
    const { length } = await response.bytes();
    return { status: response.status, encoding: response.headers.get("content-encoding"), length };
  };
  /** Retries after a timeout: on a busy machine all of them take long. */
  const readLong = async (host: string, path: string, encoding: string) => {
    for (;;) {
      const response = await read(host, path, encoding).catch(() => null);
      if (response === null) continue;
      expect(response.status).toBe(200);
      if (encoding === "identity") expect(response.length).toBeGreaterThan(2 * MiB);
      else expect(response.encoding).toBe(encoding);
      return;
    }
  };
  // A new host takes effect after a moment.
  await waitUntil(async () => (await read(hosts.at(-1) ?? "", "/logo", "gzip")).status === 404, 10);
  await Promise.all(
    hosts.flatMap((host) =>
      ["/", "/status.json"].flatMap((path) =>
        ["identity", "gzip", "br"].map((encoding) => readLong(host, path, encoding)),
      ),
    ),
  );
  expect(readPeakMemory(server.child.pid)).toBeLessThan(400 * MiB);
  expect(await server.stop()).toBe(0);
});
