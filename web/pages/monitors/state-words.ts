import type { State } from "../../components/display/state-icon.tsx";
import { t } from "../../language/text.ts";

/** Names of states within a sentence. */
export const stateWords: Record<State, string> = {
  down: t("down"),
  degraded: t("degraded"),
  maintenance: t("maintenance"),
  pending: t("pending"),
  up: t("up"),
  paused: t("paused"),
  unknown: t("not judged"),
};
