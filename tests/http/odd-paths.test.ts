import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { AppError } from "../../src/core/errors.ts";
import { createTransferLimit } from "../../src/http/responses/large-bodies.ts";
import { createRequestHandler } from "../../src/http/listener.ts";
import { createRequestMetrics } from "../../src/http/request-metrics.ts";
import { createPublicHandler } from "../../src/server.ts";
import { createPublicLinks } from "../support/public-links.ts";
import { testAppliance } from "../support/appliance.ts";
import { everyMethod, listPaths, listSpellings } from "../support/odd-paths.ts";
import { createPerson, signInVisitor } from "../support/people.ts";
import { createVisitor } from "../support/visitor.ts";

type Handle = (request: Request) => Response | Promise<Response>;

/** Errors in the response to this request; empty if there are none. */
async function flawsOf(handle: Handle, method: string, path: string, headers: HeadersInit) {
  const message = `${method} ${path.slice(0, 120)}`;
  const response = await handle(new Request(`http://localhost${path}`, { method, headers }));
  const id = response.headers.get("x-request-id") ?? "";
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) await response.body?.cancel();
  const text = type.startsWith("text/event-stream") ? "" : await response.text();
  const issues: string[] = [];
  if (response.status >= 500) issues.push(`${message}: ${response.status}`);
  if (!/^[0-9a-f-]{36}$/.test(id)) issues.push(`${message}: no request id`);
  if (/\.tsx?:\d|\/src\/|node_modules/.test(text)) issues.push(`${message}: a stack`);
  const isError = response.status >= 400 && method !== "HEAD";
  // The APIs of other tools have their own errors.
  const isOurs = !path.startsWith("/v2/");
  if (
    isError &&
    isOurs &&
    type.startsWith("application/json") &&
    JSON.parse(text).error.requestId !== id
  )
    issues.push(`${message}: another body for its error`);
  const isImage = /\/badge\/|\.png(\?|$)/.test(path);
  // The clients of these paths expect the texts of Healthchecks and Gatus.
  const isForeign = /^\/(ping|api\/v1\/endpoints)\//.test(path);
  const types = isForeign
    ? /^text\/plain/
    : isImage
      ? /^(image\/svg\+xml|text\/plain)/
      : /^(application\/json|text\/html)/;
  if (isError && !types.test(type) && !type.startsWith("application/json"))
    issues.push(`${message}: ${type}`);
  return issues;
}

/**
 * All methods for a plain path, one in rotation for each other spelling. Paths of records share a router and a handler
 * for unknown paths, so each has a quarter of the spellings, in rotation.
 */
function listRequests(path: string, turn: number): [method: string, spelling: string][] {
  const isOfRecords = /^\/(api\/v1|dashboard)\//.test(path);
  return listSpellings(path).flatMap((spelling, index) => {
    if (index === 0) return everyMethod.map((method) => [method, spelling] as [string, string]);
    if (isOfRecords && (index + turn) % 4 !== 0) return [];
    // Other paths have another method for the same spelling.
    const method = everyMethod[(index + Math.floor(turn / 4)) % everyMethod.length] ?? "GET";
    return [[method, spelling]];
  });
}

const noBackups = {
  createBackup: () => Promise.reject(new AppError("CONFLICT", "A backup is being made.")),
  take: () => null,
};

test("no spelling of any path, with any method or credentials, gets a 5xx or a stack trace", async () => {
  const appliance = await testAppliance({ backups: noBackups });
  const owner = await createPerson(appliance, appliance.ours.id, "owner");
  const stranger = { Host: "localhost" };
  const key = { ...stranger, Authorization: `Bearer ${appliance.ours.writeKey.key}` };
  const issues: string[] = [];
  for (const [turn, path] of listPaths(appliance.app.routes).entries())
    for (const [method, spelling] of listRequests(path, turn)) {
      appliance.time.now += 1_000;
      const signInPage = async () => {
        const { cookie } = await signInVisitor(appliance, owner.id);
        return { ...stranger, Cookie: cookie, "Sec-Fetch-Site": "same-origin" };
      };
      const credentials = path.startsWith("/dashboard") ? await signInPage() : key;
      for (const headers of [stranger, credentials])
        issues.push(...(await flawsOf(appliance.app.handle, method, spelling, headers)));
    }
  expect(issues).toEqual([]);
  expect(appliance.logged.filter((line) => line.includes("request failed"))).toEqual([]);
});

test("the port of the public pages gives neither a 5xx nor a stack trace, for any host", async () => {
  await using visitor = await createVisitor();
  const { id } = await visitor.monitor({ name: "Shop" });
  await visitor.publish({ hosts: ["status.team.example"] });
  await visitor.restart();
  const { proxies } = visitor;
  const { log } = visitor.appliance;
  const handle = createRequestHandler(
    { log, tls: null, proxies, requests: createRequestMetrics(), transfers: createTransferLimit() },
    createPublicHandler(
      log,
      visitor.respondAlone,
      new Elysia(),
      createPublicLinks(visitor.appliance),
    ),
  );
  const issues: string[] = [];
  for (const [turn, path] of listPaths(visitor.app.routes).entries())
    for (const [method, spelling] of listRequests(
      path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, id),
      turn,
    ))
      for (const Host of ["localhost", "status.team.example"])
        issues.push(...(await flawsOf(handle, method, spelling, { Host })));
  expect(issues).toEqual([]);
  expect(visitor.logged.filter((line) => line.includes("request failed"))).toEqual([]);
});
