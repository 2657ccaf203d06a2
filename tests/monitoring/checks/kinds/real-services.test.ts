import { expect } from "bun:test";
import { check } from "../../../support/checking.ts";
import {
  mariadbServer,
  postgresServer,
  redisServer,
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
