/** SQL checks against fake servers: sign-in methods, encryption, results and limits. */
import { expect, test } from "bun:test";
import { constants, generateKeyPairSync, privateDecrypt } from "node:crypto";
import type { Duplex } from "node:stream";
import { runCheckOfType, runLoggedCheck } from "../../../support/check-runs.ts";
import type { ServeSocket } from "../../../support/fakes/fake.ts";
import {
  buildGreeting,
  buildProcedureResult,
  createMysqlServer,
  mysql,
  offeredCapabilities,
  buildOk,
  buildMysqlPacket,
  pluginAuth,
  buildRows,
  salt,
} from "../../../support/fakes/mysql.ts";
import {
  buildColumn,
  encodeNumber,
  postgres,
  buildPostgresMessage,
  readyMessage,
  buildDataRow,
} from "../../../support/fakes/postgres.ts";
import { startFake } from "../../../support/fakes/start-fake.ts";
import {
  startMariadbServer,
  startPostgresServer,
  defineTestWith,
} from "../../../support/real-targets.ts";
import { canary } from "../../../support/samples.ts";

const host = "127.0.0.1";
const login = { host, username: "probe", password: canary };
type Sql = "postgres" | "mysql";

/** Runs a check of a server that responds like this. Returns its result and the bytes it sent. */
async function checkServer(type: Sql, responses: ServeSocket, fields: object = {}) {
  const received: Buffer[] = [];
  const fake = type === "postgres" ? postgres : mysql;
  await using server = await startFake(fake, (socket, secure) => {
    const recordLine = (line: Duplex) =>
      line.on("data", (data: Buffer) => void received.push(data));
    recordLine(socket);
    responses(socket, (line, unread) => recordLine(secure(line, unread)) as Duplex);
  });
  const settings = { type, name: "Target", port: server.port, ...login, ...fields };
  const { NewMonitor } = await import("../../../../src/monitoring/monitors/schema.ts");
  const { outcome, logged } = await runLoggedCheck(type, NewMonitor.parse(settings));
  return { outcome, logged, heard: Buffer.concat(received) };
}

const caching = "caching_sha2_password";
const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = publicKey.export({ type: "spki", format: "pem" });
const buildFullAuthentication = (sequence: number) => buildMysqlPacket(sequence, [1, 4]);

/** A MySQL server that gets the password by RSA or over TLS, and its way of requesting it. */
function createCachingServer(
  first: Buffer,
  way: "greeting" | "switch",
  key: string | Buffer = pem,
) {
  const received: { password?: string } = {};
  const replyInSteps: ServeSocket = (socket, secure) => {
    let step = way === "greeting" ? 1 : 0;
    let isSecure = false;
    const hear = (line: Duplex) =>
      line.on("data", (data: Buffer) => {
        const sequence = data[3] ?? 0;
        if (sequence === 0)
          return void line.write(data.includes("SET ") ? buildOk(1) : buildRows("42"));
        if (sequence === 1 && (data.readUInt16LE(4) & 0x0800) !== 0) {
          isSecure = true;
          line.removeAllListeners("data");
          return void hear(secure(line, data.subarray(36)));
        }
        if (step === 0) line.write(buildMysqlPacket(sequence + 1, [0xfe], `${caching}\0${salt}\0`));
        else if (step === 1) line.write(buildFullAuthentication(sequence + 1));
        else if (data.length === 5 && data[4] === 2)
          line.write(buildMysqlPacket(sequence + 1, [1], Buffer.from(key)));
        else {
          const body = data.subarray(4);
          received.password = isSecure ? body.toString() : decryptBody(body);
          line.write(buildOk(sequence + 1));
        }
        step++;
      });
    hear(socket);
    socket.write(first);
  };
  return { replyInSteps, received };
}

function decryptBody(body: Buffer): string {
  const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha1" };
  const masked = privateDecrypt({ key: privateKey, ...padding }, body);
  return Buffer.from(
    masked.map((byte, index) => byte ^ salt.charCodeAt(index % salt.length)),
  ).toString();
}

const ways = [
  ["greeting", buildGreeting(offeredCapabilities + pluginAuth, caching)],
  ["switch", buildGreeting(offeredCapabilities + pluginAuth)],
  ["switch", buildGreeting(offeredCapabilities + pluginAuth, "client_ed25519")],
] as const;

test("MySQL gets a cleartext password only encrypted with RSA or over TLS", async () => {
  for (const [way, first] of ways) {
    const plain = createCachingServer(first, way);
    const { outcome, heard } = await checkServer("mysql", plain.replyInSteps);
    expect(outcome.message).toStartWith("Answered the query");
    expect(plain.received.password).toBe(`${canary}\0`);
    expect(heard.toString("latin1")).not.toContain(canary);

    const secured = createCachingServer(first, way);
    const overTls = await checkServer("mysql", secured.replyInSteps, {
      tls: true,
      verifyTls: false,
    });
    expect(overTls.outcome.message).toStartWith("Answered the query");
    expect(secured.received.password).toBe(`${canary}\0`);
  }
});

test("a MySQL server without a valid RSA key gets no password", async () => {
  const short = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  const curve = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey;
  const keys = [
    "",
    "no key",
    "x".repeat(50_000),
    ...[short, curve].map((key) => key.export({ type: "spki", format: "pem" })),
  ];
  for (const key of keys) {
    const server = createCachingServer(ways[0][1], "greeting", key);
    const { outcome, heard } = await checkServer("mysql", server.replyInSteps);
    expect(outcome).toMatchObject({
      status: "down",
      message: "The server sent no RSA key to encrypt the password with: turn on TLS.",
    });
    expect(server.received).toEqual({});
    expect(heard.toString("latin1")).not.toContain(canary);
  }
});

test("MySQL's cleartext sign-in methods are rejected on any connection", async () => {
  for (const plugin of ["mysql_clear_password", "dialog", "sha256_password", "parsec", "odd"])
    for (const tls of [false, true]) {
      const { outcome, heard } = await checkServer(
        "mysql",
        (socket, secure) => {
          let isSecure = false;
          const hear = (line: Duplex) =>
            line.on("data", (data: Buffer) => {
              if (tls && !isSecure) {
                isSecure = true;
                line.removeAllListeners("data");
                return void hear(secure(line, data.subarray(36)));
              }
              line.write(buildMysqlPacket((data[3] ?? 0) + 1, [0xfe], `${plugin}\0${salt}\0`));
            });
          hear(socket);
          socket.write(buildGreeting(offeredCapabilities + pluginAuth));
        },
        { tls, verifyTls: false },
      );
      expect(outcome.message).toBe("The server requires a sign-in method that is not supported.");
      if (plugin !== "odd") expect(outcome.serverText).toContain(plugin);
      expect(heard.toString("latin1")).not.toContain(canary);
    }
});

test("the rows of a MySQL procedure are those of its SELECT", async () => {
  const readStatus = async (query: string, path: string) => {
    const assertions = [{ source: "json", path, op: "equals", value: 42 }];
    const serve = createMysqlServer(buildProcedureResult("42"));
    return (await checkServer("mysql", serve, { query, assertions })).outcome.status;
  };
  expect(await readStatus("CALL report()", "$[0].n")).toBe("up");
  expect(await readStatus("SELECT 42 AS n; DO 1", "$[0][0].n")).toBe("up");
});

test("a query that takes too long is not called silence of the server", async () => {
  const serve = createMysqlServer(Buffer.alloc(0));
  await using server = await startFake(mysql, serve);
  const settings = { port: server.port, ...login };
  const { serverText } = await runCheckOfType("mysql", settings, { timeoutMs: 1_000 });
  expect(serverText).toMatch(/waiting for the response\. The query did not finish\.$/);
});

test("MySQL gets no file of this machine", async () => {
  const { outcome } = await checkServer("mysql", (socket) => {
    socket.on("data", (data: Buffer) => {
      if (data[3] === 0) socket.write(buildMysqlPacket(1, [0xfb], "/etc/passwd"));
      else socket.write(buildOk((data[3] ?? 0) + 1));
    });
    socket.write(buildGreeting(offeredCapabilities));
  });
  expect(outcome.message).toBe("The server requests a file of this machine, which is not sent.");
});

const requestCleartext: ServeSocket = (socket, secure) => {
  const hear = (line: Duplex) =>
    line.on("data", (data: Buffer) => {
      if (data.length === 8) {
        line.removeAllListeners("data").write("S");
        return void hear(secure(line));
      }
      const type = data.toString("latin1", 0, 1);
      if (data[0] === 0) line.write(buildPostgresMessage("R", encodeNumber(3, 4)));
      else if (type === "p")
        line.write(Buffer.concat([buildPostgresMessage("R", encodeNumber(0, 4)), readyMessage]));
      else line.write(Buffer.concat([buildPostgresMessage("I"), readyMessage]));
    });
  hear(socket);
};

test("a PostgreSQL server that requests a cleartext password gets it only over TLS", async () => {
  const plain = await checkServer("postgres", requestCleartext);
  expect(plain.outcome.message).toBe(
    "The server requests the password in cleartext over an unencrypted connection: turn on TLS.",
  );
  expect(plain.heard.toString("latin1")).not.toContain(canary);
  const secured = await checkServer("postgres", requestCleartext, { tls: true, verifyTls: false });
  expect(secured.outcome.status).toBe("up");
  expect(secured.heard.toString("latin1")).toContain(canary);
});

test("a PostgreSQL server that requests too many iterations gets no response", async () => {
  for (const count of ["100001", "500000", "10000000", "99999999999999999999"]) {
    const messages: string[] = [];
    const { outcome } = await checkServer("postgres", (socket) => {
      socket.on("data", (data: Buffer) => {
        if (data[0] === 0)
          return void socket.write(
            buildPostgresMessage("R", encodeNumber(10, 4), "SCRAM-SHA-256\0\0"),
          );
        messages.push(data.toString());
        const nonce = /r=(.*)$/.exec(data.toString())?.[1] ?? "";
        const first = `r=${nonce}x,s=c2FsdA==,i=${count}`;
        socket.write(buildPostgresMessage("R", encodeNumber(11, 4), first));
      });
    });
    expect(outcome).toMatchObject({
      status: "down",
      message: "Signing in needs more iterations than are supported: at most 100000.",
    });
    // Only its first message, without a proof, for which the iterations would be computed.
    expect(messages).toHaveLength(1);
  }
});

/** A PostgreSQL server that accepts every login and returns these values of a type. */
const replyWithValues =
  (oid: number, ...values: string[]): ServeSocket =>
  (socket) => {
    socket.on("data", (data: Buffer) => {
      if (data[0] === 0)
        return void socket.write(
          Buffer.concat([buildPostgresMessage("R", encodeNumber(0, 4)), readyMessage]),
        );
      const columns = buildPostgresMessage("T", encodeNumber(1, 2), buildColumn("v", oid));
      const all = values.map((value) => buildDataRow(value));
      socket.write(
        Buffer.concat([columns, ...all, buildPostgresMessage("C", "SELECT\0"), readyMessage]),
      );
    });
  };

const wantsRows = { assertions: [{ source: "json", path: "$[0].v", op: "exists" }] };

test("rows that are too expensive are rejected with a message and count as a failure", async () => {
  const [json, jsonb, text, ints, bytes] = [114, 3802, 25, 1007, 17];
  const names = Array.from({ length: 15_000 }, (_, index) => `"${index.toString(36)}":1`);
  const cases: [ServeSocket, string][] = [
    [replyWithValues(json, "[".repeat(500_000)), "The JSON in the rows is longer than 64 KiB."],
    [
      replyWithValues(jsonb, `${"[".repeat(257)}${"]".repeat(257)}`),
      "The JSON in the rows can't be read: it is nested deeper than 256 levels.",
    ],
    [replyWithValues(json, `{${names.join(",")}}`), "The JSON in the rows is longer than 64 KiB."],
    [
      replyWithValues(json, `[${"0,".repeat(30_000)}0]`),
      "The JSON in the rows can't be read: it has more than 20000 values.",
    ],
    [replyWithValues(json, "{"), "The JSON in the rows can't be read: it is not JSON."],
    [
      replyWithValues(json, ...Array<string>(6_000).fill('{"a":1234567}')),
      "The JSON in the rows is longer than 64 KiB.",
    ],
    [
      replyWithValues(text, ...Array<string>(30_000).fill("x")),
      "The rows have more than 20000 values.",
    ],
    [replyWithValues(ints, "{".repeat(1_000)), "An array is nested deeper than 256 levels."],
    [replyWithValues(ints, `{${"1,".repeat(30_000)}1}`), "The rows have more than 20000 values."],
    [
      replyWithValues(bytes, `\\x${"00".repeat(70_000)}`),
      "The bytes in the rows are more than 64 KiB: use a query that returns text.",
    ],
    [replyWithValues(text, "x".repeat(2_000_000)), "The response is longer than 1024 KiB."],
  ];
  for (const [serve, message] of cases) {
    const { outcome, logged } = await checkServer("postgres", serve, wantsRows);
    expect([message, outcome.status]).toEqual([outcome.message, "down"]);
    expect(logged).toEqual([]);
  }
});

test("numbers in a PostgreSQL array are compared as numbers", async () => {
  const [numerics, longs] = [1231, 1016];
  const readStatus = async (oid: number, list: string, op: string, value: unknown) => {
    const assertions = [{ source: "json", path: "$[0].v", op, value }];
    return (await checkServer("postgres", replyWithValues(oid, list), { assertions })).outcome
      .status;
  };
  expect(await readStatus(numerics, "{1.50,2}", "contains", 1.5)).toBe("up");
  expect(await readStatus(numerics, "{1.50,2}", "contains", "1.50")).toBe("up");
  expect(await readStatus(numerics, "{1.50,2}", "notContains", 1.5)).toBe("down");
  expect(await readStatus(longs, "{9007199254740993}", "contains", "9007199254740993")).toBe("up");
  expect(await readStatus(longs, "{9007199254740993}", "contains", 9007199254740992)).toBe("down");
});

test("rows are not built without an assertion on them", async () => {
  for (const responses of [
    replyWithValues(114, `${"[".repeat(500_000)}`),
    replyWithValues(25, ...Array<string>(30_000).fill("x")),
  ])
    expect((await checkServer("postgres", responses)).outcome.status).toBe("up");
});

const postgresValues: [sql: string, value: unknown][] = [
  ["true", true],
  ["5::int8", 5],
  ["9007199254740993::int8", "9007199254740993"],
  ["avg(x) FROM (VALUES (1),(2)) t(x)", "1.5000000000000000"],
  ["1.50::float4", 1.5],
  ["'NaN'::float8", null],
  ["'a'::char(3)", "a  "],
  ["'\\xdead'::bytea", { type: "Buffer", data: [222, 173] }],
  ["'2024-01-02'::date", "2024-01-02T00:00:00.000Z"],
  ["'2024-01-02 03:04:05.678901'::timestamp", "2024-01-02T03:04:05.678Z"],
  ["'2024-01-02 03:04:05.678901+02'::timestamptz", "2024-01-02T01:04:05.678Z"],
  ["'infinity'::timestamptz", null],
  ["'0044-03-15 BC'::date", "-000043-03-15T00:00:00.000Z"],
  ["'03:04:05+02'::timetz", "03:04:05+02"],
  ["'1 day 2 hours'::interval", "1 day 02:00:00"],
  [`'{"a":1,"b":[1,2]}'::jsonb`, { a: 1, b: [1, 2] }],
  ["ARRAY[1,2,NULL]", [1, 2, null]],
  [`ARRAY['a','b,c',NULL,'q"x\\','NULL']::text[]`, ["a", "b,c", null, 'q"x\\', "NULL"]],
  [
    "ARRAY[[1,2],[3,4]]",
    [
      [1, 2],
      [3, 4],
    ],
  ],
  [`ARRAY['{"a":[1]}']::jsonb[]`, [{ a: [1] }]],
  ["ARRAY[]::int[]", []],
  ["'[0:1]={1,2}'::int[]", [1, 2]],
  ["5::oid", 5],
  ["null", null],
  ["row(1,2)", "(1,2)"],
];

/** Runs queries in our session, and returns the values it reads. */
async function queryValues(port: number, type: Sql, queries: readonly string[]) {
  const { dial } = await import("../../../../src/core/outgoing/connection.ts");
  const { createWire } = await import("../../../../src/core/outgoing/http/wire.ts");
  const { openPostgresSession } =
    await import("../../../../src/monitoring/checks/sql/postgres-session.ts");
  const { openMysqlSession } =
    await import("../../../../src/monitoring/checks/sql/mysql-session.ts");
  const { createCheckContext } = await import("../../../support/check-runs.ts");
  const ending = new AbortController();
  const context = createCheckContext(ending);
  const addresses = [{ address: host, family: 4, isPrivate: true }] as const;
  const wire = createWire(await dial(addresses, port, context), context);
  const open = type === "postgres" ? openPostgresSession : openMysqlSession;
  const database = type === "postgres" ? "postgres" : "shop";
  const session = await open(wire, { username: "probe", password: canary, database }, null);
  const found: unknown[] = [];
  for (const query of queries)
    found.push(JSON.parse(JSON.stringify(await session.query(query, true))));
  ending.abort();
  return found;
}

defineTestWith(
  ["initdb", "postgres", "openssl"],
  "PostgreSQL's values are converted to JSON",
  async () => {
    await using server = await startPostgresServer(canary);
    const queries = postgresValues.map(([sql]) => `SELECT ${sql.replace(/^(avg\(x\))/, "$1")}`);
    const named = queries.map((sql) =>
      sql.includes(" FROM ") ? sql.replace(" FROM", " AS v FROM") : `${sql} AS v`,
    );
    expect(await queryValues(server.port, "postgres", named)).toEqual(
      postgresValues.map(([, v]) => [{ v }]),
    );
    expect(
      await queryValues(server.port, "postgres", [
        "SELECT 1 AS a; SELECT 2 AS a",
        "SELECT 1 WHERE false",
        "SET statement_timeout = 0",
        "SELECT",
        'SELECT 1 AS "__proto__"',
      ]),
    ).toEqual([[[{ a: 1 }], [{ a: 2 }]], [], [], [{}], [JSON.parse('{"__proto__":1}')]]);
  },
);

const passwords = [
  "e\u0301x",
  "\u00e9x",
  "\ufb01x",
  "\u2168",
  "a\u00a0b",
  "a\u00adb",
  "\u0627\u0031",
  "😀\ufb01",
  " '\"\\%:@#",
];

defineTestWith(
  ["initdb", "postgres", "openssl"],
  "PostgreSQL's users sign in with any password, normalized with SASLprep",
  async () => {
    await using server = await startPostgresServer(canary);
    const quotePassword = (password: string) => `'${password.replaceAll("'", "''")}'`;
    for (const [index, password] of passwords.entries()) {
      const query = `CREATE ROLE user${index} LOGIN PASSWORD ${quotePassword(password)}`;
      const port = server.port;
      const request = { ...login, port, database: "postgres" };
      expect(await runCheckOfType("postgres", { ...request, query })).toMatchObject({
        status: "up",
      });
      const as = { ...request, username: `user${index}` };
      expect([password, await runCheckOfType("postgres", { ...as, password })]).toMatchObject([
        password,
        { status: "up" },
      ]);
      expect(
        (await runCheckOfType("postgres", { ...as, password: `${password}\u00a0` })).message,
      ).toBe("The server rejected the user name or the password.");
    }
  },
);

const mysqlValues: [sql: string, value: unknown][] = [
  ["true", 1],
  ["5000000000", 5_000_000_000],
  ["18446744073709551615", "18446744073709551615"],
  ["1.5", "1.5"],
  ["1.5e0", 1.5],
  ["'é'", "é"],
  ["x'dead'", { type: "Buffer", data: [222, 173] }],
  ["CAST('2024-01-02 03:04:05.678' AS DATETIME(3))", "2024-01-02T03:04:05.678Z"],
  ["CAST('2024-01-02' AS DATE)", "2024-01-02T00:00:00.000Z"],
  ["CAST('0000-00-00' AS DATE)", null],
  ["CAST('838:59:59' AS TIME)", "838:59:59"],
  ["NULL", null],
  ["JSON_OBJECT('a',1)", { a: 1 }],
  ["YEAR('2024-01-02')", 2024],
  ["@@time_zone", "+00:00"],
  ["REPEAT('x', 300)", "x".repeat(300)],
];

defineTestWith(
  ["mariadbd", "mariadb-install-db", "openssl"],
  "MariaDB's values are converted to JSON",
  async () => {
    await using server = await startMariadbServer(canary);
    const queries = mysqlValues.map(([sql]) => `SELECT ${sql} AS v`);
    expect(await queryValues(server.port, "mysql", queries)).toEqual(
      mysqlValues.map(([, v]) => [{ v }]),
    );
    expect(
      await queryValues(server.port, "mysql", [
        "CREATE TABLE t (b BIT(1), c BIT(9), l JSON, n BIGINT UNSIGNED)",
        `INSERT INTO t VALUES (1, 257, '{"a":[1]}', 18446744073709551615)`,
        "SELECT * FROM t",
        "SELECT 1 AS a; SELECT 2 AS a",
        "SELECT 1 WHERE false",
      ]),
    ).toEqual([
      [],
      [],
      [
        {
          b: true,
          c: { type: "Buffer", data: [1, 1] },
          l: { a: [1] },
          n: "18446744073709551615",
        },
      ],
      [[{ a: 1 }], [{ a: 2 }]],
      [],
    ]);
  },
);
