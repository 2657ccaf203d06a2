import { endpoint } from "../http/endpoint.ts";
import { routesUnder } from "../http/request-context.ts";
import { AlertChannelPatch, NewAlertChannel } from "./channels/schema.ts";
import { changedChannelRow, newChannelRow } from "./channels/service.ts";
import { NewTestMail, TestOutcome } from "./schema.ts";
import { sendTestMail, type TestDependencies, tryChannel } from "./service.ts";

const timeoutSeconds = 30;

export const testMailRoutes = (dependencies: TestDependencies) =>
  routesUnder("/settings").post(
    ...endpoint("/test-mail", {
      name: "sendTestMail",
      access: "write",
      role: "admin",
      timeoutSeconds,
      summary: "Send a test mail, also through a mail server that is not saved yet",
      body: NewTestMail,
      data: TestOutcome,
      handle: ({ scope, body }) => sendTestMail(scope, dependencies, body),
    }),
  );

/** Route of “Send test” for a channel that is not saved. */
export const tryChannelRoutes = (dependencies: TestDependencies) =>
  routesUnder("/alert-channels")
    .post(
      ...endpoint("/try", {
        name: "tryAlertChannel",
        access: "write",
        timeoutSeconds,
        summary: "Send a test alert with the settings of a channel that is not saved",
        body: NewAlertChannel,
        data: TestOutcome,
        handle: async ({ scope, body }) =>
          tryChannel(scope, dependencies, await newChannelRow(scope, body)),
      }),
    )
    .post(
      ...endpoint("/:id/try", {
        name: "tryChangedAlertChannel",
        access: "write",
        timeoutSeconds,
        summary:
          "Send a test alert to a channel as a change would leave it, with the secrets that are stored",
        body: AlertChannelPatch,
        data: TestOutcome,
        handle: async ({ scope, params, body }) =>
          tryChannel(scope, dependencies, await changedChannelRow(scope, params.id, body)),
      }),
    );
