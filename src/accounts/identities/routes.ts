import { z } from "zod";
import { Deleted } from "../../core/paging.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { Identity } from "./schema.ts";
import { listOwnIdentities, unlinkIdentity } from "./service.ts";

/** Routes of the signed-in person's accounts at sign-in providers. */
export const identityRoutes = createRouter("/identities")
  .get(
    ...defineEndpoint("/", {
      name: "listIdentities",
      access: "person",
      summary: "List your accounts at sign-in providers, oldest first",
      data: z.array(Identity),
      handle: ({ context }) => listOwnIdentities(context),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "unlinkIdentity",
      access: "person",
      summary: "Unlink an account at a sign-in provider",
      response: Deleted,
      errors: ["CONFLICT"],
      handle: ({ context, params }) => unlinkIdentity(context, params.id),
    }),
  );
