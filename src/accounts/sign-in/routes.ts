/** Routes to set up the appliance, sign in and sign out. */
import { z } from "zod";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { PasskeyProof, RequestOptions, SecondFactors } from "../passkeys/schema.ts";
import { Code } from "../two-factor/schema.ts";
import {
  createSignInOptions,
  describeSecondFactors,
  signInWithPasskey,
} from "./passkey-service.ts";
import { signInByLink } from "./link-service.ts";
import { describePasswordPolicy, setPasswordSignIn } from "./password-policy-service.ts";
import {
  FirstRun,
  PasswordPolicy,
  PasswordPolicyPatch,
  Presence,
  SignedOut,
  SignInStep,
  SignIn,
  Token,
} from "./schema.ts";
import { enterCode, describePresence, signIn, signOut } from "./service.ts";
import { completeSetUp, type SetUp } from "./set-up.ts";

type SignInDependencies = {
  setUp: SetUp;
  /** Returns the address to sign out of the provider of the session; null for none. */
  findSignOutUrl: (context: VisitorContext) => Promise<string | null>;
};

export const createSignInRoutes = ({ setUp: token, findSignOutUrl }: SignInDependencies) =>
  createRouter("")
    .get(
      ...defineEndpoint("/session", {
        name: "getPresence",
        access: "anyone",
        summary: "Get the signed-in person, and the first view to show",
        data: Presence,
        handle: ({ context }) => describePresence(context),
      }),
    )
    .post(
      ...defineEndpoint("/set-up", {
        name: "setUp",
        access: "anyone",
        summary: "Claim a new appliance with the token from its console",
        body: FirstRun,
        data: SignInStep,
        status: 201,
        isLocated: false,
        errors: ["CONFLICT"],
        handle: async ({ context, body }) => ({
          state: await completeSetUp(context, token, body),
        }),
      }),
    )
    .post(
      ...defineEndpoint("/sign-in", {
        name: "signIn",
        access: "anyone",
        summary: "Sign in by e-mail address and password",
        body: SignIn,
        data: SignInStep,
        handle: async ({ context, body }) => ({ state: await signIn(context, body) }),
      }),
    )
    .post(
      ...defineEndpoint("/sign-in/code", {
        name: "enterCode",
        access: "anyone",
        summary: "Enter the two-factor code of a sign-in",
        body: Code,
        data: SignInStep,
        handle: async ({ context, body }) => ({ state: await enterCode(context, body.code) }),
      }),
    )
    .post(
      ...defineEndpoint("/sign-in/passkey/options", {
        name: "startPasskeySignIn",
        access: "anyone",
        summary: "Get the options with which the browser signs in with a passkey",
        data: RequestOptions,
        errors: ["CONFLICT"],
        handle: async ({ context }) => createSignInOptions(context),
      }),
    )
    .post(
      ...defineEndpoint("/sign-in/passkey", {
        name: "signInWithPasskey",
        access: "anyone",
        summary: "Sign in with a passkey, alone or after the password",
        body: PasskeyProof,
        data: SignInStep,
        handle: async ({ context, body }) => ({ state: await signInWithPasskey(context, body) }),
      }),
    )
    .post(
      ...defineEndpoint("/sign-in/second-factors", {
        name: "listSecondFactors",
        access: "anyone",
        summary: "Get the second factors of a sign-in in progress",
        data: SecondFactors,
        handle: ({ context }) => describeSecondFactors(context),
      }),
    )
    .post(
      ...defineEndpoint("/sign-in/link", {
        name: "signInByLink",
        access: "anyone",
        summary: "Sign in with a link of the command line",
        body: z.strictObject({ token: Token }),
        data: SignInStep,
        errors: ["NOT_FOUND"],
        handle: async ({ context, body }) => ({ state: await signInByLink(context, body.token) }),
      }),
    )
    .get(
      ...defineEndpoint("/password-policy", {
        name: "getPasswordPolicy",
        access: "read",
        limited: "unrelated",
        summary: "Get whether the organization accepts sign-ins by password",
        data: PasswordPolicy,
        handle: ({ scope, requestContext }) =>
          describePasswordPolicy(scope, requestContext.session),
      }),
    )
    .patch(
      ...defineEndpoint("/password-policy", {
        name: "setPasswordPolicy",
        access: "write",
        limited: "denied",
        role: "owner",
        summary: "Turn sign-ins by password on or off for the organization",
        body: PasswordPolicyPatch,
        data: PasswordPolicy,
        errors: ["CONFLICT"],
        handle: ({ scope, requestContext, body }) =>
          setPasswordSignIn(scope, requestContext.session, body.passwordSignIn),
      }),
    )
    .post(
      ...defineEndpoint("/sign-out", {
        name: "signOut",
        access: "anyone",
        summary: "Sign out of this browser",
        data: SignedOut,
        handle: async ({ context }) => {
          const providerUrl = await findSignOutUrl(context);
          return { state: await signOut(context), providerUrl };
        },
      }),
    );
