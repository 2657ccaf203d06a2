import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import { Code, KnownPassword, PendingTwoFactor, RecoveryCodes } from "./schema.ts";
import {
  beginTwoFactor,
  confirmTwoFactor,
  disableTwoFactor,
  renewRecoveryCodes,
} from "./service.ts";

export const twoFactorRoutes = new Elysia({ prefix: "/two-factor" })
  .use(requestContext)
  .post(
    ...endpoint(
      "/",
      {
        name: "beginTwoFactor",
        access: "person",
        summary: "Make a secret for an authenticator",
        body: KnownPassword,
        response: dataOf(PendingTwoFactor),
        errors: ["CONFLICT"],
      },
      async ({ context, body }) => ({ data: await beginTwoFactor(context, body.password) }),
    ),
  )
  .post(
    ...endpoint(
      "/confirm",
      {
        name: "confirmTwoFactor",
        access: "person",
        summary: "Turn two-factor on with a first code, and sign out everywhere else",
        body: Code,
        response: dataOf(RecoveryCodes),
        errors: ["CONFLICT"],
      },
      async ({ context, body }) => ({ data: await confirmTwoFactor(context, body.code) }),
    ),
  )
  .post(
    ...endpoint(
      "/disable",
      {
        name: "disableTwoFactor",
        access: "person",
        summary: "Turn two-factor off",
        body: KnownPassword,
        response: dataOf(z.object({ twoFactor: z.literal(false) })),
      },
      async ({ context, body }) => {
        await disableTwoFactor(context, body.password);
        return { data: { twoFactor: false as const } };
      },
    ),
  )
  .post(
    ...endpoint(
      "/recovery-codes",
      {
        name: "renewRecoveryCodes",
        access: "person",
        summary: "Make new recovery codes",
        body: KnownPassword,
        response: dataOf(RecoveryCodes),
        errors: ["CONFLICT"],
      },
      async ({ context, body }) => ({ data: await renewRecoveryCodes(context, body.password) }),
    ),
  );
