import { namesOfTypes } from "./type-names.macro.ts" with { type: "macro" };

const names = namesOfTypes();

/** What people call a type of monitor. */
export const typeName = (type: string): string => names[type] ?? type;
