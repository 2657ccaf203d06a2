import { listTypeNames } from "./type-names.macro.ts" with { type: "macro" };

const names = listTypeNames();

/** Display name of a monitor type. */
export const nameOfType = (type: string): string => names[type] ?? type;
