import { endpoint } from "../../http/endpoint.ts";
import { routesUnder } from "../../http/request-context.ts";
import { About } from "./schema.ts";
import { aboutAppliance } from "./service.ts";

export const aboutRoutes = routesUnder("/about").get(
  ...endpoint("/", {
    name: "getAbout",
    access: "read",
    summary: "Get the version, how long it has been running, and what the organization has",
    data: About,
    handle: ({ scope }) => aboutAppliance(scope),
  }),
);
