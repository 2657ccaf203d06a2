import { monitorKinds } from "../../../src/monitoring/monitors/kinds-schema.ts";

/** Runs at build time, so that the bundle contains the names but not the schemas. */
export const listTypeNames = (): Record<string, string> =>
  Object.fromEntries(Object.entries(monitorKinds).map(([type, { name }]) => [type, name]));
