/** Routes to set up the appliance, sign in and sign out. */
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { Code } from "../two-factor/schema.ts";
import { FirstRun, Presence, SignInStep, SignIn } from "./schema.ts";
import { enterCode, describePresence, signIn, signOut } from "./service.ts";
import { completeSetUp, type SetUp } from "./set-up.ts";

export const createSignInRoutes = ({ setUp: token }: { setUp: SetUp }) =>
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
      ...defineEndpoint("/sign-out", {
        name: "signOut",
        access: "anyone",
        summary: "Sign out of this browser",
        data: SignInStep,
        handle: async ({ context }) => ({ state: await signOut(context) }),
      }),
    );
