import { t } from "../../../language/text.ts";

/** Link to the chapter of the documentation that the executable serves. */
export const HttpsRecipe = () => (
  <a className="link" href="/docs/https" target="_blank" rel="noreferrer">
    {t("HTTPS on the LAN")}
  </a>
);
