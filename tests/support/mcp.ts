/** The official MCP client, connected to an appliance in this process. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createApiKey } from "../../src/accounts/api-keys/service.ts";
import type { TestAppliance } from "./appliance.ts";
import type { Json } from "./json.ts";

type Appliance = Pick<TestAppliance, "app" | "ours">;

/** Creates a key of an organization that can be used for MCP. */
export const createMcpKey = (
  { scope }: Pick<TestAppliance["ours"], "scope">,
  access: "read" | "write" = "write",
  groupIds: string[] | null = null,
) => createApiKey(scope, { name: "Agent", scope: access, mcp: true, groupIds, expiresInMs: null });

/** Connects a client with a new key. `call` returns the parsed response of a tool, or its error. */
export async function connectMcp(
  { app, ours }: Appliance,
  access: "read" | "write" = "write",
  organization: Pick<TestAppliance["ours"], "scope"> = ours,
  groupIds: string[] | null = null,
) {
  const { key } = await createMcpKey(organization, access, groupIds);
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
    fetch: async (url, init) => {
      const request = new Request(url, init as RequestInit);
      request.headers.set("Host", "localhost");
      const { body } = init ?? {};
      if (typeof body === "string")
        request.headers.set("Content-Length", String(Buffer.byteLength(body)));
      return app.handle(request);
    },
  });
  // Optional fields of the SDK's types don't allow undefined, as ours must.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const callForText = async (name: string, input: object = {}) => {
    const { content } = await client.callTool({ name, arguments: { ...input } });
    return (content as { text: string }[])[0]?.text ?? "";
  };
  return {
    client,
    key,
    callForText,
    call: async (name: string, input: object = {}) =>
      JSON.parse(await callForText(name, input)) as Json,
  };
}
