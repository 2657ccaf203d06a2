/** Random malformed requests to every route. */
import { connect } from "node:net";
import { apiRoutes, buildRouteBody, fillIds } from "./records.ts";
import { unknownId } from "./appliance.ts";

const strange = [
  "\0",
  "%00",
  "%ff",
  "\r\n",
  "{",
  "[",
  '"',
  "\\u0000",
  "\u202e",
  "-1",
  "1e999",
  "🦄",
];

/** Requests to every route with some changed bytes. */
export function* generateMutatedRequests(key: string, random: () => number): Generator<string> {
  const pickBelow = (end: number) => Math.floor(random() * end);
  const mutate = (text: string): string => {
    const at = pickBelow(text.length);
    const end = at + pickBelow(20);
    const insert = strange[pickBelow(strange.length)] ?? "";
    switch (pickBelow(5)) {
      case 0:
        return text.slice(0, at) + String.fromCharCode(pickBelow(256)) + text.slice(at + 1);
      case 1:
        return text.slice(0, at) + text.slice(end);
      case 2:
        return text.slice(0, end) + text.slice(at, end).repeat(1 + pickBelow(50)) + text.slice(end);
      case 3:
        return text.slice(0, at) + insert + text.slice(at);
      default:
        return text.slice(0, at) + insert.repeat(pickBelow(3_000)) + text.slice(at);
    }
  };
  for (;;)
    for (const route of apiRoutes) {
      const body = JSON.stringify(buildRouteBody(route) ?? {});
      const head = [
        `${route.method} ${fillIds(route.path, unknownId)}?page=2 HTTP/1.1`,
        "Host: localhost",
        `Authorization: Bearer ${key}`,
        "Content-Type: application/json",
        `Idempotency-Key: ${pickBelow(1e9)}`,
        'If-Match: "1"',
        "Connection: close",
      ].join("\r\n");
      // Mostly well-formed around the fault: a request that is rejected at its first byte proves little.
      const buildRawRequest = (head: string, body: string) =>
        `${head}\r\nContent-Length: ${Buffer.byteLength(body, "latin1")}\r\n\r\n${body}`;
      const kind = pickBelow(3);
      if (kind === 0) yield buildRawRequest(head, mutate(mutate(body)));
      else if (kind === 1) yield buildRawRequest(mutate(head), body);
      else yield mutate(mutate(buildRawRequest(head, body)));
    }
}

/** The status line of the response; empty when the connection is closed without one. */
export function readStatusLine(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let response = "";
    const socket = connect(port, "127.0.0.1");
    socket.on("data", (bytes) => {
      response += bytes.toString("latin1");
      // A request with keep-alive gets the same response.
      if (response.includes("\r\n\r\n")) socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(response.split("\r\n", 1)[0] ?? ""));
    // The server drops an incomplete request when the client closes its side.
    socket.end(request, "latin1");
  });
}
