import { Elysia } from "elysia";
import { z } from "zod";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { Code, KnownPassword, PendingTwoFactor, RecoveryCodes } from "./schema.ts";
import {
  beginTwoFactor,
  confirmTwoFactor,
  disableTwoFactor,
  renewRecoveryCodes,
} from "./service.ts";

export const twoFactorRoutes = new Elysia({ prefix: "/two-factor" })
  .post(
    "/",
    ...endpoint(
      {
        name: "beginTwoFactor",
        access: "person",
        summary: "Make a secret for an authenticator",
        body: KnownPassword,
        answer: dataOf(PendingTwoFactor),
        errors: ["CONFLICT"],
      },
      async ({ visit, body }) => ({ data: await beginTwoFactor(visit, body.password) }),
    ),
  )
  .post(
    "/confirm",
    ...endpoint(
      {
        name: "confirmTwoFactor",
        access: "person",
        summary: "Turn two-factor on with a first code, and sign out everywhere else",
        body: Code,
        answer: dataOf(RecoveryCodes),
        errors: ["CONFLICT"],
      },
      async ({ visit, body }) => ({ data: await confirmTwoFactor(visit, body.code) }),
    ),
  )
  .post(
    "/disable",
    ...endpoint(
      {
        name: "disableTwoFactor",
        access: "person",
        summary: "Turn two-factor off",
        body: KnownPassword,
        answer: dataOf(z.object({ twoFactor: z.literal(false) })),
      },
      async ({ visit, body }) => {
        await disableTwoFactor(visit, body.password);
        return { data: { twoFactor: false as const } };
      },
    ),
  )
  .post(
    "/recovery-codes",
    ...endpoint(
      {
        name: "renewRecoveryCodes",
        access: "person",
        summary: "Make new recovery codes",
        body: KnownPassword,
        answer: dataOf(RecoveryCodes),
        errors: ["CONFLICT"],
      },
      async ({ visit, body }) => ({ data: await renewRecoveryCodes(visit, body.password) }),
    ),
  );
