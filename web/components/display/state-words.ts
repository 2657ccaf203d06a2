import { t } from "../../language/text.ts";
import type { State } from "./state-icon.tsx";

/** Names of states within a sentence, such as `3 down`. */
export const stateWords: Record<State, string> = {
  up: t("up"),
  degraded: t("degraded"),
  down: t("down"),
  maintenance: t("maintenance"),
  paused: t("paused"),
  pending: t("pending"),
  unknown: t("not judged"),
};
