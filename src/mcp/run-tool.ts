/** Runs a tool: reads its input, sends its request to the REST API, and renders a short response. */
import { isObject } from "../core/collections/objects.ts";
import { parse } from "../core/validation.ts";
import type { Scope } from "../events/scope.ts";
import { findNotified, type Notified } from "./audience.ts";
import { type Options, readInput, type RestRequest } from "./inputs.ts";
import type { Json, Operation, Operations } from "./operations.ts";
import type { RestClient } from "./rest-client.ts";
import { renderResponse, selectFields, untrustedTextWarning } from "./rules.ts";
import type { Tool } from "./tools.ts";

type ToolContext = { scope: Scope; operations: Operations; restClient: RestClient };

/** Length of texts in short and full responses, in characters. */
const textCharacters = { short: 500, full: 5_000 };

/** Runs a tool, and returns its response as JSON. Throws AppError. */
export async function runTool(context: ToolContext, tool: Tool, input: Json): Promise<string> {
  const operation = tool.operation === null ? null : context.operations(tool.operation);
  const { request, options } = readInput(tool, operation, input);
  const content =
    operation === null
      ? await readStatus(context.restClient, options.limit)
      : operation.endpoint.access === "read"
        ? await runRead(context, tool, request, options, operation)
        : await runWrite(context, tool, request, options, operation);
  return renderContent({ warning: untrustedTextWarning, ...content }, options);
}

const renderContent = (content: Json, { limit, isFull }: Options): string =>
  renderResponse(content, {
    entries: limit,
    characters: isFull ? textCharacters.full : textCharacters.short,
  });

async function runRead(
  { restClient }: ToolContext,
  tool: Tool,
  { params, query }: RestRequest,
  { limit, isFull }: Options,
  { name, fields }: Operation,
): Promise<Json> {
  const size = ["per_page", "limit"].find((field) => fields.has(field));
  const sized = size === undefined ? query : { ...query, [size]: String(limit) };
  const response = await restClient.send(name, { params, query: sized });
  const { data } = response;
  return {
    ...response,
    data: isFull || tool.brief === undefined ? data : selectFields(data, tool.brief),
  };
}

async function runWrite(
  context: ToolContext,
  tool: Tool,
  request: RestRequest,
  options: Options,
  { name, endpoint, canHold }: Operation,
): Promise<Json> {
  const { params, body } = request;
  // The REST API validates the body, too. But a preview sends no request, and finding recipients needs valid
  // values.
  if (endpoint.body !== undefined) parse(endpoint.body, body ?? {});
  const notified = await findNotifiedByTool(context, tool, request);
  if (options.isPreview) return { preview: true, changed: false, change: body, notified };
  const isHeld = canHold && options.hold > 0;
  const query: Record<string, string> = isHeld ? { hold: String(options.hold) } : {};
  const { data } = await context.restClient.send(name, { params, query, body });
  const { brief } = tool;
  return {
    ...(isHeld && {
      held: true,
      next: "Nothing is stored or sent yet. undo_change with this id removes the change, send_change_now sends it at once.",
    }),
    data: isHeld || options.isFull || brief === undefined ? data : selectFields(data, brief),
    ...(notified !== null && { notified }),
  };
}

async function findNotifiedByTool(
  { scope, restClient }: ToolContext,
  { audience }: Tool,
  { params, body }: RestRequest,
): Promise<Notified | null> {
  // Limited keys can see neither status pages nor other recipients.
  if (audience === undefined || scope.groupIds !== null) return null;
  return findNotified(scope, restClient, { kind: audience, id: params["id"], values: body ?? {} });
}

/** Reads the current status: monitors in trouble, open incidents, running maintenance and open alerts. */
export async function readStatus(restClient: RestClient, limit: number): Promise<Json> {
  const list = async (operation: string, query: Record<string, string>, fields: string[]) => {
    const { data, meta } = await restClient.send(operation, {
      query: { ...query, per_page: String(limit) },
    });
    const total = isObject(meta) ? meta["total"] : null;
    return { total, entries: selectFields(data, fields) };
  };
  const monitor = ["id", "name", "type", "statusSince", "lastMessage", "priority"];
  const [down, degraded, incidents, maintenance, alerts] = await Promise.all([
    list("listMonitors", { status: "down" }, monitor),
    list("listMonitors", { status: "degraded" }, monitor),
    list("listIncidents", { open: "true" }, [
      "id",
      "title",
      "status",
      "severity",
      "public",
      "createdAt",
    ]),
    list("listMaintenanceWindows", { state: "running" }, ["id", "title", "current"]),
    list("listAlerts", { status: "open,acknowledged,snoozed" }, [
      "id",
      "title",
      "status",
      "priority",
      "since",
    ]),
  ]);
  return { down, degraded, incidents, maintenance, alerts };
}
