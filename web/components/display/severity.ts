import { t } from "../../language/text.ts";

const names = new Map([
  ["minor", t("minor")],
  ["major", t("major")],
  ["critical", t("critical")],
]);

/** Names a severity within a sentence. */
export const nameSeverity = (severity: string): string => names.get(severity) ?? severity;
