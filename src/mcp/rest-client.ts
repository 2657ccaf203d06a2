/** Sends requests of tools to the REST API of this process, with the key of the MCP request. */
import { AppError, type ErrorCode, type ErrorDetail } from "../core/errors.ts";
import { mcpBounds } from "../core/limits.ts";
import { readWithin } from "../http/body.ts";
import { replaceRequest, sendAsTool } from "../http/original-request.ts";
import type { RestRequest } from "./inputs.ts";
import type { Operations } from "./operations.ts";

const maxBytes = mcpBounds.record.value;

type Data = { data: unknown; meta?: unknown };

export type RestClient = {
  /** Returns the response to an operation. Throws its error. */
  send(operation: string, request: Partial<RestRequest>): Promise<Data>;
};

/**
 * Creates a client for one MCP request. Each request passes all steps of the REST API: the key and its scope, its rate
 * limit, the schemas and the hold. The audit log names `call`.
 */
export function createRestClient(
  request: Request,
  operations: Operations,
  call: { tool: string; requestId: string },
  handle: (request: Request) => Promise<Response>,
): RestClient {
  return {
    async send(name, { params = {}, query = {}, body = null }) {
      const { method, path } = operations(name);
      const filled = path
        .replace(/\/$/, "")
        .replace(/:([A-Za-z]+)/g, (_, parameter: string) => params[parameter] ?? "");
      const url = new URL(filled, new URL(request.url).origin);
      for (const [field, value] of Object.entries(query)) url.searchParams.set(field, value);
      const { signal } = request;
      const sent = body === null ? null : JSON.stringify(body);
      const headers = copyHeaders(request);
      if (sent !== null) {
        headers.set("Content-Type", "application/json");
        headers.set("Content-Length", String(Buffer.byteLength(sent)));
      }
      const inner = new Request(url, {
        method,
        headers,
        signal,
        ...(sent !== null && { body: sent }),
      });
      return readData(await handle(sendAsTool(replaceRequest(inner, request), call)));
    },
  };
}

function copyHeaders({ headers }: Request): Headers {
  const copied = new Headers();
  for (const name of ["host", "authorization"]) copied.set(name, headers.get(name) ?? "");
  return copied;
}

async function readData(response: Response): Promise<Data> {
  const bytes = await readWithin(response, maxBytes, createTooLongError);
  const json = JSON.parse(Buffer.from(bytes).toString()) as Data & {
    error?: { code: ErrorCode; message: string; details?: ErrorDetail[] };
  };
  if (json.error === undefined) return json;
  const { code, message, details } = json.error;
  throw new AppError(code, message, { ...(details && { details }) });
}

const createTooLongError = () =>
  new AppError(
    "PAYLOAD_TOO_LARGE",
    "The response is too long for a tool. Ask for a smaller part, or use the REST API.",
  );
