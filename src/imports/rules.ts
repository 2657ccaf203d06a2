import { t } from "../core/text/texts.ts";

/** Kinds of records in the order of creation: a record follows all records that it refers to. */
export const nouns = [
  "alert-channel",
  "group",
  "monitor",
  "maintenance-window",
  "status-page",
  "incident",
] as const;
export type Noun = (typeof nouns)[number];

/** Kinds of records that a configuration or the undoing of an import can remove. */
export const removableNouns = [...nouns, "alert-source", "escalation-policy", "schedule"] as const;
export type RemovableNoun = (typeof removableNouns)[number];

const titles: Record<Noun, string> = {
  "alert-channel": t("Alert channels"),
  group: t("Monitor groups"),
  monitor: t("Monitors"),
  "maintenance-window": t("Maintenance windows"),
  "status-page": t("Status pages"),
  incident: t("Incidents"),
};

/** Returns the title of a kind of record in the report. Records of other kinds are never imported. */
export const titleOf = (noun: string): string => titles[noun as Noun] ?? t("Not imported");
