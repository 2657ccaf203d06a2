import { searchBounds } from "../../src/core/limits.ts";

/** Runs at build time, so that the bundle contains the number but no texts about limits. */
export const readSearchLimit = (): number => searchBounds.text.value;
