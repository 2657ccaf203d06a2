import { readSearchLimit } from "./search-limit.macro.ts" with { type: "macro" };

/** Maximum length of a search text. */
export const maxSearchLength = readSearchLimit();
