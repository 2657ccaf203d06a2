/** Outcomes that every monitor type must have, for types without a fake server. */
import { describe, expect, test } from "bun:test";
import { detailsOfTypes } from "../../../../src/monitoring/monitors/details-rules.ts";
import {
  monitorKinds,
  type MonitorType,
} from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { getFreePort } from "../../../support/binary.ts";
import { runCheckOfType, runUntilTimedOut } from "../../../support/check-runs.ts";
import { fakes, type TypeWithoutFake } from "../../../support/fakes/all.ts";
import { type ServedFake, replyOnceTo } from "../../../support/fakes/fake.ts";
import { getAuthority, type Certificate, startFake } from "../../../support/fakes/start-fake.ts";
import { defineTestWith } from "../../../support/real-targets.ts";
import { canary } from "../../../support/samples.ts";

/**
 * Behavior or first certificate of a server, with the expected result for these fields of a
 * monitor.
 */
type Case = {
  server?: ServedFake;
  certificate?: Certificate;
  fields?: object;
  found: { message?: unknown; [field: string]: unknown };
};
/** A string is the reason why a type can't have this outcome. */
type Matrix = {
  at: (host: string, port: number, isSecure: boolean) => object;
  up: Case;
  refused: Case;
  hanging: Case;
  wrongAnswer: Case;
  wrongCredentials: Case | string;
  wrongName: Case | string;
  blocked: Case;
};

const serveTcp = (serve: Extract<ServedFake, { transport: "tcp" }>["serve"]): ServedFake => ({
  transport: "tcp",
  serve,
  tls: "first",
});
const serveUdp = (serve: (message: Buffer) => Uint8Array | null): ServedFake => ({
  transport: "udp",
  serve,
});
const silent = serveTcp((socket) => void socket.resume());
const echo = serveTcp((socket) => void socket.pipe(socket));
const ssh = serveTcp((socket) => void socket.resume().end("SSH-2.0-Fake\r\n"));
const serveHttp = (status: string) =>
  serveTcp(replyOnceTo(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nok`));

const expectDown = (message: string | RegExp) => ({
  status: "down",
  message: typeof message === "string" ? message : expect.stringMatching(message),
});
const refused = { found: expectDown("The connection was refused.") };
const wrongName = { ...expectDown("The certificate is for another name.") };
const blocked = {
  found: { ...expectDown("Blocked: the target is this appliance itself."), isFinal: true },
};
const details = { tlsVersion: "1.3", issuer: "authority" };
const noSecrets = "it has no secrets";

/** A response with the address 192.0.2.1. */
function buildDnsResponse(question: Buffer): Buffer {
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1];
  const answer = Buffer.concat([question, Buffer.from(record)]);
  answer.writeUInt16BE(0x8180, 2);
  answer.writeUInt16BE(1, 6);
  return answer;
}

const matrix = {
  http: {
    at: (host, port, isSecure) => ({ url: `http${isSecure ? "s" : ""}://${host}:${port}/` }),
    up: {
      server: serveHttp("200 OK"),
      certificate: "good",
      found: { status: "up", details },
    },
    refused,
    hanging: { server: silent, found: expectDown("Timed out while waiting for the response.") },
    wrongAnswer: { server: ssh, found: expectDown("The response is not valid HTTP.") },
    wrongCredentials: {
      server: serveHttp("401 Unauthorized"),
      fields: { bearerToken: canary },
      found: expectDown("HTTP 401 (Unauthorized), expected 200-299."),
    },
    wrongName: { server: serveHttp("200 OK"), certificate: "wrongName", found: wrongName },
    blocked,
  },
  tcp: {
    at: (host, port) => ({ host, port, send: "ping", expect: "ping" }),
    up: { server: echo, found: { status: "up" } },
    refused,
    hanging: { server: silent, found: expectDown("Timed out while waiting for the response.") },
    wrongAnswer: {
      server: ssh,
      found: expectDown("The connection was closed without the expected response."),
    },
    wrongCredentials: noSecrets,
    wrongName: "it speaks no TLS",
    blocked,
  },
  tls: {
    at: (host, port) => ({ host, port }),
    up: { server: silent, certificate: "good", found: { status: "up", details } },
    refused,
    hanging: { server: silent, found: expectDown("Timed out while starting TLS.") },
    wrongAnswer: { server: ssh, found: expectDown("No TLS connection could be established.") },
    wrongCredentials: noSecrets,
    wrongName: {
      server: silent,
      certificate: "wrongName",
      found: { ...wrongName, details },
    },
    blocked,
  },
  dns: {
    // A resolver is given by its address.
    at: (_host, port) => ({ host: "signalbox.test", resolver: `127.0.0.1:${port}` }),
    up: {
      server: serveUdp(buildDnsResponse),
      found: { status: "up", details: { records: "192.0.2.1" } },
    },
    refused: { found: expectDown("The name server does not respond.") },
    hanging: {
      server: serveUdp(() => null),
      found: expectDown(/^(The name server does not respond\.|Timed out after 2 s while )/),
    },
    wrongAnswer: {
      server: serveUdp((question) => {
        const answer = Buffer.from(question);
        answer.writeUInt16BE(0x8185, 2);
        return answer;
      }),
      found: expectDown("The name server refused the query."),
    },
    wrongCredentials: noSecrets,
    wrongName: "it speaks no TLS",
    blocked,
  },
} satisfies Partial<Record<TypeWithoutFake, Matrix>>;

/**
 * Types without an address that a test can serve. Their own files cover their possible outcomes.
 */
const ownTests: Record<Exclude<TypeWithoutFake, keyof typeof matrix>, string> = {
  ping: "no test can make the system's replies: ping.test.ts",
  push: "it goes nowhere, its job reports: push.test.ts",
  command: "it runs a program: command.test.ts",
  systemd: "it asks a program of this machine: systemd.test.ts",
  browser: "it runs Chromium: browser.test.ts",
  composite: "it reads the states of other monitors: composite.test.ts",
  manual: "people set its status: manual.test.ts",
};

/** Types without details, with the reason. */
const withoutDetails: Partial<Record<MonitorType, string>> = {
  tcp: "of its answer nothing is known but whether it has what the monitor itself expects",
  composite: "its message names the monitors that are down",
  manual: "its message is the reason that people give",
  push: "what its job has to say is the message",
};

test("each type has details, or a reason for having none", () => {
  const all = Object.keys(monitorKinds) as MonitorType[];
  expect(all.filter((type) => type in withoutDetails !== !(type in detailsOfTypes))).toEqual([]);
});

test("each type is in one of the matrices", () => {
  const all = [fakes, matrix, ownTests].flatMap((each) => Object.keys(each));
  expect(all.toSorted()).toEqual(Object.keys(monitorKinds).toSorted());
});

const cells = [
  "up",
  "refused",
  "wrongAnswer",
  "wrongCredentials",
  "wrongName",
  "blocked",
] as const satisfies readonly (keyof Matrix)[];
const rows = Object.entries(matrix) as [TypeWithoutFake, Matrix][];

async function assertFoundResult(
  type: TypeWithoutFake,
  cell: keyof Matrix,
  row: Matrix,
  wanted: Case,
) {
  const { server = silent, certificate, fields = {}, found } = wanted;
  await using target = await startFake(server, server.serve, certificate ?? null);
  const port = cell === "refused" ? getFreePort() : target.port;
  const byName = cell === "blocked" || certificate === "good";
  const address = row.at(byName ? "localhost" : "127.0.0.1", port, certificate !== undefined);
  const runCheck = (timeoutMs: number) =>
    runCheckOfType(
      type,
      { ...address, ...fields },
      {
        timeoutMs,
        ...(certificate !== undefined && { authorities: getAuthority() }),
        ...(cell === "blocked" && { listeners: [{ host: "127.0.0.1", port }] }),
      },
    );
  const isHanging = cell === "hanging";
  const outcome = await (isHanging && typeof found.message === "string"
    ? runUntilTimedOut(found.message, runCheck)
    : runCheck(isHanging ? 2_000 : 60_000));
  expect([type, outcome]).toEqual([type, expect.objectContaining(found)]);
  expect(JSON.stringify(outcome)).not.toContain(canary);
  if (cell === "blocked") expect(target.countAccepted()).toBe(0);
  await target.waitUntilAllClosed();
}

describe.each(rows)("%s", (type, row) => {
  for (const cell of cells) {
    const expected = row[cell];
    if (typeof expected === "string") continue;
    const needed = expected.certificate === undefined ? [] : (["openssl"] as const);
    defineTestWith(needed, cell, () => assertFoundResult(type, cell, row, expected));
  }
});

test("each type is down at its timeout", () =>
  Promise.all(rows.map(([type, row]) => assertFoundResult(type, "hanging", row, row.hanging))));
