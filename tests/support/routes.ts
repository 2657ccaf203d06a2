import { listRoutes } from "../../src/api.ts";

/** All routes as they are declared. */
export const { api, dashboard } = listRoutes();
