/** Nouns of records that can be restored after their deletion, as in events and the audit log. */
export const deletableNouns = [
  "monitor",
  "group",
  "alert-channel",
  "alert-source",
  "status-page",
  "incident",
  "maintenance",
] as const;
export type DeletableNoun = (typeof deletableNouns)[number];
