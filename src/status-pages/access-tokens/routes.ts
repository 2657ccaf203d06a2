/** REST routes of the access tokens of a status page. */
import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { AccessToken, CreatedAccessToken, NewAccessToken } from "./schema.ts";
import { createAccessToken, listAccessTokens, revokeAccessToken } from "./service.ts";

export const accessTokenRoutes = createRouter("/api/v1/status-pages")
  .get(
    ...defineEndpoint("/:id/access-tokens", {
      name: "listStatusPageAccessTokens",
      access: "read",
      limited: "denied",
      cached: true,
      summary: "List the access tokens of a status page",
      description: "Oldest first, without the tokens themselves.",
      data: z.array(AccessToken),
      handle: ({ scope, params }) => listAccessTokens(scope, params.id),
    }),
  )
  .post(
    ...defineEndpoint("/:id/access-tokens", {
      name: "createStatusPageAccessToken",
      access: "write",
      limited: "denied",
      summary: "Create an access token of a status page",
      description:
        "For feed readers and dashboards, which can't sign in. The token is shown only once.",
      body: NewAccessToken,
      data: CreatedAccessToken,
      status: 201,
      isLocated: false,
      errors: ["CONFLICT"],
      handle: ({ scope, params, body }) => createAccessToken(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id/access-tokens/:tokenId", {
      name: "revokeStatusPageAccessToken",
      access: "write",
      limited: "denied",
      summary: "Revoke an access token of a status page",
      response: Deleted,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => revokeAccessToken(scope, params.id, params.tokenId),
    }),
  );
