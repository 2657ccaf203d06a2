/** Outcomes that every monitor type with a fake server must have. */
import { describe, expect, test } from "bun:test";
import type { Duplex } from "node:stream";
import { findStrandedSecrets } from "../../../../src/core/security/kind-secrets.ts";
import {
  monitorKinds,
  type MonitorType,
} from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { detailsOfTypes } from "../../../../src/monitoring/monitors/details-rules.ts";
import { getFreePort } from "../../../support/binary.ts";
import {
  runCheckOfType,
  startListener,
  runUntilTimedOut,
  waitUntilClosed,
} from "../../../support/check-runs.ts";
import { fakes, otherFakes } from "../../../support/fakes/all.ts";
import type { ServeSocket, Fake } from "../../../support/fakes/fake.ts";
import { createPublishingBroker } from "../../../support/fakes/mqtt.ts";
import { getAuthority, startFake } from "../../../support/fakes/start-fake.ts";
import { defineTestWith } from "../../../support/real-targets.ts";
import { canary } from "../../../support/samples.ts";

const end = expect.stringMatching(/^\d{4}-.*Z$/);
const types = [...(Object.entries(fakes) as [MonitorType, Fake][]), ...otherFakes];
const has = (type: MonitorType, field: string) => field in monitorKinds[type].fields;
const streams = types.flatMap(([type, fake]) =>
  fake.transport === "tcp" ? [[type, fake] as const] : [],
);
/** Each way in which a type starts TLS, with its fields. */
const secured = streams.flatMap(([type, fake]) => {
  if (fake.tls === undefined) return [];
  const begins = fake.tls === "both" ? (["first", "later"] as const) : [fake.tls];
  return begins.map((when) => {
    const connection = fake.tls === "both" ? (when === "first" ? "tls" : "starttls") : true;
    return [type, fake, when, has(type, "tls") ? { tls: connection } : {}] as const;
  });
});

const fieldsOf = ({ at, fields }: Fake, port: number, host = "127.0.0.1", isSecure = false) => ({
  ...(at?.(host, port, isSecure) ?? { host, port }),
  ...fields,
});

const sourceOf = (text: string | RegExp) =>
  typeof text === "string" ? RegExp.escape(text) : text.source;

/** Expects no secret in the outcome, plain or in Base64 as servers receive it. */
function assertNothingRevealed(outcome: unknown) {
  const text = JSON.stringify(outcome);
  expect(text).not.toContain(canary);
  for (const word of text.match(/[\w+/=]{8,}/g) ?? [])
    expect(Buffer.from(word, "base64").toString("latin1")).not.toContain(canary);
}

/** Connection details of a fake with TLS. */
const securedAs = { tlsVersion: "1.3", issuer: "authority" };

const stayIdle: ServeSocket = (socket) => void socket.resume();

/** Result of a check whose server responds like this. */
async function findOutcome(
  type: MonitorType,
  fake: Fake,
  responses = fake.serve,
  own: object = {},
  timeoutMs = 60_000,
) {
  await using server = await startFake(fake, responses);
  const outcome = await runCheckOfType(
    type,
    { ...fieldsOf(fake, server.port), ...own },
    { timeoutMs },
  );
  await server.waitUntilAllClosed();
  return outcome;
}

const isTimeUp = (message: string | RegExp): message is string =>
  String(message).startsWith("Timed out while ");

test("each type is down at its timeout, and leaves no connection", async () => {
  const message = "Timed out while waiting for the response.";
  const outcomes = await Promise.all(
    types.map(([type, fake]) =>
      runUntilTimedOut(message, (timeoutMs) =>
        findOutcome(type, fake, fake.transport === "udp" ? () => null : stayIdle, {}, timeoutMs),
      ),
    ),
  );
  expect(
    outcomes.map(({ status, message }, index) => [types[index]?.[0], status, message]),
  ).toEqual(types.map(([type]) => [type, "down", message]));
});

describe.each(types)("%s", (type, fake) => {
  test("is up with a good response", async () => {
    const others = fake.transport === "tcp" ? (fake.alsoUp ?? []) : [];
    const first = [fake.serve, fake.up, {}, fake.details] as const;
    for (const [serve, message, fields, details] of [first, ...others]) {
      const outcome = await findOutcome(type, fake, serve as ServeSocket, fields);
      expect(outcome).toMatchObject({
        status: "up",
        message: expect.stringMatching(new RegExp(`^${sourceOf(message)} in \\d+ ms\\.$`)),
        latencyMs: expect.any(Number),
      });
      if (details !== undefined) expect(outcome.details).toEqual(details as typeof outcome.details);
    }
  });

  test("is down without a listener", async () => {
    const outcome = await runCheckOfType(type, fieldsOf(fake, getFreePort()));
    expect(outcome).toMatchObject({ status: "down", message: "The connection was refused." });
  });

  test("reports the error in any other response", async () => {
    const wrong: readonly [Fake["serve"], string | RegExp, object?][] = fake.wrong;
    const outcomes = await Promise.all(
      wrong.map(([serve, message, fields]) =>
        isTimeUp(message)
          ? runUntilTimedOut(message, (timeoutMs) =>
              findOutcome(type, fake, serve, fields, timeoutMs),
            )
          : findOutcome(type, fake, serve, fields),
      ),
    );
    for (const [index, [, message]] of wrong.entries()) {
      const outcome = outcomes[index];
      expect([message, outcome]).toEqual([
        message,
        expect.objectContaining({
          status: "down",
          message: typeof message === "string" ? message : expect.stringMatching(message),
        }),
      ]);
      assertNothingRevealed(outcome);
    }
  });

  test("reports rejected credentials without showing them", async () => {
    expect(fake.refused !== undefined).toBe(Object.keys(monitorKinds[type].secrets).length > 0);
    if (fake.refused === undefined) return;
    const { fields, message } = fake.refused;
    const outcome = await findOutcome(type, fake, fake.serve, fields);
    expect(outcome).toMatchObject({ status: "down", message });
    assertNothingRevealed(outcome);
  });

  test("connects to no blocked address behind a name", async () => {
    await using server = await startFake(fake);
    const listeners = [{ host: "127.0.0.1", port: server.port }];
    const outcome = await runCheckOfType(type, fieldsOf(fake, server.port, "localhost"), {
      listeners,
    });
    expect(outcome).toMatchObject({
      status: "down",
      message: "Blocked: the target is this appliance itself.",
      isFinal: true,
    });
    expect(server.countAccepted()).toBe(0);
  });

  test("binds its secrets to their address and its protection", () => {
    const { secrets, fields } = monitorKinds[type];
    const [isSecured, isPlain] =
      fake.transport === "tcp" && fake.tls === "both" ? ["starttls", "none"] : [true, false];
    const here = { ...fieldsOf(fake, 1, "here.lan", true), verifyTls: true };
    const elsewhere = {
      ...fieldsOf(fake, 2, "elsewhere.lan"),
      tls: isPlain,
      verifyTls: false,
      serverName: "x",
    };
    const moves = ["url", "host", "server", "port", "tls", "verifyTls", "serverName"].filter(
      (name) => name in fields,
    );
    const set = Object.keys(secrets).map((name) => name.replace(".*", ""));
    const all = Object.fromEntries(Object.keys(secrets).map((name) => [name, canary]));
    for (const name of moves) {
      const change = { [name]: (elsewhere as Record<string, unknown>)[name] };
      const stranded = findStrandedSecrets(
        monitorKinds,
        type,
        { ...here, ...fake.fields, tls: isSecured, ...all },
        change,
      );
      expect([name, stranded.map(([name]) => name)]).toEqual([name, set]);
    }
  });
});

describe.each(streams)("%s", (type, fake) => {
  test("is down if the connection is closed at once or after the first request", async () => {
    const rude: ServeSocket[] = [
      (socket) => void socket.resume().end(),
      (socket) => {
        socket.write(fake.greeting ?? "");
        socket.once("data", () => socket.end());
      },
    ];
    for (const responses of rude)
      expect(await findOutcome(type, fake, responses)).toMatchObject({
        status: "down",
        message: "The connection was closed before the response was complete.",
      });
  });

  test("reads a limited part of an endless response, and closes the connection", async () => {
    let sent = 0;
    await using server = await startListener((socket) => {
      const piece = Buffer.alloc(64 * 1024, "x");
      const writeMore = () => {
        while (!socket.destroyed && socket.write(piece)) sent += piece.length;
      };
      socket.on("drain", writeMore).write(fake.flood);
      writeMore();
    });
    const outcome = await runCheckOfType(type, fieldsOf(fake, server.port));
    expect(outcome).toMatchObject({
      status: "down",
      message: expect.stringMatching(/^The response is longer than \d+ KiB\.$/),
    });
    await server.waitUntilAllClosed();
    await waitUntilClosed(server.port);
    // The operating system's buffers on both sides are included.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  test("has a fake with TLS if the type supports TLS", () => {
    expect(fake.tls !== undefined).toBe(has(type, "tls") || has(type, "verifyTls"));
  });
});

describe.each(secured)("%s over TLS", (type, fake, begins, secure) => {
  defineTestWith(["openssl"], "verifies the certificate, unless verification is off", async () => {
    await using server = await startFake(fake, fake.serve, "good", begins);
    const fields = { ...fieldsOf(fake, server.port, "localhost", true), ...secure };
    expect(await runCheckOfType(type, fields)).toMatchObject({
      status: "down",
      message: "The certificate's chain is incomplete, or its authority is not trusted.",
    });
    const unverified = { ...fields, verifyTls: false };
    expect(await runCheckOfType(type, unverified)).toMatchObject({
      status: "up",
      certificateExpiresAt: end,
      details: securedAs,
    });
    const soon = { ...unverified, certificateExpiryDays: 60 };
    expect((await runCheckOfType(type, soon)).status).toBe("degraded");
    await server.waitUntilAllClosed();
  });
});

test("details of a target are limited in size and repeat no secret", async () => {
  const publish = (message: object) =>
    findOutcome(
      "mqtt",
      fakes.mqtt,
      createPublishingBroker(JSON.stringify({ on: true, ...message })),
    );
  const topic = "plant/1/state";
  const inBase64 = Buffer.from(canary).toString("base64");
  for (const secret of [canary, inBase64])
    expect((await publish({ secret })).details).toEqual({ topic });
  const { details } = await publish({ text: "x".repeat(1_000) });
  expect(details?.["message"]).toHaveLength(201);
});

test("optional queries do not affect the result, regardless of the response", async () => {
  const onHello: ((socket: Duplex) => unknown)[] = [
    () => null,
    (socket) => socket.end(),
    (socket) => socket.write("-ERR unknown command\r\n"),
    (socket) => socket.write("*4\r\n$7\r\nversion\r\n$999999999\r\n"),
    (socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"),
  ];
  const outcomes = await Promise.all(
    onHello.map((response) =>
      findOutcome("redis", fakes.redis, (socket: Duplex) => {
        socket.on("data", (data: Buffer) => {
          if (data.includes("HELLO")) response(socket);
          else socket.write(data.includes("AUTH") ? "+OK\r\n" : "+PONG\r\n");
        });
      }),
    ),
  );
  const up = { status: "up", message: expect.stringMatching(/^Answered PING in \d+ ms\.$/) };
  expect(outcomes).toEqual(onHello.map(() => ({ ...up, latencyMs: expect.any(Number) }) as never));
});

test("each declared detail of a type is found on one of its servers", () => {
  for (const type of Object.keys(fakes) as MonitorType[]) {
    const filled = types.flatMap(([each, fake]) => {
      if (each !== type) return [];
      const isSecured = fake.transport === "tcp" && fake.tls !== undefined;
      const others = fake.transport === "tcp" ? (fake.alsoUp ?? []) : [];
      const all = [fake.details, ...others.map(([, , , details = {}]) => details)];
      return [...all, isSecured ? securedAs : {}].flatMap((details) => Object.keys(details));
    });
    const declared: Record<string, object> = detailsOfTypes;
    expect([type, new Set(filled)]).toEqual([type, new Set(Object.keys(declared[type] ?? {}))]);
  }
});

defineTestWith(
  ["openssl"],
  "over TLS a certificate of a trusted authority is up for its name, and down for another",
  async () => {
    await using stack = new AsyncDisposableStack();
    const requests: [MonitorType, object][] = [];
    for (const [type, fake, begins, secure] of secured) {
      const server = stack.use(await startFake(fake, fake.serve, "wrongName", begins));
      const fields = { ...fieldsOf(fake, server.port, "127.0.0.1", true), ...secure };
      requests.push([type, fields]);
      if (has(type, "serverName"))
        requests.push([type, { ...fields, serverName: "elsewhere.test" }]);
    }
    const authorities = getAuthority();
    const outcomes = await Promise.all(
      requests.map(([type, fields]) => runCheckOfType(type, fields, { authorities })),
    );
    for (const [index, [type, fields]] of requests.entries())
      expect([type, outcomes[index]]).toMatchObject([
        type,
        !("serverName" in fields)
          ? { status: "down", message: "The certificate is for another name." }
          : { status: "up", certificateExpiresAt: end },
      ]);
  },
);
