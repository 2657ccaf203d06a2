import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { HeaderLink, HeaderSignIn } from "./schema.ts";
import { describeHeader, linkHeader, signInByHeader } from "./service.ts";

export const trustedHeaderRoutes = createRouter("")
  .post(
    ...defineEndpoint("/sign-in/header", {
      name: "signInByHeader",
      access: "anyone",
      summary: "Sign in as the person whom a trusted proxy has identified",
      data: HeaderSignIn,
      handle: ({ context }) => signInByHeader(context),
    }),
  )
  .get(
    ...defineEndpoint("/identities/header", {
      name: "getHeaderLink",
      access: "person",
      summary: "Get the user whom a trusted proxy names in this request",
      data: HeaderLink,
      handle: ({ context }) => describeHeader(context),
    }),
  )
  .post(
    ...defineEndpoint("/identities/header", {
      name: "linkHeader",
      access: "person",
      summary: "Link the user whom a trusted proxy names to your account",
      data: HeaderLink,
      errors: ["CONFLICT"],
      handle: ({ context }) => linkHeader(context),
    }),
  );
