import { getLocale } from "../../src/core/text/locale.ts";

/** The locale of the page's numbers, dates and lists. */
export const locale = getLocale();
