import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { HeaderSignIn } from "./schema.ts";
import { signInByHeader } from "./service.ts";

export const trustedHeaderRoutes = createRouter("/sign-in").post(
  ...defineEndpoint("/header", {
    name: "signInByHeader",
    access: "anyone",
    summary: "Sign in as the person whom a trusted proxy has identified",
    data: HeaderSignIn,
    handle: ({ context }) => signInByHeader(context),
  }),
);
