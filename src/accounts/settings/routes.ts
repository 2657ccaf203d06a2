import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { Settings, SettingsPatch } from "./schema.ts";
import { getSettings, updateSettings } from "./service.ts";

export const settingsRoutes = createRouter("/api/v1/settings")
  .get(
    ...defineEndpoint("/", {
      name: "getSettings",
      access: "read",
      limited: "denied",
      role: "admin",
      summary: "Get the organization's settings",
      data: Settings,
      handle: ({ scope }) => getSettings(scope),
    }),
  )
  .patch(
    ...defineEndpoint("/", {
      name: "updateSettings",
      access: "write",
      limited: "denied",
      role: "admin",
      summary: "Update the organization's settings",
      description:
        "Absent fields keep their value, those of `smtp` too; `smtp: null` removes the mail server. A stored password belongs to its host, port and TLS mode. A change of these must send it again. `certificateAuthorities` is one text with all certificates; a new text replaces it.",
      body: SettingsPatch,
      data: Settings,
      errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
      handle: ({ scope, body }) => updateSettings(scope, body),
    }),
  );
