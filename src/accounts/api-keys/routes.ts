import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import { ApiKey, MadeApiKey, NewApiKey } from "./schema.ts";
import { createApiKey, listApiKeys, revokeApiKey } from "./service.ts";

const dayMs = 86_400_000;

export const apiKeyRoutes = routesUnder("/api-keys")
  .get(
    ...endpoint("/", {
      name: "listApiKeys",
      access: "read",
      role: "admin",
      summary: "List the API keys, without the keys themselves",
      data: z.array(ApiKey),
      handle: ({ scope }) => listApiKeys(scope),
    }),
  )
  .post(
    ...endpoint("/", {
      name: "createApiKey",
      access: "write",
      role: "admin",
      summary: "Create an API key, which is shown only once",
      body: NewApiKey,
      errors: ["CONFLICT"],
      data: MadeApiKey,
      status: 201,
      isLocated: false,
      handle: async ({ scope, body: { name, scope: may, expiresInDays } }) => {
        const expiresInMs = expiresInDays === null ? null : expiresInDays * dayMs;
        return createApiKey(scope, { name, scope: may, expiresInMs });
      },
    }),
  )
  .post(
    ...endpoint("/:id/revoke", {
      name: "revokeApiKey",
      access: "write",
      role: "admin",
      summary: "Revoke an API key",
      data: ApiKey,
      errors: ["CONFLICT"],
      handle: ({ scope, params }) => revokeApiKey(scope, params.id),
    }),
  );
