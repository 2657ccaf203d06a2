import { expect } from "bun:test";
import type { MonitorType } from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { runCheckOfType } from "../../../support/check-runs.ts";
import {
  startDovecot,
  startExim,
  isDovecot23,
  startMosquitto,
  startSshServer,
} from "../../../support/real-servers.ts";
import {
  startMariadbServer,
  startPostgresServer,
  startRadiusServer,
  startRedisServer,
  startSnmpAgent,
  defineTestWith,
} from "../../../support/real-targets.ts";
import { canary as password } from "../../../support/samples.ts";

const host = "127.0.0.1";

defineTestWith(["redis-server"], "redis: with and without sign-in", async () => {
  await using server = await startRedisServer("--requirepass", password);
  const request = { host, port: server.port };
  expect(await runCheckOfType("redis", { ...request, password })).toMatchObject({
    status: "up",
    details: { version: expect.stringMatching(/^\d+\.\d+/), role: "master", mode: "standalone" },
  });
  expect(
    await runCheckOfType("redis", { ...request, username: "default", password }),
  ).toMatchObject({
    status: "up",
  });
  expect(await runCheckOfType("redis", request)).toMatchObject({
    message: "The server requires a password.",
  });
  expect(await runCheckOfType("redis", { ...request, password: "other" })).toMatchObject({
    status: "down",
    message: "The server rejected the password.",
  });
});

const queries = {
  up: {
    query: "SELECT 41 + 1 AS n, 'fine' AS state",
    assertions: [
      { source: "json", path: "$[0].n", op: "equals", value: 42 },
      { source: "json", path: "$[0].state", op: "contains", value: "fin" },
      { source: "latency", op: "lessThan", value: 60_000 },
    ],
  },
  large: { query: "SELECT repeat('x', 9000000)" },
  nonsense: { query: "SELECT nothing_of_this_name" },
};

async function tryDatabase(type: "postgres" | "mysql", port: number, ownDatabase: string) {
  const request = { host, port, username: "probe", password, database: ownDatabase };
  const secured = { tls: true, verifyTls: false };
  for (const how of [{}, secured])
    expect(await runCheckOfType(type, { ...request, ...queries.up, ...how })).toMatchObject({
      status: "up",
      details: {
        version: expect.stringMatching(/^\d+\.\d+/),
        ...(type === "postgres" && { role: "primary" }),
      },
    });
  expect(await runCheckOfType(type, { ...request, tls: true })).toMatchObject({
    message: "The certificate's chain is incomplete, or its authority is not trusted.",
  });
  const issueOf = async (fields: object) =>
    await runCheckOfType(type, { ...request, ...secured, ...fields });
  expect(await issueOf({ password: "other" })).toMatchObject({
    status: "down",
    message: "The server rejected the user name or the password.",
  });
  expect(await issueOf({ database: "nowhere" })).toMatchObject({
    message: "The database does not exist, or is closed to the user.",
  });
  expect(await issueOf(queries.nonsense)).toMatchObject({
    message: "The server does not understand the query.",
    serverText: expect.stringContaining("nothing_of_this_name"),
  });
  expect(await issueOf(queries.large)).toMatchObject({
    message: "The response is longer than 1024 KiB.",
  });
}

defineTestWith(
  ["initdb", "postgres", "openssl"],
  "postgres: a query over plain and encrypted connections",
  async () => {
    await using server = await startPostgresServer(password);
    await tryDatabase("postgres", server.port, "postgres");
  },
);

defineTestWith(
  ["mariadbd", "mariadb-install-db", "openssl"],
  "mysql: a query over plain and encrypted connections",
  async () => {
    await using server = await startMariadbServer(password);
    await tryDatabase("mysql", server.port, "shop");
    const request = { host, port: server.port, username: "probe", password };
    expect(await runCheckOfType("mysql", request)).toMatchObject({ status: "up" });
  },
);

defineTestWith(["snmpd"], "snmp: by community and as a user of version 3", async () => {
  await using agent = await startSnmpAgent(password, `${password}-auth`, `${password}-priv`);
  const request = { host, port: agent.port, oid: "1.3.6.1.2.1.1.5.0" };
  const named = { assertions: [{ source: "body", op: "equals", value: "core-switch" }] };
  const user = {
    snmpVersion: "3",
    username: "probe",
    authProtocol: "sha256",
    authPassword: `${password}-auth`,
    privPassword: `${password}-priv`,
  };
  for (const how of [{ community: password }, { snmpVersion: "1", community: password }, user])
    expect(await runCheckOfType("snmp", { ...request, ...named, ...how })).toMatchObject({
      status: "up",
      serverText: expect.stringContaining("core-switch"),
    });
  const issueOf = async (fields: object) =>
    (await runCheckOfType("snmp", { ...request, ...user, ...fields })).message;
  expect(await issueOf({ username: "nobody" })).toBe("The device does not know the user.");
  expect(await issueOf({ authPassword: "wrong-password" })).toBe(
    "The device rejected the authentication password.",
  );
  expect(await issueOf({ privPassword: null })).toBe(
    "The device does not show the object to the user.",
  );
  expect(await issueOf({ oid: "1.3.6.1.2.1.1.99.0" })).toBe("The device has no such object.");
});

defineTestWith(["freeradius"], "radius: an accepted user and a rejected one", async () => {
  await using server = await startRadiusServer("shared-secret", password);
  const request = { host, port: server.port, secret: "shared-secret", username: "probe", password };
  expect(await runCheckOfType("radius", request)).toMatchObject({ status: "up" });
  expect(await runCheckOfType("radius", { ...request, password: "other" })).toMatchObject({
    status: "down",
    message: "The server rejected the user name or the password.",
  });
});

const user = { username: "probe", password };
const untrusted = "The certificate's chain is incomplete, or its authority is not trusted.";

/** Tests a mail server on its two ports, including its response to an unencrypted login. */
async function mailTriedOut(type: MonitorType, plainPort: number, securePort: number) {
  const request = (port: number, tls: string, fields: object = {}) =>
    runCheckOfType(type, { host, port, tls, verifyTls: false, ...fields });
  expect(await request(plainPort, "none")).toMatchObject({
    status: "up",
    details: { greeting: expect.stringMatching(/\S/) },
  });
  const secured = [
    [plainPort, "starttls"],
    [securePort, "tls"],
  ] as const;
  for (const [port, tls] of secured) {
    expect(await request(port, tls, user)).toMatchObject({
      status: "up",
      message: expect.stringMatching(/^Accepted the user/),
      certificateExpiresAt: expect.any(String),
      details: { tlsVersion: expect.stringMatching(/^1\.[23]$/), issuer: expect.any(String) },
    });
    expect(await request(port, tls, { ...user, password: "other" })).toMatchObject({
      status: "down",
      message: "The server rejected the user name or the password.",
    });
    expect(await request(port, tls, { verifyTls: true })).toMatchObject({ message: untrusted });
  }
  return (await request(plainPort, "none", user)).message;
}

// Exim starts only as root or as the user that Debian compiled into it.
defineTestWith(
  ["root", "exim4", "openssl"],
  "smtp: plain, with STARTTLS and with TLS",
  async () => {
    await using server = await startExim(password);
    expect(await mailTriedOut("smtp", server.plainPort, server.securePort)).toBe(
      "The server offers no sign-in by password over this connection.",
    );
  },
);

defineTestWith(
  ["dovecot", "imap-login", "pop3-login", "openssl"],
  "imap and pop3: plain, with STARTTLS and with TLS",
  async () => {
    if (!isDovecot23()) return console.warn("\nNOT TESTED: Dovecot is not of version 2.3\n");
    await using server = await startDovecot(password);
    expect(await mailTriedOut("imap", server.imap, server.imaps)).toStartWith("Accepted the user");
    expect(await mailTriedOut("pop3", server.pop3, server.pop3s)).toStartWith("Accepted the user");
  },
);

defineTestWith(["mosquitto", "openssl"], "mqtt: sign-in, and the value of a topic", async () => {
  await using server = await startMosquitto(password);
  const request = { host, port: server.port, ...user };
  const overTls = { port: server.securePort, tls: true, verifyTls: false };
  const topic = {
    topic: "$SYS/broker/version",
    assertions: [{ source: "body", op: "contains", value: "mosquitto" }],
  };
  for (const how of [{}, { topic: "plant/#" }, topic, { ...topic, ...overTls }])
    expect(await runCheckOfType("mqtt", { ...request, ...how })).toMatchObject({ status: "up" });
  expect(await runCheckOfType("mqtt", { ...request, ...topic })).toMatchObject({
    serverText: expect.stringContaining("mosquitto version"),
    details: { topic: topic.topic, message: expect.stringContaining("mosquitto version") },
  });
  const issueOf = async (fields: object) =>
    (await runCheckOfType("mqtt", { ...request, ...fields })).message;
  expect(await issueOf({ password: "other" })).toBe("The broker does not authorize the user.");
  expect(await issueOf({ username: null })).toBe("The broker does not authorize the user.");
  expect(await issueOf({ ...overTls, verifyTls: true })).toBe(untrusted);
});

const sshWays = [
  { types: ["rsa", "ecdsa", "ed25519"], settings: {}, key: "ssh-ed25519" },
  {
    types: ["ecdsa"],
    settings: { KexAlgorithms: "ecdh-sha2-nistp256" },
    key: "ecdsa-sha2-nistp256",
  },
  {
    types: ["rsa"],
    settings: { KexAlgorithms: "diffie-hellman-group14-sha256" },
    key: "ssh-rsa",
  },
  {
    types: ["rsa"],
    settings: { KexAlgorithms: "diffie-hellman-group14-sha1", HostKeyAlgorithms: "ssh-rsa" },
    key: "ssh-rsa",
  },
  ...[
    { KexAlgorithms: "ecdh-sha2-nistp384" },
    { KexAlgorithms: "ecdh-sha2-nistp521" },
    { KexAlgorithms: "diffie-hellman-group-exchange-sha256" },
    { KexAlgorithms: "diffie-hellman-group16-sha512" },
    { KexAlgorithms: "diffie-hellman-group18-sha512" },
    { KexAlgorithms: "diffie-hellman-group1-sha1" },
    { MACs: "umac-64-etm@openssh.com", Ciphers: "aes192-cbc" },
  ].map((settings) => ({ types: ["ed25519"] as const, settings, key: "ssh-ed25519" })),
] as const;

for (const { types, settings, key } of sshWays)
  defineTestWith(
    ["sshd", "ssh-keygen"],
    `ssh: a host key, proved by ${Object.values(settings).join(" and ") || "the preferred algorithms"}`,
    async () => {
      await using server = await startSshServer(types, settings);
      const { port, fingerprint } = server;
      const request = { host, port };
      expect(await runCheckOfType("ssh", { ...request, fingerprint })).toMatchObject({
        status: "up",
        serverText: expect.stringMatching(
          new RegExp(`: SSH-2\\.0-OpenSSH.* with the ${key} key ${RegExp.escape(fingerprint)}\\.$`),
        ),
      });
      expect(
        await runCheckOfType("ssh", { ...request, fingerprint: `SHA256:${"A".repeat(43)}` }),
      ).toMatchObject({ status: "down", message: "The host key is not the expected one." });
    },
  );
