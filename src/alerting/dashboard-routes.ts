/** Alerting routes that only the admin page uses: test messages, and the key for Web Push. */
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { AlertChannelPatch, NewAlertChannel } from "./channels/schema.ts";
import { patchChannelRow, createChannelRow } from "./channels/service.ts";
import { NewTestMail, TestOutcome, WebPushKey } from "./schema.ts";
import { sendTestMail, type TestDependencies, tryChannel } from "./service.ts";
import { deriveVapidKeys } from "./vapid.ts";

const timeoutSeconds = 30;

export const createTestMailRoutes = (dependencies: TestDependencies) =>
  createRouter("/settings").post(
    ...defineEndpoint("/test-mail", {
      name: "sendTestMail",
      access: "write",
      limited: "denied",
      role: "admin",
      timeoutSeconds,
      summary: "Send a test mail, also through a mail server that is not saved yet",
      body: NewTestMail,
      data: TestOutcome,
      handle: ({ scope, body }) => sendTestMail(scope, dependencies, body),
    }),
  );

/** The key with which a browser subscribes to messages of this appliance. */
export const webPushRoutes = createRouter("/web-push").get(
  ...defineEndpoint("/", {
    name: "getWebPushKey",
    access: "read",
    limited: "unrelated",
    summary: "Get the public key for Web Push",
    data: WebPushKey,
    handle: ({ scope: { vault } }) =>
      Promise.resolve({ publicKey: deriveVapidKeys(vault).publicKey }),
  }),
);

/** Route of “Send test” for a channel that is not saved. */
export const createTryChannelRoutes = (dependencies: TestDependencies) =>
  createRouter("/alert-channels")
    .post(
      ...defineEndpoint("/try", {
        name: "tryAlertChannel",
        access: "write",
        limited: "denied",
        timeoutSeconds,
        summary: "Send a test alert with the settings of a channel that is not saved",
        body: NewAlertChannel,
        data: TestOutcome,
        handle: async ({ scope, body }) =>
          tryChannel(scope, dependencies, await createChannelRow(scope, body)),
      }),
    )
    .post(
      ...defineEndpoint("/:id/try", {
        name: "tryChangedAlertChannel",
        access: "write",
        limited: "denied",
        timeoutSeconds,
        summary:
          "Send a test alert to a channel as a change would leave it, with the secrets that are stored",
        body: AlertChannelPatch,
        data: TestOutcome,
        handle: async ({ scope, params, body }) =>
          tryChannel(scope, dependencies, await patchChannelRow(scope, params.id, body)),
      }),
    );
