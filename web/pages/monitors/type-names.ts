import { namesOfTypes } from "./type-names.macro.ts" with { type: "macro" };

const names = namesOfTypes();

/** Display name of a monitor type. */
export const typeName = (type: string): string => names[type] ?? type;
