/** What may stand in a template, as `{{monitors}}`. */
export const templatePlaceholders = ["monitors", "severity", "date", "time"] as const;
export type TemplatePlaceholder = (typeof templatePlaceholders)[number];
