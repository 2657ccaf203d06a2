/** Routes of sign-ins through providers. */
import { z } from "zod";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { buildVisitorContext } from "../../http/visitor-context.ts";
import { ProviderButton } from "../identity-providers/schema.ts";
import { listProviderButtons } from "../identity-providers/service.ts";
import { callbackPath, callbackSeconds, serveCallback } from "./callback-page.ts";
import {
  LinkStart,
  ProviderAddress,
  ProviderFinding,
  ProviderStart,
  ProviderTest,
} from "./schema.ts";
import { type SingleSignOnDependencies, startAttempt, startLink } from "./service.ts";
import { testProvider } from "./test-service.ts";

const startSeconds = 30;

/** Routes of the admin page. */
export const createSingleSignOnRoutes = (dependencies: SingleSignOnDependencies) =>
  createRouter("")
    .post(
      ...defineEndpoint("/sign-in/provider", {
        name: "startProviderSignIn",
        access: "anyone",
        timeoutSeconds: startSeconds,
        summary: "Start a sign-in through a provider",
        body: ProviderStart,
        data: ProviderAddress,
        errors: ["NOT_FOUND"],
        handle: async ({ context, body: { providerId, returnTo, invitation: token } }) => ({
          url: await startAttempt(context, dependencies, {
            providerId,
            purpose: token === undefined ? { type: "sign-in" } : { type: "invitation", token },
            returnTo,
          }),
        }),
      }),
    )
    .post(
      ...defineEndpoint("/identities/link", {
        name: "startIdentityLink",
        access: "person",
        timeoutSeconds: startSeconds,
        summary: "Start linking your account at a sign-in provider",
        body: LinkStart,
        data: ProviderAddress,
        errors: ["NOT_FOUND"],
        handle: async ({ context, body }) => ({
          url: await startLink(context, dependencies, body.providerId),
        }),
      }),
    )
    .get(
      ...defineEndpoint("/identities/providers", {
        name: "listLinkableProviders",
        access: "person",
        summary: "List the sign-in providers whose accounts you can link",
        data: z.array(ProviderButton),
        handle: ({ context }) => listProviderButtons(context.store),
      }),
    )
    .post(
      ...defineEndpoint("/identity-providers/test", {
        name: "testIdentityProvider",
        access: "administrator",
        timeoutSeconds: startSeconds,
        summary: "Test a sign-in provider by its discovery document",
        description: "Sends no secret, and stores nothing.",
        body: ProviderTest,
        data: z.array(ProviderFinding),
        handle: ({ context, body }) => testProvider(context, body),
      }),
    );

/** The address to which all providers send people back. Elysia serves HEAD with the handler of GET. */
export const createCallbackRoutes = (dependencies: SingleSignOnDependencies) =>
  createRouter("").get(callbackPath, async ({ request, requestContext }) => {
    requestContext.services.extendTimeout(request, callbackSeconds);
    const context = buildVisitorContext(requestContext, request);
    const response = await serveCallback(request, context, dependencies);
    for (const cookie of requestContext.setCookies) response.headers.append("Set-Cookie", cookie);
    return response;
  });
