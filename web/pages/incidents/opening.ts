import { external } from "../../data/external.ts";

/** Whether an incident is being opened, over whichever page; perhaps of this monitor. */
export const opening = external<{ monitorId: string | null } | null>(null);
