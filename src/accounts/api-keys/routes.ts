/** Routes to list, create, limit and revoke API keys. */
import { dayMs } from "../../core/time/clock.ts";
import { z } from "zod";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { ApiKey, ApiKeyPatch, CreatedApiKey, NewApiKey } from "./schema.ts";
import { changeApiKeyGroups, createApiKey, listApiKeys, revokeApiKey } from "./service.ts";

export const apiKeyRoutes = createRouter("/api-keys")
  .get(
    ...defineEndpoint("/", {
      name: "listApiKeys",
      access: "read",
      limited: "denied",
      role: "admin",
      summary: "List the API keys, without the keys themselves",
      data: z.array(ApiKey),
      handle: ({ scope }) => listApiKeys(scope),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createApiKey",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Create an API key, which is shown only once",
      body: NewApiKey,
      errors: ["CONFLICT"],
      data: CreatedApiKey,
      status: 201,
      isLocated: false,
      handle: async ({ scope, body: { scope: may, expiresInDays, ...body } }) => {
        const expiresInMs = expiresInDays === null ? null : expiresInDays * dayMs;
        return createApiKey(scope, { ...body, scope: may, expiresInMs });
      },
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "changeApiKey",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Change the monitor groups to which an API key is limited",
      description: "Null lifts the limit. Requests follow the change within a second.",
      body: ApiKeyPatch,
      data: ApiKey,
      errors: ["CONFLICT"],
      handle: ({ scope, params, body }) => changeApiKeyGroups(scope, params.id, body.groupIds),
    }),
  )
  .post(
    ...defineEndpoint("/:id/revoke", {
      name: "revokeApiKey",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Revoke an API key",
      data: ApiKey,
      errors: ["CONFLICT"],
      handle: ({ scope, params }) => revokeApiKey(scope, params.id),
    }),
  );
