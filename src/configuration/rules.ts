import type { ConfigChange } from "./schema.ts";

/** Counts the created, updated and deleted records. */
export function countChanges(changes: readonly Pick<ConfigChange, "action">[]) {
  const count = (...actions: ConfigChange["action"][]) =>
    changes.filter(({ action }) => actions.includes(action)).length;
  return {
    created: count("create"),
    changed: count("update", "adopt"),
    removed: count("delete", "release"),
  };
}
