import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { getFreePort } from "../support/binary.ts";
import { createServerClient, createMachineWithKey } from "../support/machine.ts";
import { dialPort, buildRequestHead } from "../support/raw-connection.ts";

const json = ["Host: localhost", "Content-Type: application/json"];
const create = "POST /api/v1/incidents";
const encodeChunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

let box: Awaited<ReturnType<typeof createMachineWithKey>>;
let server: Awaited<ReturnType<typeof box.serve>>;
const publicPort = getFreePort();
beforeAll(async () => {
  box = await createMachineWithKey();
  server = await box.serve({ flags: ["--public-port", String(publicPort)] });
});
afterAll(() => box[Symbol.asyncDispose]());

/** A new connection to the shared server, and the log from now on. */
async function openServerConnection() {
  const { port, url } = server;
  const { key } = box;
  const api = createServerClient(url, key);
  const readTotal = async (): Promise<number> =>
    (await api("GET", "/api/v1/incidents")).json.meta.total;
  const before = await readTotal();
  const line = await dialPort(port);
  return {
    key,
    port,
    api,
    before,
    create: async () => (await readTotal()) - before,
    line,
    [Symbol.dispose]: line.hangUp,
  };
}

describe("exactly one host", () => {
  const refused: [string, string[]][] = [
    ["none", []],
    ["an empty one", ["Host:"]],
    ["two", ["Host: localhost", "Host: localhost"]],
    ["a name with a path", ["Host: localhost/x"]],
  ];
  for (const [name, hosts] of refused)
    test(`${name} is 400`, async () => {
      using box = await openServerConnection();
      box.line.send(buildRequestHead("GET /api/v1/incidents", box.key, hosts));
      expect(await box.line.waitForText(/\r\n\r\n/)).toStartWith("HTTP/1.1 400 ");
    });

  for (const which of ["its own", "the public"])
    test(`two are 400 on ${which} port at any path, with the one body of errors`, async () => {
      for (const path of ["/status/acme", "/status/none", "/badge/x", "/healthz", "/", "/none"]) {
        const line = await dialPort(which === "its own" ? server.port : publicPort);
        line.send(buildRequestHead(`GET ${path}`, box.key, ["Host: localhost", "Host: localhost"]));
        const response = await line.waitForText(/"requestId":"[^"]+"/);
        expect(response).toStartWith("HTTP/1.1 400 ");
        const [, id = ""] = /x-request-id: (\S+)/i.exec(response) ?? [];
        expect(response).toContain(`"requestId":"${id}"`);
      }
    });

  for (const host of ["a", "nas", "nas:80", "status.example.org", "[::1]"])
    test(`${host} gets a response, for writes as well`, async () => {
      using box = await openServerConnection();
      const body = '{"title":"Slow"}';
      const headers = [...json.with(0, `Host: ${host}`), `Content-Length: ${body.length}`];
      box.line.send(buildRequestHead(create, box.key, headers) + body);
      expect(await box.line.waitForText(/"Slow"/)).toStartWith("HTTP/1.1 201 ");
      box.line.send(
        buildRequestHead("GET /api/v1/incidents?per_page=7", box.key, [`Host: ${host}`]),
      );
      await box.line.waitForText(new RegExp(`"per_page":7,"total":${box.before + 1}\\b`));
    });
});

describe("the length of a body", () => {
  test("a body over 256 KiB gets 413, and the connection stays open", async () => {
    using box = await openServerConnection();
    box.line.send(buildRequestHead(create, box.key, [...json, `Content-Length: ${300 * 1024}`]));
    box.line.send("x".repeat(300 * 1024));
    expect(await box.line.waitForText(/PAYLOAD_TOO_LARGE.*\}$/s)).toStartWith("HTTP/1.1 413 ");
    box.line.send(buildRequestHead("GET /healthz", box.key));
    expect(await box.line.waitForText(/"status":"ok"/)).toContain("HTTP/1.1 200 ");
  });

  test("an announced body of 10 GB gets 413 before its first byte", async () => {
    using box = await openServerConnection();
    box.line.send(buildRequestHead(create, box.key, [...json, "Content-Length: 10000000000"]));
    const response = await box.line.waitForText(/PAYLOAD_TOO_LARGE.*\}$/s);
    expect(response).toStartWith("HTTP/1.1 413 ");
  });

  test("a chunked body gets 413 as soon as it exceeds 256 KiB", async () => {
    using box = await openServerConnection();
    box.line.send(buildRequestHead(create, box.key, [...json, "Transfer-Encoding: chunked"]));
    box.line.send(encodeChunk(`{"title":"${"x".repeat(256 * 1024)}`));
    expect(await box.line.waitForText(/PAYLOAD_TOO_LARGE/)).toStartWith("HTTP/1.1 413 ");
    expect(await box.create()).toBe(0);
  });

  test("a chunked body within the limit is accepted", async () => {
    using box = await openServerConnection();
    box.line.send(buildRequestHead(create, box.key, [...json, "Transfer-Encoding: chunked"]));
    for (const part of ['{"tit', 'le":"Sl', 'ow"}', ""]) box.line.send(encodeChunk(part));
    expect(await box.line.waitForText(/"Slow"/)).toStartWith("HTTP/1.1 201 ");
  });

  const ambiguous: [string, string[]][] = [
    ["two lengths", ["Content-Length: 16", "Content-Length: 2"]],
    ["a length and chunks", ["Content-Length: 16", "Transfer-Encoding: chunked"]],
    ["a negative length", ["Content-Length: -1"]],
  ];
  for (const [name, headers] of ambiguous)
    test(`${name}: rejected with 400, closed, and nothing is written`, async () => {
      using box = await openServerConnection();
      box.line.send(`${buildRequestHead(create, box.key, [...json, ...headers])}{"title":"Slow"}`);
      expect(await box.line.waitUntilClosed()).toStartWith("HTTP/1.1 400 ");
      expect(await box.create()).toBe(0);
    });
});

test("pipelined GETs get their responses in order", async () => {
  using box = await openServerConnection();
  const sizes = Array.from({ length: 50 }, (_, index) => index + 1);
  box.line.send(
    sizes
      .map((size) => buildRequestHead(`GET /api/v1/incidents?per_page=${size}`, box.key))
      .join(""),
  );
  const responses = await box.line.waitForText(/"per_page":50\b/);
  const messages = [...responses.matchAll(/"per_page":(\d+)/g)].map(([, size]) => Number(size));
  expect(messages).toEqual(sizes);
});

test("pipelined writes of one client all happen and get their responses in order", async () => {
  using box = await openServerConnection();
  const titles = Array.from({ length: 100 }, (_, index) => `Incident ${index}`);
  const requests = titles.map((title) => {
    const body = JSON.stringify({ title });
    return buildRequestHead(create, box.key, [...json, `Content-Length: ${body.length}`]) + body;
  });
  box.line.send(requests.join(""));
  const responses = await box.line.waitForText(/"title":"Incident 99"/);
  expect([...responses.matchAll(/"title":"([^"]+)"/g)].map(([, title]) => title)).toEqual(titles);
  expect(await box.create()).toBe(100);
});

test("200 clients that drip their requests lock no other client out", async () => {
  using box = await openServerConnection();
  const request = buildRequestHead(create, box.key, [...json, "Content-Length: 1000"]);
  const lines = await Promise.all(Array.from({ length: 200 }, () => dialPort(box.port)));
  for (let at = 0; at < 30; at++) {
    // Half of them stop in their first line, half in a body.
    for (const [index, line] of lines.entries())
      line.send(index % 2 === 0 ? request.charAt(at) : at === 0 ? request : " ");
    const { status } = await box.api("POST", "/api/v1/incidents", { title: `Incident ${at}` });
    expect(status).toBe(201);
  }
  expect(await box.create()).toBe(30);
  for (const line of lines) line.hangUp();
});
