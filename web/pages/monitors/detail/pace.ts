import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { formatUnbrokenDuration } from "../../../components/display/time.tsx";
import { t } from "../../../language/text.ts";

/** How often a monitor is checked, or when its job must report. */
export function describePace({ type, interval, ...fields }: Monitor): string {
  if (type === "manual") return t("set by people");
  if (typeof fields["schedule"] === "string") return t("report expected on schedule");
  const every = formatUnbrokenDuration(interval);
  return type === "push"
    ? t("report expected every {interval}", { interval: every })
    : t("every {interval}", { interval: every });
}
