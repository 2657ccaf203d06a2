import { expect, test } from "bun:test";
import { createToken } from "../../src/core/ids.ts";
import { publicPaths } from "../../src/status-pages/site/public-paths.ts";
import { testAppliance, unknownId } from "../support/appliance.ts";
import { canary } from "../support/samples.ts";

type Entry = { message: string; method: string; path: string; status: number; requestId: string };

/** The access lines in the log, without duplicates. */
const parseRequests = (logged: readonly string[]): Entry[] =>
  logged
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Entry)
    .filter(({ message }) => message === "request");

test("a request is logged with its path, response, duration, id and client", async () => {
  const { ours, logged } = await testAppliance();
  const { headers } = await ours.api("GET", `/api/v1/incidents/${unknownId}?x=1`);
  const entry = {
    level: "debug",
    method: "GET",
    path: `/api/v1/incidents/${unknownId}`,
    status: 422,
    durationMs: expect.any(Number),
    requestId: headers.get("x-request-id"),
    address: "127.0.0.1",
  };
  expect(parseRequests(logged)).toEqual([expect.objectContaining(entry)]);
});

test("values of path parameters, queries, headers and bodies are not logged", async () => {
  const { app, logged } = await testAppliance();
  const routes = [
    ...app.routes.map(({ method, path }) => ({ method, path })),
    ...Object.values(publicPaths).map((path) => ({ method: "GET", path })),
  ];
  const secrets = new Set([canary]);
  let seen = 0;
  for (const { method, path } of routes) {
    const secret = createToken(32);
    secrets.add(secret);
    const request = path.replace(/:(\w+)/g, (_, name) => (name === "id" ? unknownId : secret));
    const isRead = ["GET", "HEAD"].includes(method);
    await app.handle(
      new Request(`http://localhost${request}?token=${secret}&msg=${canary}`, {
        method,
        headers: {
          Host: "localhost",
          Authorization: `Bearer sbx_${canary}`,
          Cookie: `signalbox_session=${secret}`,
          Referer: `http://localhost/set-up#${secret}`,
          "Content-Type": "application/json",
          "User-Agent": canary,
          "X-Request-Id": secret,
        },
        ...(!isRead && { body: JSON.stringify({ password: secret }) }),
      }),
    );
    const entries = parseRequests(
      logged.splice(0).map((line) => {
        for (const one of secrets) expect([path, line.includes(one)]).toEqual([path, false]);
        return line;
      }),
    );
    expect([path, entries.length]).toEqual([path, 1]);
    // Our own words are logged, so that the route can be recognized.
    const segments = entries[0]?.path.split("/") ?? [];
    const words = path.split("/").filter((word) => /^[a-z-]+$/.test(word));
    expect([path, words.filter((word) => !segments.includes(word))]).toEqual([path, []]);
    seen++;
  }
  expect(seen).toBeGreaterThan(150);
});
