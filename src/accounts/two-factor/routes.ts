/** Routes of a person's own second factors: authenticator, passkeys and recovery codes. */
import { z } from "zod";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { Code, KnownPassword, PendingTwoFactor, RecoveryCodes, TwoFactor } from "./schema.ts";
import {
  beginTwoFactor,
  confirmTwoFactor,
  describeTwoFactor,
  disableTwoFactor,
  renewRecoveryCodes,
  usePasskeysAsFactor,
} from "./service.ts";

export const twoFactorRoutes = createRouter("/two-factor")
  .get(
    ...defineEndpoint("/", {
      name: "getTwoFactor",
      access: "person",
      summary: "Get your second factors",
      data: TwoFactor,
      handle: ({ context }) => describeTwoFactor(context),
    }),
  )
  .post(
    ...defineEndpoint("/passkeys", {
      name: "usePasskeysAsFactor",
      access: "person",
      summary: "Turn two-factor on with your passkeys, and sign out everywhere else",
      body: KnownPassword,
      data: RecoveryCodes,
      errors: ["CONFLICT"],
      handle: ({ context, body }) => usePasskeysAsFactor(context, body.password),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "beginTwoFactor",
      access: "person",
      summary: "Create a secret for an authenticator",
      body: KnownPassword,
      data: PendingTwoFactor,
      errors: ["CONFLICT"],
      handle: ({ context, body }) => beginTwoFactor(context, body.password),
    }),
  )
  .post(
    ...defineEndpoint("/confirm", {
      name: "confirmTwoFactor",
      access: "person",
      summary: "Turn two-factor on with a first code, and sign out everywhere else",
      body: Code,
      data: RecoveryCodes,
      errors: ["CONFLICT"],
      handle: ({ context, body }) => confirmTwoFactor(context, body.code),
    }),
  )
  .post(
    ...defineEndpoint("/disable", {
      name: "disableTwoFactor",
      access: "person",
      summary: "Turn two-factor off",
      body: KnownPassword,
      data: z.object({ twoFactor: z.literal(false) }),
      handle: async ({ context, body }) => {
        await disableTwoFactor(context, body.password);
        return { twoFactor: false as const };
      },
    }),
  )
  .post(
    ...defineEndpoint("/recovery-codes", {
      name: "renewRecoveryCodes",
      access: "person",
      summary: "Create new recovery codes",
      body: KnownPassword,
      data: RecoveryCodes,
      errors: ["CONFLICT"],
      handle: ({ context, body }) => renewRecoveryCodes(context, body.password),
    }),
  );
