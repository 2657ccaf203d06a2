import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import { TrustedAuthority } from "./schema.ts";
import { authoritiesOf } from "./service.ts";

/** Settings routes of the admin page. */
export const settingsDashboardRoutes = routesUnder("/settings").get(
  ...endpoint("/certificate-authorities", {
    name: "listAuthorities",
    access: "read",
    role: "admin",
    summary: "List the certificate authorities in the settings, with their expiry",
    data: z.array(TrustedAuthority),
    handle: ({ scope }) => authoritiesOf(scope),
  }),
);
