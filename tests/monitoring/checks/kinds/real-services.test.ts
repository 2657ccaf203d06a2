import { expect } from "bun:test";
import { check } from "../../../support/checking.ts";
import {
  mariadbServer,
  postgresServer,
  radiusServer,
  redisServer,
  snmpAgent,
  testWith,
} from "../../../support/real-targets.ts";
import { canary as password } from "../../../support/samples.ts";

const host = "127.0.0.1";

testWith(["redis-server"], "redis: signed in or not", async () => {
  await using server = await redisServer("--requirepass", password);
  const asked = { host, port: server.port };
  expect(await check("redis", { ...asked, password })).toMatchObject({ status: "up" });
  expect(await check("redis", { ...asked, username: "default", password })).toMatchObject({
    status: "up",
  });
  expect(await check("redis", asked)).toMatchObject({ message: "The server asks for a password." });
  expect(await check("redis", { ...asked, password: "other" })).toMatchObject({
    status: "down",
    message: "The server refused the password.",
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

async function triedOut(type: "postgres" | "mysql", port: number, ownDatabase: string) {
  const asked = { host, port, username: "probe", password, database: ownDatabase };
  const secured = { tls: true, verifyTls: false };
  for (const how of [{}, secured])
    expect(await check(type, { ...asked, ...queries.up, ...how })).toMatchObject({ status: "up" });
  expect(await check(type, { ...asked, tls: true })).toMatchObject({
    message: "The certificate's chain is incomplete, or its authority is not trusted.",
  });
  const issueOf = async (fields: object) => await check(type, { ...asked, ...secured, ...fields });
  expect(await issueOf({ password: "other" })).toMatchObject({
    status: "down",
    message: "The server refused the user name or the password.",
  });
  expect(await issueOf({ database: "nowhere" })).toMatchObject({
    message: "The database does not exist, or is closed to the user.",
  });
  expect(await issueOf(queries.nonsense)).toMatchObject({
    message: "The server does not understand the query.",
    said: expect.stringContaining("nothing_of_this_name"),
  });
  expect(await issueOf(queries.large)).toMatchObject({
    message: "The answer is longer than 1024 KiB.",
  });
}

testWith(
  ["initdb", "postgres", "openssl"],
  "postgres: a query over plain and secured connections",
  async () => {
    await using server = await postgresServer(password);
    await triedOut("postgres", server.port, "postgres");
  },
);

testWith(
  ["mariadbd", "mariadb-install-db", "openssl"],
  "mysql: a query over plain and secured connections",
  async () => {
    await using server = await mariadbServer(password);
    await triedOut("mysql", server.port, "shop");
    const asked = { host, port: server.port, username: "probe", password };
    expect(await check("mysql", asked)).toMatchObject({ status: "up" });
  },
);

testWith(["snmpd"], "snmp: by community and as a user of version 3", async () => {
  await using agent = await snmpAgent(password, `${password}-auth`, `${password}-priv`);
  const asked = { host, port: agent.port, oid: "1.3.6.1.2.1.1.5.0" };
  const named = { assertions: [{ source: "body", op: "equals", value: "core-switch" }] };
  const user = {
    snmpVersion: "3",
    username: "probe",
    authProtocol: "sha256",
    authPassword: `${password}-auth`,
    privPassword: `${password}-priv`,
  };
  for (const how of [{ community: password }, { snmpVersion: "1", community: password }, user])
    expect(await check("snmp", { ...asked, ...named, ...how })).toMatchObject({
      status: "up",
      said: expect.stringContaining("core-switch"),
    });
  const issueOf = async (fields: object) =>
    (await check("snmp", { ...asked, ...user, ...fields }, { timeoutMs: 2_000 })).message;
  expect(await issueOf({ username: "nobody" })).toBe("The device does not know the user.");
  expect(await issueOf({ authPassword: "wrong-password" })).toBe(
    "The device refused the authentication password.",
  );
  expect(await issueOf({ privPassword: null })).toBe(
    "The device does not show the object to the user.",
  );
  expect(await issueOf({ oid: "1.3.6.1.2.1.1.99.0" })).toBe("The device has no such object.");
});

testWith(["freeradius"], "radius: a user who is let in, and one who is not", async () => {
  await using server = await radiusServer("shared-secret", password);
  const asked = { host, port: server.port, secret: "shared-secret", username: "probe", password };
  expect(await check("radius", asked)).toMatchObject({ status: "up" });
  expect(await check("radius", { ...asked, password: "other" })).toMatchObject({
    status: "down",
    message: "The server refused the user name or the password.",
  });
});
