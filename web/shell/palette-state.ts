import { external } from "../data/external.ts";

/** Whether the command palette is open. */
export const palette = external(false);
