import { expect, test } from "bun:test";
import { createOperations } from "../../src/mcp/operations.ts";
import { describeTool, isReadOnly } from "../../src/mcp/server.ts";
import { tools } from "../../src/mcp/tools.ts";
import type { Route } from "../../src/http/openapi.ts";
import { buildDocument } from "../../src/openapi-document.ts";
import { HoldQuery } from "../../src/http/held-changes/schema.ts";
import { dumpTables, testAppliance, unknownId } from "../support/appliance.ts";
import { connectMcp, createMcpKey } from "../support/mcp.ts";
import { ann, createPublisher } from "../support/publisher.ts";
import type { Json } from "../support/json.ts";
import { listRoutes } from "../../src/api.ts";

const operations = createOperations(listRoutes().api.routes as unknown as Route[]);

/** Names that the appliance's own tools add to an operation's fields. */
const ownFields = ["limit", "detail", "preview", "hold"];

test("every tool has exactly the fields, requirements and permission of its REST operation", () => {
  const document = buildDocument("0") as Json;
  const byName = new Map<string, Json>();
  for (const path of Object.values<Json>(document.paths))
    for (const operation of Object.values<Json>(path)) byName.set(operation.operationId, operation);
  const resolve = (schema: Json): Json =>
    schema?.$ref === undefined
      ? schema
      : document.components.schemas[schema.$ref.split("/").at(-1)];

  for (const tool of tools) {
    const { name, inputSchema, annotations } = describeTool(tool, operations) as Json;
    if (tool.operation === null) continue;
    const operation = byName.get(tool.operation);
    const parameters = new Map<string, Json>(
      (operation.parameters ?? [])
        .filter((one: Json) => one.in !== "header")
        .map((one: Json) => [one.name, one]),
    );
    const body = resolve(operation.requestBody?.content["application/json"].schema ?? {});
    const known = [...parameters.keys(), ...Object.keys(body.properties ?? {})];
    const shownFields = Object.keys(inputSchema.properties).filter(
      (field) => !ownFields.includes(field),
    );
    expect([name, shownFields.filter((field) => !known.includes(field))]).toEqual([name, []]);
    const required: string[] = [
      ...[...parameters.values()].filter((one) => one.required).map((one) => one.name),
      ...(body.required ?? []),
      ...(tool.required ?? []),
    ];
    const sent: string[] = [...(inputSchema.required ?? []), ...Object.keys(tool.fixed ?? {})];
    expect([name, sent.toSorted()]).toEqual([
      name,
      [...required, ...Object.keys(tool.fixed ?? {})].toSorted(),
    ]);
    for (const field of shownFields) {
      const declared = parameters.get(field)?.schema ?? body.properties[field];
      const { type, enum: values } = resolve(declared);
      const shownSchema = inputSchema.properties[field];
      expect([name, field, shownSchema.type, shownSchema.enum]).toEqual([
        name,
        field,
        type,
        values,
      ]);
    }
    expect([name, annotations.readOnlyHint]).toEqual([name, operation["x-access"] === "read"]);
    expect([name, inputSchema.properties.hold !== undefined]).toEqual([
      name,
      operations(tool.operation).endpoint.query === HoldQuery,
    ]);
  }
});

test("every change that can notify subscribers has a preview, a hold and a required choice", () => {
  for (const tool of tools.filter(({ fields }) => fields.includes("notify"))) {
    const { inputSchema } = describeTool(tool, operations) as Json;
    expect([tool.name, inputSchema.required.includes("notify")]).toEqual([tool.name, true]);
    expect(inputSchema.properties).toMatchObject({ preview: {}, hold: { default: 60 } });
  }
  const silent = tools.filter((tool) => !isReadOnly(tool, operations) && !tool.audience);
  expect(silent.map(({ name }) => name)).toEqual([
    "add_incident_note",
    "undo_change",
    "send_change_now",
    "acknowledge_alert",
    "snooze_alert",
    "check_monitor",
  ]);
});

test("an update is previewed, held for a minute, and then reaches subscribers; the log names the tool", async () => {
  const world = await createPublisher();
  await world.mailbox();
  const { call } = await connectMcp(world);
  const draft = { title: "Slow <b>shop</b>", severity: "major", notify: true };
  const before = dumpTables(world);

  const preview = await call("open_incident", { ...draft, preview: true });
  expect(preview).toMatchObject({
    changed: false,
    notified: { subscribers: 1, statusPages: [{ title: "Acme status", subscribers: 1 }] },
  });
  expect(dumpTables(world)).toBe(before);

  const opened = await call("open_incident", draft);
  expect(opened).toMatchObject({ held: true, data: { secondsLeft: 60, subjectId: null } });
  expect((await call("list_incidents")).data).toEqual([]);
  world.time.now += 60_000;
  await world.held.runOnce();
  await world.send();
  expect(world.mails).toHaveLength(1);
  const [incident] = (await call("get_status")).incidents.entries;
  expect(incident).toMatchObject({ title: draft.title, severity: "major" });

  const quiet = { id: incident.id, status: "identified", message: "We know.", notify: false };
  expect((await call("post_incident_update", { ...quiet, preview: true })).notified).toMatchObject({
    subscribers: 0,
  });
  await call("post_incident_update", { ...quiet, hold: 0 });
  await world.send();
  expect(world.mails).toHaveLength(1);
  await call("resolve_incident", { id: incident.id, message: "Fixed.", notify: true, hold: 0 });
  await world.send();
  expect(world.mails.map(({ to }: Json) => JSON.stringify(to))).toEqual([
    expect.stringContaining(ann),
    expect.stringContaining(ann),
  ]);
  const rows = world.database
    .query("select action, actor_name, tool from audit_entries where action like 'incident.%'")
    .values();
  expect(rows).toEqual([
    ["incident.opened", "Agent", "open_incident"],
    ["incident.updated", "Agent", "post_incident_update"],
    ["incident.resolved", "Agent", "resolve_incident"],
  ]);
});

test("planned maintenance is undone before anyone hears of it, and announced later", async () => {
  const world = await createPublisher();
  await world.mailbox();
  const { call } = await connectMcp(world);
  const plan = {
    title: "Router",
    startsAt: "2026-11-22T02:00:00Z",
    endsAt: "2026-11-22T03:00:00Z",
    notify: true,
  };
  expect((await call("schedule_maintenance", { ...plan, preview: true })).notified).toMatchObject({
    subscribers: 1,
  });
  const before = dumpTables(world);
  const { data } = await call("schedule_maintenance", plan);
  expect((await call("list_held_changes")).data).toMatchObject([{ id: data.id, title: "Router" }]);
  expect((await call("undo_change", { id: data.id })).data).toEqual({ deleted: true });
  world.time.now += 60_000;
  await world.held.runOnce();
  await world.send();
  expect(dumpTables(world)).not.toContain("maintenance.planned");
  expect(before).not.toContain("Router");
  expect((await call("list_maintenance")).data).toEqual([]);

  await call("schedule_maintenance", { ...plan, title: "Switch", notify: false, hold: 0 });
  await world.send();
  expect(world.mails).toEqual([]);
  const again = await call("schedule_maintenance", plan);
  await call("send_change_now", { id: again.data.id });
  await world.held.runOnce();
  await world.send();
  expect(world.mails).toHaveLength(1);
  const [window] = (await call("list_maintenance")).data;
  expect(window.title).toBe("Router");
  await call("cancel_maintenance", { id: window.id, hold: 0 });
  expect((await call("list_maintenance")).data).toMatchObject([{ title: "Switch" }]);
});

test("a key that reads sees and can call only tools that read", async () => {
  const world = await testAppliance();
  const { client } = await connectMcp(world, "read");
  const { tools: shown } = await client.listTools();
  expect(shown.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  expect(shown).toHaveLength(tools.filter((tool) => isReadOnly(tool, operations)).length);
  const before = dumpTables(world);
  for (const tool of tools.filter((one) => !isReadOnly(one, operations)))
    expect(client.callTool({ name: tool.name, arguments: { id: unknownId } })).rejects.toThrow(
      "no such tool for this API key",
    );
  expect(dumpTables(world)).toBe(before);
});

test("bad input names the field, and unknown fields are rejected", async () => {
  const { call } = await connectMcp(await testAppliance());
  const issue = async (name: string, input: object) => (await call(name, input)).error?.message;
  expect(await issue("open_incident", { title: "Slow" })).toBe("notify is required.");
  expect(await issue("open_incident", { title: "", notify: false, preview: true })).toContain(
    "title",
  );
  expect(await issue("open_incident", { title: " ", notify: false })).toContain("title");
  expect(await issue("get_monitor", { id: "../incidents" })).toContain("id must be a UUID");
  expect(await issue("list_monitors", { sttus: "down" })).toContain("sttus is not a field");
  expect(await issue("list_monitors", { limit: 51 })).toContain("limit must be");
  expect(await issue("list_monitors", { detail: "all" })).toContain("detail must be");
  expect(await issue("list_monitors", { status: "broken" })).toContain("status");
  expect(await issue("get_monitor", { id: unknownId })).toContain("no such monitor");
  const wrong = { title: "Slow", monitorIds: 1, notify: true };
  expect(await issue("open_incident", wrong)).toContain("monitorIds must be a list");
  const empty = { id: unknownId, notify: true };
  expect(await issue("post_incident_update", empty)).toContain("must have at least one of status");
});

test("tools see and change only their own organization", async () => {
  const world = await testAppliance();
  const create = async (title: string, api: typeof world.ours.api) =>
    (await api("POST", "/api/v1/incidents", { body: { title } })).json.data.id;
  await create("Ours", world.ours.api);
  const foreign = await create("Theirs", world.theirs.api);
  const { call, client } = await connectMcp(world);
  expect((await call("list_incidents")).data).toMatchObject([{ title: "Ours" }]);
  const before = dumpTables(world);
  for (const id of [foreign, unknownId]) {
    const rejected = { error: { code: "NOT_FOUND", message: "There is no such incident." } };
    expect(await call("get_incident", { id })).toEqual(rejected);
    expect(await call("resolve_incident", { id, notify: true })).toEqual(rejected);
    expect(await call("resolve_incident", { id, notify: true, preview: true })).toEqual(rejected);
    expect(client.readResource({ uri: `signalbox://incidents/${id}` })).rejects.toThrow(
      "NOT_FOUND",
    );
  }
  expect(dumpTables(world)).toBe(before);
});

test("a key without MCP, a foreign host or origin, and other methods are rejected", async () => {
  const world = await testAppliance();
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const accept = { Accept: "application/json, text/event-stream" };
  const { key } = await createMcpKey(world.ours);
  const agent = world.client(key);
  const send = async (client: typeof agent, headers: Record<string, string> = {}) =>
    (await client("POST", "/mcp", { body, headers: { ...accept, ...headers } })).status;
  expect(await send(world.stranger)).toBe(401);
  expect(await send(world.ours.api)).toBe(403);
  expect(await send(agent, { Host: "evil.example" })).toBe(421);
  expect(await send(agent, { Origin: "https://evil.example" })).toBe(403);
  expect(await send(agent, { Origin: "http://localhost" })).toBe(200);
  expect(await send(agent, { "Content-Type": "text/plain" })).toBe(415);
  for (const version of ["2025-11-25", "2025-06-18", "2025-03-26"])
    expect(await send(agent, { "MCP-Protocol-Version": version })).toBe(200);
  expect(await send(agent, { "MCP-Protocol-Version": "1999-01-01" })).toBe(400);
  const get = await agent("GET", "/mcp", { headers: accept });
  expect([get.status, get.headers.get("allow")]).toEqual([405, "OPTIONS, POST"]);
  const many = Array.from({ length: 11 }, () => body);
  expect((await agent("POST", "/mcp", { body: many, headers: accept })).status).toBe(422);
  const long = await agent("POST", "/mcp", { raw: `"${"a".repeat(257 * 1024)}"`, headers: accept });
  expect(long.status).toBe(413);
});

test("the audit log has the request ID that the client received", async () => {
  const world = await testAppliance();
  const { key } = await createMcpKey(world.ours);
  const input = { title: "Slow", notify: true, hold: 0 };
  const params = { name: "open_incident", arguments: input };
  const { headers } = await world.client(key)("POST", "/mcp", {
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    headers: { Accept: "application/json, text/event-stream" },
  });
  const rows = world.database.query("select request_id from audit_entries where tool is not null");
  expect(rows.values()).toEqual([[headers.get("x-request-id")]]);
});

test("calls of tools count against the rate limit of the key", async () => {
  const world = await testAppliance({ requestsPerMinute: 8 });
  const { call, key } = await connectMcp(world);
  const results: string[] = [];
  for (let index = 0; index < 4; index++)
    results.push(await call("list_monitors").then(JSON.stringify, String));
  expect(results[0]).toContain("warning");
  expect(results[3]).toContain("RATE_LIMITED");
  expect((await world.client(key)("GET", "/api/v1/monitors")).status).toBe(429);
});
