import { monitorKinds } from "../../../src/monitoring/monitors/kinds-schema.ts";

/** Called by the bundler: the names stand in the page, and the schemas beside them do not. */
export const namesOfTypes = (): Record<string, string> =>
  Object.fromEntries(Object.entries(monitorKinds).map(([type, { name }]) => [type, name]));
