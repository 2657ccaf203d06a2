import { t } from "../language/text.ts";

/** Locale of dates, lists and names in the language of the page. */
export const locale = t("en-GB");
