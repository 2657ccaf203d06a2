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
    summary: "Say whose the certificates of the settings are, and until when",
    data: z.array(TrustedAuthority),
    handle: ({ scope }) => authoritiesOf(scope),
  }),
);
