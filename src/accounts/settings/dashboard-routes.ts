import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import { TrustedAuthority } from "./schema.ts";
import { authoritiesOf } from "./service.ts";

/** What only the admin page asks of the settings. */
export const settingsDashboardRoutes = routesUnder("/settings").get(
  ...endpoint("/certificate-authorities", {
    name: "listAuthorities",
    access: "read",
    role: "admin",
    summary: "Say whose the certificates of the settings are, and until when",
    data: z.array(TrustedAuthority),
    handle: ({ scope }) => authoritiesOf(scope),
  }),
);
