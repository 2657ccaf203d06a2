/** The admin page's requests: retries, sessions, ETags, errors. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { App } from "../../src/api.ts";
import {
  ApiError,
  dashboard,
  unwrapData,
  addIfMatch,
  unwrapPage,
  buildApiPath,
  setOrganization,
  Unreachable,
  v1,
} from "../../web/data/client.ts";
import { connection } from "../../web/data/connection.ts";
import { signedOut } from "../../web/data/signed-out.ts";

type Seen = { method: string; path: string; headers: Headers; body: string };

const id = "0199a3f0-5c1e-7cc0-b1a5-3f2d8e6a9b10";
const browserFetch = globalThis.fetch;
let seen: Seen[] = [];
let responses: Response[] = [];
let server: Bun.Server<undefined>;

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { method, headers, url } = request;
      const { pathname, search } = new URL(url);
      seen.push({ method, path: pathname + search, headers, body: await request.text() });
      return responses.shift() ?? Response.json({ data: {} });
    },
  });
  // The page's addresses start with a slash.
  globalThis.fetch = ((path: string, init: RequestInit) =>
    browserFetch(new URL(path, server.url), init)) as typeof fetch;
});

afterEach(() => {
  seen = [];
  responses = [];
  setOrganization(null);
});

afterAll(async () => {
  globalThis.fetch = browserFetch;
  await server.stop(true);
});

const readRejection = (status: number, error: object = { code: "UNAUTHORIZED", message: "No." }) =>
  Response.json({ error }, { status });

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

test("a request has its method, path, query, body and organization", async () => {
  setOrganization(id);
  await unwrapPage(v1.incidents.get({ query: { open: "true", per_page: 5, q: undefined } }));
  await unwrapData(v1.monitors({ id }).patch({ paused: true }));
  await unwrapData(v1["monitor-groups"]({ id }).delete());
  expect(seen.map(({ method, path, body }) => [method, path, body])).toEqual([
    ["GET", "/dashboard/api/v1/incidents?open=true&per_page=5", ""],
    ["PATCH", `/dashboard/api/v1/monitors/${id}`, '{"paused":true}'],
    ["DELETE", `/dashboard/api/v1/monitor-groups/${id}`, ""],
  ]);
  for (const { headers } of seen) {
    expect(headers.get("x-organization")).toBe(id);
    expect(headers.get("accept")).toBe("application/json");
  }
  expect(seen.map(({ headers }) => headers.get("content-type"))).toEqual([
    null,
    "application/json",
    null,
  ]);
});

test("text that looks like a date or a number stays text", async () => {
  const record = { at: "2026-11-20T23:02:00.000Z", day: "2026-11-20", name: "12", none: null };
  responses.push(Response.json({ data: record }));
  expect(await unwrapData(v1.settings.get())).toEqual(record as never);
  responses.push(readRejection(409, { code: "CONFLICT", message: "2026-11-20" }));
  expect(await failureOf(unwrapData(v1.settings.get()))).toMatchObject({ message: "2026-11-20" });
});

test("a write names the version that was read, unless it should overwrite", async () => {
  responses.push(Response.json({ data: { id } }, { headers: { ETag: '"v7"' } }));
  const record = await unwrapData(v1.incidents({ id }).get());
  await unwrapData(v1.incidents({ id }).patch({ status: "resolved" }, addIfMatch(record)));
  await unwrapData(v1.incidents({ id }).patch({ status: "resolved" }, addIfMatch(undefined)));
  expect(seen.map(({ headers }) => headers.get("if-match"))).toEqual([null, '"v7"', null]);
});

test("a file is sent unchanged, with its own media type", async () => {
  const image = new Blob(["<svg/>"], { type: "image/svg+xml" });
  await unwrapData(v1["status-pages"]({ id }).logo.put(image));
  expect(seen[0]).toMatchObject({ method: "PUT", body: "<svg/>" });
  expect(seen[0]?.headers.get("content-type")).toBe("image/svg+xml");
});

test("a rejected request has the server's message and fields", async () => {
  const details = [{ path: "name", message: "is required" }];
  responses.push(
    readRejection(422, {
      code: "VALIDATION_ERROR",
      message: "Not valid.",
      details,
      requestId: "r1",
    }),
  );
  const error = await failureOf(unwrapData(dashboard.organizations.post({ name: "" })));
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    status: 422,
    code: "VALIDATION_ERROR",
    message: "Not valid.",
    details,
    requestId: "r1",
  });
});

test("a foreign error, such as a proxy's page, is an error like any other", async () => {
  for (const body of ["<h1>Bad gateway</h1>", "", "null", "[1]"]) {
    responses.push(new Response(body, { status: 502, headers: { "Content-Type": "text/html" } }));
    responses.push(new Response("null", { status: 502, headers: json }));
    for (const _ of [1, 2])
      expect(await failureOf(unwrapData(v1.settings.get()))).toMatchObject({
        name: "ApiError",
        status: 502,
      });
  }
  responses.push(new Response("<h1>Sign in to the hotel</h1>", { headers: html }));
  expect(await failureOf(unwrapData(v1.settings.get()))).toBeInstanceOf(SyntaxError);
});

const html = { "Content-Type": "text/html" };
const json = { "Content-Type": "application/json" };

test("after 401 a request is retried once, and then waits for a sign-in", async () => {
  responses.push(readRejection(401), Response.json({ data: { name: "renewed" } }));
  expect(await unwrapData(dashboard.organization.get())).toMatchObject({ name: "renewed" });
  responses.push(
    readRejection(401),
    readRejection(401),
    Response.json({ data: { name: "signed in" } }),
  );
  const request = Promise.withResolvers<void>();
  const unsubscribe = signedOut.subscribe(request.resolve);
  const waiting = unwrapData(dashboard.organization.patch({ name: "New" }));
  await request.promise;
  unsubscribe();
  expect(seen).toHaveLength(4);
  signedOut.endWait();
  expect(await waiting).toMatchObject({ name: "signed in" });
  expect(seen.slice(2).map(({ body }) => body)).toEqual(Array(3).fill('{"name":"New"}'));
});

test("401 for a wrong password does not count as an ended session", async () => {
  responses.push(readRejection(401));
  const signIn = dashboard["sign-in"].post({ email: "a@b.example", password: "x" });
  expect(await failureOf(unwrapData(signIn))).toMatchObject({ name: "ApiError", status: 401 });
  expect(seen).toHaveLength(1);
});

test("a network failure is reported as such, and an aborted request is not", async () => {
  const elsewhere = globalThis.fetch;
  globalThis.fetch = (() => Promise.reject(new TypeError("Failed to fetch"))) as never;
  try {
    expect(await failureOf(unwrapData(v1.settings.get()))).toBeInstanceOf(Unreachable);
  } finally {
    globalThis.fetch = elsewhere;
  }
  expect(connection.get()).toBe("lost");
  await unwrapData(v1.settings.get());
  expect(connection.get()).toBe("good");
  const signal = AbortSignal.abort();
  expect(await failureOf(unwrapData(v1.settings.get({ fetch: { signal } })))).toMatchObject({
    name: "AbortError",
  });
});

test("requests continue while a page is left, unless the browser forbids it", async () => {
  const elsewhere = globalThis.fetch;
  const stored: unknown[] = [];
  globalThis.fetch = ((path: string, init: RequestInit) => {
    stored.push(init.keepalive);
    return elsewhere(path, init);
  }) as typeof fetch;
  try {
    await unwrapData(v1.monitors({ id }).delete());
    dispatchEvent(new Event("pagehide"));
    await unwrapData(v1.monitors({ id }).delete());
    await unwrapData(v1.monitors.bulk.post({ monitorIds: Array(5_000).fill(id), delete: true }));
    dispatchEvent(new Event("pageshow"));
    await unwrapData(v1.monitors({ id }).delete());
  } finally {
    globalThis.fetch = elsewhere;
  }
  expect(stored).toEqual([false, true, false, false]);
});

test("a route knows its path in the public API", () => {
  expect(buildApiPath(v1["status-pages"]({ id }).subscribers)).toBe(
    `/api/v1/status-pages/${id}/subscribers`,
  );
});

type Untyped<Routes> = {
  [K in keyof Routes]: Routes[K] extends { body: infer B; query: infer Q; response: unknown }
    ? unknown extends B
      ? K
      : unknown extends Q
        ? K
        : never
    : Untyped<Routes[K]>;
}[keyof Routes];

test("the compiler knows the parameters of every route, and rejects others", () => {
  const untyped: Untyped<App["~Routes"]>[] = [];
  // The compiler is the test: it reports each line that it does not reject.
  const readRejection = () => [
    // @ts-expect-error: no such path
    v1.incident.get(),
    // @ts-expect-error: no such method
    dashboard.about.put(),
    // @ts-expect-error: no such field of the query
    v1.incidents.get({ query: { opened: "true" } }),
    // @ts-expect-error: no such value of the query
    v1.incidents.get({ query: { open: "yes" } }),
    // @ts-expect-error: a query that is needed
    dashboard.where.get(),
    // @ts-expect-error: a body that is needed
    dashboard["sign-in"].post(),
    // @ts-expect-error: no such value in the body
    v1.incidents({ id }).patch({ status: "closed" }),
    // @ts-expect-error: a field of another type of monitor
    v1.monitors.post({ type: "ping", name: "NAS", host: "nas.lan", url: "http://nas.lan" }),
    // @ts-expect-error: a body where none is taken
    dashboard["sign-out"].post({ everywhere: true }),
    // @ts-expect-error: no file
    v1["status-pages"]({ id }).logo.put({ path: "logo.png" }),
    // @ts-expect-error: no such field of the answer
    unwrapData(v1.settings.get()).then(({ stmp }) => stmp),
  ];
  expect([untyped, typeof readRejection]).toEqual([[], "function"]);
});
