import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { ApiKey, MadeApiKey, NewApiKey } from "./schema.ts";
import { createApiKey, listApiKeys, revokeApiKey } from "./service.ts";

const dayMs = 86_400_000;

export const apiKeyRoutes = new Elysia({ prefix: "/api-keys" })
  .get(
    "/",
    ...endpoint(
      {
        name: "listApiKeys",
        access: "read",
        role: "admin",
        summary: "List the API keys, without the keys themselves",
        answer: dataOf(z.array(ApiKey)),
      },
      async ({ scope }) => ({ data: await listApiKeys(scope) }),
    ),
  )
  .post(
    "/",
    ...endpoint(
      {
        name: "createApiKey",
        access: "write",
        role: "admin",
        summary: "Make an API key, which is told this once",
        body: NewApiKey,
        errors: ["CONFLICT"],
        answer: dataOf(MadeApiKey),
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
    "/:id/revoke",
    ...endpoint(
      {
        name: "revokeApiKey",
        access: "write",
        role: "admin",
        summary: "End an API key for good",
        answer: dataOf(ApiKey),
        errors: ["NOT_FOUND", "CONFLICT"],
      },
      async ({ scope, id }) => ({ data: await revokeApiKey(scope, id) }),
    ),
  );
