/** Words for the alerts of a source. */
import type { Priority } from "../../../src/core/statuses.ts";
import { t } from "../../language/text.ts";

export const priorityLabels: Record<Priority, string> = {
  low: t("Low"),
  normal: t("Normal"),
  critical: t("Critical"),
};

/** The priorities as parts of a sentence. */
export const priorityWords: Record<Priority, string> = {
  low: t("low"),
  normal: t("normal"),
  critical: t("critical"),
};

export const statusWords = {
  open: t("open"),
  acknowledged: t("acknowledged"),
  resolved: t("resolved"),
};
