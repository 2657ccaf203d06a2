import { expect, test } from "bun:test";
import type { Duplex } from "node:stream";
import {
  monitorKinds,
  type MonitorType,
} from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { NewMonitor } from "../../../../src/monitoring/monitors/schema.ts";
import { runCheckOfType, startListener, runLoggedCheck } from "../../../support/check-runs.ts";
import { fakes, otherFakes } from "../../../support/fakes/all.ts";
import type { ServeSocket, Fake } from "../../../support/fakes/fake.ts";
import { startFake } from "../../../support/fakes/start-fake.ts";
import { defineTestWith } from "../../../support/real-targets.ts";
import { canary } from "../../../support/samples.ts";
import { createRandom } from "../../../support/seeded.ts";

const types = [...(Object.entries(fakes) as [MonitorType, Fake][]), ...otherFakes];
const host = "127.0.0.1";

/** Types that send a secret unencrypted without TLS, by protocol or by the monitor's method. */
const clearByChoice = new Set<MonitorType>([
  "smtp",
  "imap",
  "pop3",
  "mqtt",
  "redis",
  "rabbitmq",
  "ldap",
  "websocket",
  "snmp",
]);

type Serve = Fake["serve"];

/** Runs a check of a server that responds like this. Returns its result and everything it sent, decrypted. */
async function checkFake(
  type: MonitorType,
  fake: Fake,
  response: Serve,
  fields: object = {},
  {
    timeoutMs = 60_000,
    certificate = null as "good" | null,
    begins = undefined as "first" | "later" | undefined,
  } = {},
) {
  const received: Buffer[] = [];
  const recordLine = (line: Duplex) => {
    const on = line.on.bind(line) as (event: string, take: (data: Buffer) => void) => Duplex;
    const record = (event: string, take: (data: Buffer) => void) =>
      on(event, (data) => {
        if (event === "data") received.push(data);
        take(data);
      });
    line.on = record as Duplex["on"];
    return line;
  };
  const responses: Serve =
    fake.transport === "udp"
      ? (message: Buffer) => {
          received.push(message);
          return (response as (message: Buffer) => Uint8Array | null)(message);
        }
      : (socket: Duplex, secure: (socket: Duplex, unread?: Buffer) => Duplex) =>
          (response as ServeSocket)(recordLine(socket), (line, unread) =>
            recordLine(secure(line, unread)),
          );
  await using server = await startFake(fake, responses, certificate, begins);
  const at = fake.at?.(host, server.port, certificate !== null) ?? { host, port: server.port };
  const settings = NewMonitor.parse({ type, name: "Target", ...at, ...fake.fields, ...fields });
  const { outcome, logged } = await runLoggedCheck(type, settings, { timeoutMs });
  return { outcome, logged, heard: Buffer.concat(received).toString("latin1") };
}

/** Whether a text contains the secret, plain or in Base64 at any alignment. */
function holdsSecret(heard: string): boolean {
  const words = heard.match(/[\w+/=]{8,}/g) ?? [];
  return [heard, ...words.map((word) => Buffer.from(word, "base64").toString("latin1"))].some(
    (text) => text.includes(canary),
  );
}

test("without TLS a server gets a secret only if the protocol has no alternative", async () => {
  for (const [type, fake] of types) {
    if (Object.keys(monitorKinds[type].secrets).length === 0) continue;
    const others: readonly (readonly [Serve, ...unknown[]])[] = fake.wrong;
    for (const response of [fake.serve, ...others.map(([each]) => each)]) {
      const { heard } = await checkFake(type, fake, response, {}, { timeoutMs: 300 });
      if (!clearByChoice.has(type)) expect([type, holdsSecret(heard)]).toEqual([type, false]);
    }
    const { heard } = await checkFake(type, fake, fake.serve);
    expect([type, holdsSecret(heard)]).toEqual([type, clearByChoice.has(type)]);
  }
});

defineTestWith(
  ["openssl"],
  "a server without a valid certificate gets no secret over TLS",
  async () => {
    for (const [type, fake] of types) {
      if (fake.transport === "udp" || fake.tls === undefined) continue;
      const ways = fake.tls === "both" ? (["first", "later"] as const) : [fake.tls];
      for (const begins of ways) {
        const tls = fake.tls === "both" ? (begins === "first" ? "tls" : "starttls") : true;
        const fields = "tls" in monitorKinds[type].fields ? { tls } : {};
        const { outcome, heard } = await checkFake(type, fake, fake.serve, fields, {
          certificate: "good",
          begins,
        });
        expect([type, outcome.status, holdsSecret(heard)]).toEqual([type, "down", false]);
      }
    }
  },
);

/** The same bytes with some of them changed, removed or repeated. */
function mutateBytes(bytes: Uint8Array, random: () => number): Buffer {
  const copy = Buffer.from(bytes);
  const at = () => Math.floor(random() * copy.length);
  const way = Math.floor(random() * 4);
  if (way === 0) return copy.subarray(0, at());
  if (way === 1) return Buffer.concat([copy.subarray(0, at()), copy]);
  for (let count = 0; count < 1 + copy.length / 20; count++)
    if (copy.length > 0) copy[at()] = way === 2 ? 0xff : Math.floor(random() * 256);
  return copy;
}

test("no input from a target causes an unexpected error", async () => {
  const random = createRandom(29);
  const tries = Number(process.env["TRIES"] ?? 1) * 12;
  for (const [type, fake] of types) {
    const outcomes = await Promise.all(
      Array.from({ length: tries }, () => {
        const response: Serve =
          fake.transport === "udp"
            ? (message: Buffer) => {
                const good = fake.serve(message);
                return good && mutateBytes(good, random);
              }
            : (socket, secure) => {
                const write = socket.write.bind(socket) as (data: Uint8Array) => boolean;
                socket.write = ((data: string | Uint8Array) =>
                  write(mutateBytes(Buffer.from(data as string), random))) as Duplex["write"];
                (fake.serve as ServeSocket)(socket, secure);
              };
        return checkFake(type, fake, response, {}, { timeoutMs: 300 });
      }),
    );
    for (const { outcome, logged } of outcomes)
      expect([type, outcome.status, logged]).toEqual([
        type,
        expect.stringMatching(/^(up|down|degraded)$/),
        [],
      ]);
  }
});

test("an unexpected error while reading a response counts as the target's failure", async () => {
  await using server = await startFake(fakes.redis);
  const settings = { host, port: server.port, send: null };
  const { outcome, logged } = await runLoggedCheck("tcp", {
    ...settings,
    expect: Symbol("broken"),
  });
  expect(outcome).toMatchObject({ status: "down", message: "The response can't be read." });
  expect(logged.join()).toContain("a check failed unexpectedly");
});

test("MQTT: text of another protocol is an invalid response, regardless of its apparent length", async () => {
  for (const text of [
    "SSH-2.0-x",
    "220 mail.test ESMTP",
    "+OK ready",
    "* OK ready",
    "HTTP/1.1 400",
  ]) {
    await using server = await startListener((socket) => void socket.write(`${text}\r\n`));
    const found = await runCheckOfType("mqtt", { host, port: server.port });
    expect([text, found.message]).toEqual([text, "The response is not valid for MQTT."]);
  }
});
