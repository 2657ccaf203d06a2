import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import { ApiKey, MadeApiKey, NewApiKey } from "./schema.ts";
import { createApiKey, listApiKeys, revokeApiKey } from "./service.ts";

const dayMs = 86_400_000;

export const apiKeyRoutes = new Elysia({ prefix: "/api-keys" })
  .use(requestContext)
  .get(
    ...endpoint(
      "/",
      {
        name: "listApiKeys",
        access: "read",
        role: "admin",
        summary: "List the API keys, without the keys themselves",
        response: dataOf(z.array(ApiKey)),
      },
      async ({ scope }) => ({ data: await listApiKeys(scope) }),
    ),
  )
  .post(
    ...endpoint(
      "/",
      {
        name: "createApiKey",
        access: "write",
        role: "admin",
        summary: "Make an API key, which is told this once",
        body: NewApiKey,
        errors: ["CONFLICT"],
        response: dataOf(MadeApiKey),
        status: 201,
        isLocated: false,
      },
      async ({ scope, body: { name, scope: may, expiresInDays } }) => {
        const expiresInMs = expiresInDays === null ? null : expiresInDays * dayMs;
        return { data: await createApiKey(scope, { name, scope: may, expiresInMs }) };
      },
    ),
  )
  .post(
    ...endpoint(
      "/:id/revoke",
      {
        name: "revokeApiKey",
        access: "write",
        role: "admin",
        summary: "End an API key for good",
        response: dataOf(ApiKey),
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, params }) => ({ data: await revokeApiKey(scope, params.id) }),
    ),
  );
