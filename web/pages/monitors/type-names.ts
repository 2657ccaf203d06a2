import { listTypeNames } from "./type-names.macro.ts" with { type: "macro" };

const names = listTypeNames();

/** Display name of a monitor type. */
export const nameOfType = (type: string): string => names[type] ?? type;

/** Types whose results take no measurable time. */
export const typesWithoutLatency: ReadonlySet<string> = new Set(["composite", "manual"]);
