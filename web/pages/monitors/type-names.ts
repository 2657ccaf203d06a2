import { t } from "../../language/text.ts";
import { listTypeNames } from "./type-names.macro.ts" with { type: "macro" };

const typeNames: Record<string, string> = {
  ...listTypeNames(),
  // Names of products and protocols are not translated.
  tcp: t("TCP port"),
  tls: t("Certificate"),
  domain: t("Domain"),
  game: t("Game server"),
  command: t("Command"),
  systemd: t("systemd unit"),
  composite: t("Composite"),
  statuspage: t("Status page"),
  manual: t("Manual"),
  browser: t("Browser"),
};

/** Display name of a monitor type. */
export const getTypeName = (type: string): string => typeNames[type] ?? type;

/** Types whose results take no measurable time. */
export const typesWithoutLatency: ReadonlySet<string> = new Set(["composite", "manual"]);
