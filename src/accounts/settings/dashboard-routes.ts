import { z } from "zod";
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { TrustedAuthority } from "./schema.ts";
import { listAuthorities } from "./service.ts";

/** Settings routes of the admin page. */
export const settingsDashboardRoutes = createRouter("/settings").get(
  ...defineEndpoint("/certificate-authorities", {
    name: "listAuthorities",
    access: "read",
    limited: "denied",
    role: "admin",
    summary: "List the certificate authorities in the settings, with their expiry",
    data: z.array(TrustedAuthority),
    handle: ({ scope }) => listAuthorities(scope),
  }),
);
