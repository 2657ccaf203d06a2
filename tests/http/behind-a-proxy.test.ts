import { expect, test } from "bun:test";
import type { Route } from "../../src/http/openapi.ts";
import { testAppliance, unknownId } from "../support/appliance.ts";
import { buildInput, createSampleRecord, nounOf, sampleBodies } from "../support/records.ts";
import { password, createPerson, signInVisitor } from "../support/people.ts";
import { buildSection, createVisitor } from "../support/visitor.ts";

/** The path of a client's request to the appliance. */
type Way = { base: string; peer: string; headers: Record<string, string>; trustProxy: string[] };

const client = "203.0.113.9";
const directly: Way = { base: "https://status.example", peer: client, headers: {}, trustProxy: [] };
const throughProxy: Way = {
  base: "http://127.0.0.1:3210",
  peer: "127.0.0.1",
  headers: {
    "X-Forwarded-For": `198.51.100.1, ${client}`,
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "status.example",
  },
  trustProxy: ["127.0.0.1"],
};

const token = "b".repeat(43);
/** Values that differ between appliances. */
const random = /[\w-]{20,}|\betag\n\S+|\bpage-\d+|"dataBytes":\d+/g;

/** Request bodies of people. */
const bodies: Record<string, object> = {
  "/dashboard/sign-in": { email: "owner@team.example", password },
  "/dashboard/invitations/": { email: "bob@team.example", role: "member" },
};

/** Sends a request to every route, as a script and as an owner, and returns the responses. */
async function requestThrough({ base, peer, headers, trustProxy }: Way) {
  const addressOf = (request: Request) => request.headers.get("x-address") ?? "127.0.0.1";
  const appliance = await testAppliance({ addressOf, trustProxy });
  const ids: Record<string, string> = {};
  for (const noun of Object.keys(sampleBodies))
    ids[noun] = await createSampleRecord(appliance.ours.api, noun);
  appliance.time.now += 1;
  await appliance.ours.api("POST", "/api/v1/monitors", { body: { type: "push", name: "Job" } });
  const owner = await createPerson(appliance, appliance.ours.id, "owner", {
    administrator: true,
    email: "owner@team.example",
  });
  const { host } = new URL(base);

  async function requestParts(route: Route): Promise<[string, string, string]> {
    // Ids created in the same moment are in no order.
    appliance.time.now += 1;
    const { cookie } = await signInVisitor(appliance, owner.id);
    const path = route.path
      .replace(":id", ids[nounOf(route.path)] ?? unknownId)
      .replace(/:(token|file)/, token)
      .replace(/:\w+/g, unknownId);
    const { body = bodies[path], raw, headers: typed } = buildInput(route);
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const request = new Request(`${base}${path}`, {
      method: route.method,
      headers: {
        Host: host,
        Origin: "https://status.example",
        "X-Address": peer,
        ...(path.startsWith("/dashboard")
          ? { Cookie: cookie }
          : { Authorization: `Bearer ${appliance.ours.writeKey.key}` }),
        ...(sent !== undefined && {
          "Content-Type": "application/json",
          "Content-Length": String(Buffer.byteLength(sent)),
        }),
        ...headers,
        ...typed,
      },
      ...(sent !== undefined && { body: sent }),
    });
    const response = await appliance.app.handle(request);
    const messages = [response.status, ...[...response.headers].flat(), await response.text()];
    return [route.method, route.path, messages.join("\n").replace(random, "…")];
  }

  // A stream does not end, and ended sessions have no owner to compare.
  const routes = (appliance.app.routes as unknown as Route[]).filter(
    ({ path, hooks }) =>
      hooks.detail?.endpoint?.streams === undefined && !path.endsWith("/end-others"),
  );
  expect(routes.length).toBeGreaterThan(100);
  const messages: [string, string, string][] = [];
  const reading = routes.filter(({ method }) => method === "GET");
  const writing = routes.filter(({ method }) => method !== "GET");
  for (const route of [...reading, ...writing, ...reading])
    messages.push(await requestParts(route));
  return messages;
}

test("every route responds behind a trusted proxy as it does without a proxy", async () => {
  const direct = await requestThrough(directly);
  expect(await requestThrough(throughProxy)).toEqual(direct);
  const all = direct.map(([, , said]) => said).join("\n");
  // The responses include the parts that depend on the proxy: links, cookies and client addresses.
  for (const part of [
    "https://status.example/push/",
    "https://status.example/invitation#",
    "; Secure",
    `"address":"${client}"`,
  ])
    expect(all).toContain(part);
});

test("every write of the admin page through an untrusted proxy has a foreign origin", async () => {
  const writes = (await requestThrough({ ...throughProxy, trustProxy: [] })).filter(
    ([method, path]) => method !== "GET" && path.startsWith("/dashboard"),
  );
  for (const [method, path, said] of writes)
    expect([method, path, said.slice(0, 3)]).toEqual([method, path, "403"]);
});

test("no route trusts forwarding headers of the client itself", async () => {
  const stranger = { ...directly, trustProxy: ["127.0.0.1"] };
  const spoofed = { ...throughProxy.headers, "X-Forwarded-Host": "evil.io" };
  expect(await requestThrough({ ...stranger, headers: spoofed })).toEqual(
    await requestThrough(stranger),
  );
});

test("a status page works at its host name behind a trusted proxy, and its lock detects TLS", async () => {
  const { peer, headers, trustProxy } = throughProxy;
  await using visitor = await createVisitor({ addressOf: () => peer, trustProxy });
  const { id } = await visitor.monitor({ name: "Shop" });
  const locked = { visibility: "password", password: "correct horse battery" };
  const hosts = ["status.team.example"];
  await visitor.createPage({
    slug: "locked",
    sections: [buildSection("All", id)],
    hosts,
    ...locked,
  });
  await visitor.restart();
  const request = { ...headers, "X-Forwarded-Host": hosts.join() };
  const host = "127.0.0.1:3210";
  expect(await visitor.ask("/", { host })).toBeNull();
  expect((await visitor.get("/", { host, headers: request })).status).toBe(403);
  const form = { password: locked.password };
  const opened = await visitor.get("/", { method: "POST", host, headers: request, form });
  expect([opened.status, opened.headers.get("location")]).toEqual([303, "/"]);
  expect(opened.headers.get("set-cookie")).toEndWith("; Secure");
});
