import { expect, test } from "bun:test";
import { testAppliance, type TestAppliance, unknownId } from "../support/appliance.ts";
import { createSampleRecord, nounOf, sampleBodies, fillIds } from "../support/records.ts";
import { signInMember } from "../support/people.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Every path of the server with its declared methods, with real ids in place of `:id`. */
function buildPaths({ app }: TestAppliance): [path: string, declared: Set<string>][] {
  const stripSlash = (path: string) => path.replace(/(.)\/$/, "$1");
  const accepts = (pattern: string, path: string) =>
    new RegExp(`^${pattern.replace("*", ".+").replace(/:\w+/, "[^/]+")}$`).test(path);
  return [...new Set(app.routes.map(({ path }) => stripSlash(path)))].map((path) => {
    const routes = app.routes.filter((route) => accepts(stripSlash(route.path), path));
    return [path, new Set(routes.map(({ method }) => method))];
  });
}

function allowOf(path: string, declared: Set<string>): string {
  // A GET of a push URL is a report, which HEAD must not create.
  const head = declared.has("GET") && !path.endsWith("/push/:token") ? ["HEAD"] : [];
  return [...declared, ...head, "OPTIONS"].toSorted().join(", ");
}

/** An appliance with a client, by key or, on the admin page, by session. */
async function setUp() {
  const appliance = await testAppliance();
  const { cookie } = await signInMember(appliance, "owner");
  const key = `Bearer ${appliance.ours.writeKey.key}`;
  const page = { Cookie: cookie, "Sec-Fetch-Site": "same-origin" };
  return {
    ...appliance,
    request(method: string, path: string) {
      const credentials = path.startsWith("/dashboard") ? page : { Authorization: key };
      const headers = { Host: "localhost", ...credentials };
      return appliance.app.handle(new Request(`http://localhost${path}`, { method, headers }));
    },
  };
}

const optionsOf = (path: string) =>
  new Request(`http://localhost${path}`, { method: "OPTIONS", headers: { Host: "localhost" } });

const fillPath = (path: string) => fillIds(path, unknownId).replace("*", "docs.css");

test("OPTIONS lists the methods of every path, outside the admin page also for strangers", async () => {
  const appliance = await setUp();
  for (const [path, declared] of buildPaths(appliance)) {
    const response = path.startsWith("/dashboard")
      ? await appliance.request("OPTIONS", fillPath(path))
      : await appliance.app.handle(optionsOf(fillPath(path)));
    expect([path, response.status, response.headers.get("allow")]).toEqual([
      path,
      204,
      allowOf(path, declared),
    ]);
  }
  expect((await appliance.app.handle(optionsOf("/api/v1/nothing"))).status).toBe(404);
});

test("any other method on a path gets 405 with the allowed methods", async () => {
  const appliance = await setUp();
  for (const [path, declared] of buildPaths(appliance)) {
    const allow = allowOf(path, declared);
    for (const method of methods.filter((name) => !allow.includes(name))) {
      const response = await appliance.request(method, fillPath(path));
      expect([method, path, response.status, response.headers.get("allow")]).toEqual([
        method,
        path,
        405,
        allow,
      ]);
    }
  }
});

test("HEAD returns the same as GET, without the body", async () => {
  const appliance = await setUp();
  const ids: Record<string, string> = {};
  for (const noun of Object.keys(sampleBodies))
    ids[noun] = await createSampleRecord(appliance.ours.api, noun);
  const safe = buildPaths(appliance).filter(
    ([path, declared]) => declared.has("GET") && !path.endsWith("/push/:token"),
  );
  for (const [path, declared] of safe) {
    const real = fillIds(path, ids[nounOf(path)] ?? unknownId).replace("*", "docs.css");
    const [get, head] = [
      await appliance.request("GET", real),
      await appliance.request("HEAD", real),
    ];
    expect([path, declared.has("HEAD"), head.status]).toEqual([path, false, get.status]);
    if (path.startsWith("/api/v1/") && get.status === 200)
      expect([path, get.headers.has("etag")]).toEqual([path, true]);
    expect(await head.text()).toBe("");
    // A response that no cache may store can differ each time, such as a challenge.
    const isStored = get.headers.get("cache-control") !== "no-store";
    for (const name of [...(isStored ? ["etag"] : []), "content-type", "cache-control", "location"])
      expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
  }
});

test("no response is readable by a page of another origin", async () => {
  const appliance = await testAppliance();
  for (const method of ["GET", "OPTIONS"]) {
    const request = new Request("http://localhost/api/v1/incidents", {
      method,
      headers: {
        Host: "localhost",
        Origin: "http://evil.io",
        Authorization: `Bearer ${appliance.ours.writeKey.key}`,
        "Access-Control-Request-Method": "POST",
      },
    });
    const { headers } = await appliance.app.handle(request);
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
});
