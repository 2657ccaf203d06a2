import type { Tenant } from "../../database/rows.ts";
import { judgeReadiness } from "./rules.ts";
import type { Readiness } from "./schema.ts";
import { loadReadiness } from "./store.ts";

/** Judges whether alerts reach people at `now`, in Unix milliseconds. */
export const readReadiness = async (tenant: Tenant, now: number): Promise<Readiness> =>
  judgeReadiness(await loadReadiness(tenant, now), now);
