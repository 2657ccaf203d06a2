/** Channels over protocols other than HTTP: fake and real MQTT brokers and syslog servers. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "bun:test";
import type { ChannelSettings } from "../../../src/alerting/channels/kinds-schema.ts";
import { mqtt } from "../../../src/alerting/providers/mqtt.ts";
import { syslog } from "../../../src/alerting/providers/syslog.ts";
import {
  createAlert,
  createAlertStorm,
  createLinkedMessage,
  createMessage,
  details,
  deliveryId,
  monitor,
  origin,
  startReceiver,
} from "../../support/alert-receiver.ts";
import { getFreePort } from "../../support/binary.ts";
import { runCheckOfType } from "../../support/check-runs.ts";
import { startMosquitto, startRsyslog } from "../../support/real-servers.ts";
import { defineTestWith } from "../../support/real-targets.ts";
import { startSecureListener } from "../../support/secure-listener.ts";
import { pollUntil } from "../../support/poll.ts";

const down = createAlert("monitor.down", { monitor: { ...monitor, ...details } });

/** A TCP server on loopback that collects bytes, and answers each chunk. */
function startServer(response: (chunk: Buffer) => Buffer | null = () => null) {
  const chunks: Buffer[] = [];
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, chunk) {
        chunks.push(chunk);
        const reply = response(chunk);
        if (reply !== null) socket.write(reply);
      },
    },
  });
  return {
    port: server.port,
    received: () => Buffer.concat(chunks),
    [Symbol.dispose]: () => server.stop(true),
  };
}

const createBroker = (puback: number[] | null, connack = 0) =>
  startServer((chunk) => {
    if (chunk[0] === 0x10) return Buffer.from([0x20, 2, 0, connack]);
    return puback !== null && (chunk[0] ?? 0) >> 4 === 3 ? Buffer.from(puback) : null;
  });

const buildMqttSettings = (changes: Partial<ChannelSettings<"mqtt">>): ChannelSettings<"mqtt"> => ({
  host: "127.0.0.1",
  port: 0,
  tls: false,
  username: "probe",
  password: "secret",
  topic: "alerts/all",
  retain: false,
  template: null,
  ...changes,
});

const buildSyslogSettings = (
  changes: Partial<ChannelSettings<"syslog">>,
): ChannelSettings<"syslog"> => ({
  host: "127.0.0.1",
  port: 0,
  transport: "tcp",
  facility: "local0",
  template: null,
  ...changes,
});

describe("MQTT", () => {
  test("a message is published as JSON with QoS 1, and counts when the broker confirms it", async () => {
    await using to = await startReceiver();
    using server = createBroker([0x40, 2, 0, 1]);
    const { port } = server;
    expect(await to.deliver(mqtt, buildMqttSettings({ port }), createMessage(down))).toEqual({
      outcome: "delivered",
    });
    const packet = server.received();
    const start = packet.indexOf("alerts/all") - 2;
    expect(packet.subarray(start + 12, start + 14)).toEqual(Buffer.from([0, 1]));
    const json = packet
      .subarray(start + 14)
      .toString()
      .replace(/\xe0?[^}]*$/u, "");
    expect(JSON.parse(json.slice(0, json.lastIndexOf("}") + 1))).toMatchObject({
      id: deliveryId,
      key: expect.any(String),
      status: "triggered",
      type: "monitor.down",
      title: "Shop is down",
      message: expect.stringContaining("Where customers pay."),
      url: `${origin}/monitors/${monitor.id}`,
    });
  });

  test.each([
    [createBroker(null, 5), "The broker does not authorize the user."],
    [createBroker([0x40, 2, 0, 9]), "The response is not valid for MQTT."],
  ])("a broker that does not confirm it fails the attempt: %#", async (server, reason) => {
    using _ = server;
    await using to = await startReceiver();
    const { port } = server;
    expect(
      to.deliver(mqtt, buildMqttSettings({ port }), createMessage(down), { timeoutMs: 2_000 }),
    ).rejects.toThrow(reason);
  });

  defineTestWith(
    ["mosquitto"],
    "Mosquitto accepts it, and delivers it to subscribers",
    async () => {
      await using server = await startMosquitto("right-password");
      await using to = await startReceiver();
      const login = { port: server.port, username: "probe", password: "right-password" };
      await to.deliver(mqtt, buildMqttSettings({ ...login, retain: true }), createMessage(down));
      const result = await runCheckOfType("mqtt", {
        host: "127.0.0.1",
        ...login,
        topic: "alerts/#",
        assertions: [{ source: "json", path: "$.title", op: "equals", value: "Shop is down" }],
      });
      expect(result).toMatchObject({ status: "up" });
      expect(
        to.deliver(mqtt, buildMqttSettings({ ...login, password: "wrong" }), createMessage(down)),
      ).rejects.toThrow("The broker does not authorize the user.");
    },
  );
});

describe("syslog", () => {
  const line =
    /^<131>1 2026-11-20T23:02:00\.000Z signalbox\.lan signalbox - monitor\.down \[origin software="Signalbox" swVersion="[^"]+"\] Shop is down \| /;

  test("over TCP, a line is preceded by its length, and has the alert's details and links", async () => {
    await using to = await startReceiver();
    using server = startServer();
    const settings = buildSyslogSettings({ port: server.port });
    const verdict = await to.deliver(syslog, settings, createLinkedMessage(down));
    expect(verdict).toEqual({ outcome: "delivered" });
    const [, length, text = ""] = /^(\d+) ([^]*)$/.exec(server.received().toString()) ?? [];
    expect(Buffer.byteLength(text)).toBe(Number(length));
    expect(text).toMatch(line);
    for (const part of ["https://shop.lan/health", "production", `${origin}/a/token`])
      expect(text).toContain(part);
  });

  test("no control characters of others reach the log", async () => {
    await using to = await startReceiver();
    using server = startServer();
    const message = { ...createMessage(down), title: "Shop\r\n<0>1 is\u001b[2J\0 down" };
    await to.deliver(syslog, buildSyslogSettings({ port: server.port }), message);
    expect(server.received().toString()).toContain("] Shop <0>1 is [2J down | ");
  });

  test("over UDP, a datagram is a line, and a closed port fails the attempt", async () => {
    await using to = await startReceiver();
    const received: string[] = [];
    const socket = await Bun.udpSocket({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (_socket, data) => void received.push(data.toString()) },
    });
    const settings = buildSyslogSettings({ port: socket.port, transport: "udp" });
    expect(await to.deliver(syslog, settings, createMessage(down))).toMatchObject({
      outcome: "delivered",
    });
    await pollUntil(
      async () => received.length,
      (count) => count === 1,
    );
    expect(received[0]).toMatch(line);
    socket.close();
    const closed = buildSyslogSettings({ port: getFreePort(), transport: "udp" });
    expect(to.deliver(syslog, closed, createMessage(down))).rejects.toThrow();
  });

  test("over TLS, the server's certificate must be trusted", async () => {
    const received: Buffer[] = [];
    await using server = await startSecureListener("good", {
      onConnect: (peer) => void peer.on("data", (chunk: Buffer) => received.push(chunk)),
    });
    await using to = await startReceiver();
    const settings = buildSyslogSettings({ port: server.port, transport: "tls" });
    expect(to.deliver(syslog, settings, createMessage(down))).rejects.toThrow("certificate");
    expect(received).toEqual([]);
    const { authority } = server;
    await to.deliver(syslog, settings, createMessage(down), { authorities: authority });
    expect(Buffer.concat(received).toString()).toMatch(/^\d+ <131>1 /);
  });

  test("a digest stays below 2,048 bytes in any script, and text outside ASCII has a byte order mark", async () => {
    await using to = await startReceiver();
    using server = startServer();
    const settings = buildSyslogSettings({ port: server.port });
    const storm = createAlertStorm(1_000, (number) => `店舗☃🚨"\\ ${number}`);
    await to.deliver(syslog, settings, createMessage(storm));
    const sent = server.received().toString();
    expect(Number(sent.split(" ")[0])).toBeLessThanOrEqual(2_048);
    expect(sent).toMatch(/\] \ufeff1,000 monitors are down \| .*… and \d+ more/u);
  });

  defineTestWith(["rsyslogd"], "rsyslog reads every field, over UDP and TCP", async () => {
    await using server = await startRsyslog();
    await using to = await startReceiver();
    const { port } = server;
    const named = { ...monitor, name: "Störung" };
    const alert = createAlert("monitor.up", { monitor: named });
    for (const transport of ["udp", "tcp"] as const)
      await to.deliver(
        syslog,
        buildSyslogSettings({ port, transport, facility: "cron" }),
        createMessage(alert),
      );
    const lines = await pollUntil(
      async () => (existsSync(server.lines) ? readFileSync(server.lines, "utf8").trim() : ""),
      (text) => text.split("\n").length === 2,
    );
    for (const one of lines.split("\n"))
      expect(one).toMatch(
        /^77\|signalbox\.lan\|signalbox\|monitor\.up\|\[origin software="Signalbox" swVersion="[^"]+"\]\| ?\ufeff?Störung is up/,
      );
  });
});
