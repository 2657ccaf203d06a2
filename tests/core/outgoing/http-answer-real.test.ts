import { describe, expect, test } from "bun:test";
import { createServer, request, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { dial } from "../../../src/core/outgoing/connection.ts";
import { readHttpResponse } from "../../../src/core/outgoing/http/response.ts";
import { buildMessageHead } from "../../support/response-reader.ts";
import { createCheckContext } from "../../support/check-runs.ts";

describe("responses of a real server are read like other clients read them:", () => {
  const handlers: Record<string, RequestListener> = {
    "a length": (_, response) => void response.writeHead(200, { "Content-Length": 5 }).end("hello"),
    "one write": (_, response) => void response.end("hello"),
    "many writes": (_, response) => {
      for (const part of ["a", "b".repeat(70_000), "c"]) response.write(part);
      response.end();
    },
    "no body": (_, response) => void response.writeHead(204).end(),
    "not modified": (_, response) => void response.writeHead(304, { ETag: '"a"' }).end(),
    "an error": (_, response) => void response.writeHead(500, "Own words").end("sorry"),
    "fields of one name": (_, response) =>
      void response.writeHead(200, { "X-A": ["1", "2"], "Cache-Control": "no-store" }).end(),
    "an early hint": (_, response) => {
      response.writeEarlyHints({ link: "</a.css>; rel=preload" });
      response.end("late");
    },
    bytes: (_, response) => void response.end(Buffer.from([0, 13, 10, 13, 10, 255])),
  };
  for (const [name, handler] of Object.entries(handlers))
    for (const method of ["GET", "HEAD", "POST"])
      test(`${name}, to ${method}`, async () => {
        const server = createServer((request, response) => {
          response.sendDate = false;
          handler(request, response);
        });
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        const { port } = server.address() as AddressInfo;
        const ending = new AbortController();
        try {
          const connection = await dial(
            [{ address: "127.0.0.1", family: 4, isPrivate: true }],
            port,
            createCheckContext(ending),
          );
          const answering = readHttpResponse(connection, method);
          connection.write(
            buildMessageHead(
              `${method} / HTTP/1.1`,
              "Host: a",
              "Content-Length: 0",
              "Connection: close",
            ),
          );
          const response = await answering;
          const pieces: Buffer[] = [];
          await response.read((chunk) => void pieces.push(chunk));
          const other = await requestParts(port, method);
          expect(response.status).toBe(other.status);
          expect(Object.fromEntries(response.headers)).toEqual(other.headers);
          expect(Buffer.concat(pieces).equals(other.body)).toBe(true);
        } finally {
          ending.abort();
          server.closeAllConnections();
          server.close();
        }
      });

  function requestParts(port: number, method: string) {
    const { promise, resolve, reject } = Promise.withResolvers<{
      status: number;
      headers: Record<string, string>;
      body: Buffer;
    }>();
    const headers = { Connection: "close", "Content-Length": 0 };
    const sent = request({ host: "127.0.0.1", port, method, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (chunk: Buffer) => pieces.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string>,
          body: Buffer.concat(pieces),
        }),
      );
    });
    sent.on("error", reject).end();
    return promise;
  }
});
