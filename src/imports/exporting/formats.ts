/** Programs that an organization can be exported for. */
export const exportFormats = ["uptime-kuma", "gatus", "prometheus-blackbox"] as const;
export type ExportFormat = (typeof exportFormats)[number];
