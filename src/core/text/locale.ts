import { t } from "./texts.ts";

/** Returns the locale of formats. The build of the admin page replaces it by that of its language. */
export const getLocale = (): string => t("en-GB");
