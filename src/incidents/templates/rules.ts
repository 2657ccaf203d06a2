/** Placeholders of a template, such as `{{monitors}}`. */
export const templatePlaceholders = ["monitors", "severity", "date", "time"] as const;
export type TemplatePlaceholder = (typeof templatePlaceholders)[number];
