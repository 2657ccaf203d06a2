import { idSet } from "../../core/fields.ts";
import { monitorBounds } from "../../core/limits.ts";

/** The monitors on which a monitor or all monitors of a group depend. */
export const DependsOn = idSet(monitorBounds.dependencies.value).default([]).meta({
  description:
    "Monitors that this depends on, such as the router in front of it. While one of them is down, outages behind it cause no alerts of their own.",
});
