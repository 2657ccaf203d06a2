import { Elysia } from "elysia";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { Code } from "../two-factor/schema.ts";
import { FirstRun, Presence, SignInStep, SignIn } from "./schema.ts";
import { enterCode, presenceOf, setUp, signIn, signOut } from "./service.ts";

export const signInRoutes = new Elysia()
  .get(
    "/session",
    ...endpoint(
      {
        name: "getPresence",
        access: "anyone",
        summary: "Say who is signed in, and what to show first",
        answer: dataOf(Presence),
      },
      async ({ visit }) => ({ data: await presenceOf(visit) }),
    ),
  )
  .post(
    "/set-up",
    ...endpoint(
      {
        name: "setUp",
        access: "anyone",
        summary: "Claim a new appliance with the token from its console",
        body: FirstRun,
        answer: dataOf(SignInStep),
        status: 201,
        isLocated: false,
        errors: ["CONFLICT"],
      },
      async ({ visit, body, appliance }) => ({
        data: { state: await setUp(visit, appliance.setUp, body) },
      }),
    ),
  )
  .post(
    "/sign-in",
    ...endpoint(
      {
        name: "signIn",
        access: "anyone",
        summary: "Sign in by e-mail address and password",
        body: SignIn,
        answer: dataOf(SignInStep),
      },
      async ({ visit, body }) => ({ data: { state: await signIn(visit, body) } }),
    ),
  )
  .post(
    "/sign-in/code",
    ...endpoint(
      {
        name: "enterCode",
        access: "anyone",
        summary: "Give the code that a sign-in waits for",
        body: Code,
        answer: dataOf(SignInStep),
      },
      async ({ visit, body }) => ({ data: { state: await enterCode(visit, body.code) } }),
    ),
  )
  .post(
    "/sign-out",
    ...endpoint(
      {
        name: "signOut",
        access: "anyone",
        summary: "Sign out of this browser",
        answer: dataOf(SignInStep),
      },
      async ({ visit }) => ({ data: { state: await signOut(visit) } }),
    ),
  );
