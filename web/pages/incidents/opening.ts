import { createStore } from "../../data/store.ts";

/** Whether an incident is being opened, over whichever page; perhaps of this monitor. */
export const opening = createStore<{ monitorId: string | null } | null>(null);
