import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { createClient, unwrapData, NoResponse, unwrapPage } from "../../src/cli/support/client.ts";
import { findByName } from "../../src/cli/support/records.ts";
import { AppError } from "../../src/core/errors.ts";
import { getFreePort } from "../support/binary.ts";
import { writeCertificates } from "../support/certificates.ts";
import { createScratch } from "../support/scratch-directories.ts";
import { defineTestWith } from "../support/real-targets.ts";

const key = `sbx_${"k".repeat(43)}`;
const newDirectory = createScratch();
const servers: Bun.Server<undefined>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

type Respond = (request: Request) => Response | Promise<Response>;

function serve(response: Respond, tls?: { cert: Bun.BunFile; key: Bun.BunFile }): string {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: response,
    ...(tls && { tls }),
  });
  servers.push(server);
  return `${tls ? "https" : "http"}://127.0.0.1:${server.port}`;
}

const createClientAt = (server: string, caFile: string | null = null, timeoutSeconds = 60) =>
  createClient({ server, key, caFile, timeoutSeconds });

const readRejection = (status: number, error: object) => () => Response.json({ error }, { status });

/** Lists records, and returns the error. */
async function readFailure(server: string, caFile: string | null = null, timeoutSeconds = 60) {
  const { v1 } = await createClientAt(server, caFile, timeoutSeconds);
  const error = await unwrapPage(v1.monitors.get({ query: {} })).then(
    () => null,
    (reason: Error) => reason,
  );
  if (error === null) throw new Error("It did not fail.");
  return error;
}

test("it sends its key to the given URL, including its path", async () => {
  const requests: unknown[] = [];
  const server = serve((request) => {
    const { pathname, search } = new URL(request.url);
    requests.push([
      request.method,
      pathname + search,
      request.headers.get("Authorization"),
      request.headers.get("Content-Type"),
    ]);
    return Response.json({ data: [], meta: { page: 1, per_page: 20, total: 0 } });
  });
  const { v1 } = await createClientAt(`${server}/base`);
  await unwrapPage(v1.monitors.get({ query: { q: "a b&c" } }));
  await unwrapData(v1.incidents.post({ title: "Down" }));
  expect(requests).toEqual([
    ["GET", "/base/api/v1/monitors?q=a%20b%26c", `Bearer ${key}`, null],
    ["POST", "/base/api/v1/incidents", `Bearer ${key}`, "application/json"],
  ]);
});

test("times come from the server's clock", async () => {
  const there = Date.UTC(2031, 4, 6, 7, 8, 9);
  const server = serve(() =>
    Response.json({ data: [] }, { headers: { Date: new Date(there).toUTCString() } }),
  );
  const client = await createClientAt(server);
  await unwrapPage(client.v1.monitors.get({ query: {} }));
  expect(client.now()).toBeGreaterThanOrEqual(there);
  expect(client.now()).toBeLessThan(there + 3_600_000);
});

const unanswered: [name: string, answer: Respond, message: RegExp][] = [
  ["another program", () => new Response("<html>"), /is not a Signalbox: it returned 200\.$/],
  ["JSON of another program", () => Response.json([]), /not a Signalbox.* 200\.$/],
  [
    "an error of another program",
    () => Response.json({}, { status: 404 }),
    /not a Signalbox.* 404\.$/,
  ],
  [
    "a redirection, which is not followed with the key",
    () => new Response("", { status: 302, headers: { Location: "http://127.0.0.1:1/else" } }),
    /is not a Signalbox: it returned 302 and leads to http:\/\/127\.0\.0\.1:1\/else\.$/,
  ],
  [
    "a rejected key",
    readRejection(401, { code: "UNAUTHORIZED", message: "No." }),
    /does not accept this key: it is wrong, expired or revoked\.$/,
  ],
  [
    "too many requests",
    readRejection(429, { code: "RATE_LIMITED", message: "Try again in 3 s." }),
    /answers: Try again in 3 s\.$/,
  ],
  [
    "a server that stops",
    readRejection(503, { code: "UNAVAILABLE", message: "Shutting down." }),
    /answers: Shutting down\.$/,
  ],
];
for (const [name, answer, message] of unanswered)
  test(`no response: ${name}`, async () => {
    const server = serve(answer);
    const error = await readFailure(server);
    expect(error).toBeInstanceOf(NoResponse);
    expect(error.message).toStartWith(server);
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain(key);
  });

test("no response: closed port, or a timeout in header or body", async () => {
  const gone = `http://127.0.0.1:${getFreePort()}`;
  expect((await readFailure(gone)).message).toBe(
    `${gone} can't be reached: The connection was refused.`,
  );
  const silent = serve(() => new Promise<Response>(() => {}));
  const endless = serve(() => new Response(new ReadableStream({ start: (to) => to.enqueue("{") })));
  for (const server of [silent, endless])
    expect((await readFailure(server, null, 1)).message).toBe(
      `${server} can't be reached: no response within 1 s.`,
    );
});

test("an error of the server keeps its code and message", async () => {
  const details = [{ path: "title", message: "must not be blank" }];
  const error = await readFailure(
    serve(
      readRejection(422, {
        code: "VALIDATION_ERROR",
        message: "title must not be blank.",
        details,
      }),
    ),
  );
  expect(error).toBeInstanceOf(AppError);
  expect(error).toMatchObject({
    code: "VALIDATION_ERROR",
    message: "title must not be blank.",
    details,
  });
});

defineTestWith(
  ["openssl"],
  "a certificate of a private authority is trusted once the authority is given",
  async () => {
    const folder = newDirectory();
    writeCertificates(folder);
    const readFile = (name: string) => Bun.file(join(folder, name));
    const list = () => Response.json({ data: [], meta: { page: 1, per_page: 20, total: 0 } });
    const good = serve(list, { cert: readFile("good.pem"), key: readFile("good.key") });
    const wrongName = serve(list, {
      cert: readFile("wrongName.pem"),
      key: readFile("wrongName.key"),
    });
    const authority = join(folder, "authority.pem");
    expect((await readFailure(good)).message).toMatch(
      /can't be reached: The certificate.*not trusted\.$/,
    );
    expect((await readFailure(wrongName, authority)).message).toContain("is for another name");
    const { v1 } = await createClientAt(good, authority);
    expect(await unwrapData(v1.monitors.get({ query: {} }))).toEqual([]);
  },
);

const records = ["Web", "Web shop", "web blog", "Database", "Twin", "Twin"].map((name, index) => ({
  id: String(index),
  name,
}));
const findByNameParts = (words: string) =>
  findByName("monitor", words, records, ({ name }) => name).id;

test("a record is found by its name or a unique prefix", () => {
  expect(["Web", "web s", "WEB B", "data"].map(findByNameParts)).toEqual(["0", "1", "2", "3"]);
});

test("an ambiguous name lists all matches, and an unknown one is an error", () => {
  const refusalOf = (words: string) => {
    try {
      return findByNameParts(words);
    } catch (error) {
      return error as AppError;
    }
  };
  expect(refusalOf("we")).toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringMatching(/0 {2}Web\n {2}1 {2}Web shop\n {2}2 {2}web blog\nGive more/),
  });
  expect(refusalOf("Twin")).toMatchObject({ code: "VALIDATION_ERROR" });
  expect(refusalOf("shop")).toMatchObject({ code: "NOT_FOUND" });
});
