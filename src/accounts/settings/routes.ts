import { Elysia } from "elysia";
import { dataOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import { Settings, SettingsPatch } from "./schema.ts";
import { getSettings, updateSettings } from "./service.ts";

export const settingsRoutes = new Elysia({ prefix: "/api/v1/settings" })
  .use(requestContext)
  .get(
    ...endpoint(
      "/",
      {
        name: "getSettings",
        access: "read",
        role: "admin",
        summary: "Get the organization's settings",
        response: dataOf(Settings),
      },
      async ({ scope }) => ({ data: await getSettings(scope) }),
    ),
  )
  .patch(
    ...endpoint(
      "/",
      {
        name: "updateSettings",
        access: "write",
        role: "admin",
        summary: "Update the organization's settings",
        description:
          "Absent fields keep their value, those of `smtp` too; `smtp: null` removes the mail server. A stored password stays with its host, port and TLS mode: a change of these has to send it again.",
        body: SettingsPatch,
        response: dataOf(Settings),
        errors: ["PRECONDITION_FAILED"],
      },
      async ({ scope, body }) => ({ data: await updateSettings(scope, body) }),
    ),
  );
