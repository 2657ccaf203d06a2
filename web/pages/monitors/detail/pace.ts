import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { durationInWords } from "../../../components/display/time.tsx";

/** How often a monitor is checked, or when its job must report. */
export function describePace({ type, interval, ...fields }: Monitor): string {
  if (type === "manual") return "set by people";
  if (typeof fields["schedule"] === "string") return "report expected on schedule";
  return `${type === "push" ? "report expected every" : "every"} ${durationInWords(interval)}`;
}
