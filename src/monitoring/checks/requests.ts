import type { Leases } from "../../cluster/service.ts";
import type { Store } from "../../database/store.ts";
import type { Caller, onDemand } from "./on-demand.ts";
import { findByPushToken, isChecked } from "./watching.ts";

/** What a watched job says of itself. */
export type PushReport = {
  status: "up" | "down";
  message: string | null;
  latencyMs: number | null;
};

/** What is asked of whoever watches a monitor: a check, or to take in a report. */
type Request = { organizationId: string; monitorId: string; report: PushReport | null };

type Dependencies = {
  store: Store;
  leases: Leases;
  asked: ReturnType<typeof onDemand>;
  /** Each resolves when the result is stored, with false where this node does not watch the monitor. */
  check: (organizationId: string, monitorId: string) => Promise<boolean>;
  take: (organizationId: string, monitorId: string, report: PushReport) => Promise<boolean>;
};

/** Has done what is asked for outside its turn, here or by the node that watches the monitor. */
export function requestsOf({ store, leases, asked, check, take }: Dependencies) {
  leases.onForwarded(async (request) => void (await doHere(request as Request)));

  const doHere = ({ organizationId, monitorId, report }: Request) =>
    report === null ? check(organizationId, monitorId) : take(organizationId, monitorId, report);

  async function doThere(request: Request): Promise<boolean> {
    const { organizationId, monitorId } = request;
    if (leases.of(monitorId) !== null) return false;
    if (!(await isChecked(store, organizationId, monitorId))) return false;
    await leases.forward(monitorId, request);
    return true;
  }

  const done = async (request: Request) => (await doHere(request)) || doThere(request);

  return {
    /** Checks at once; resolves when the result is stored, with false where the monitor is not to be checked. Throws UNAVAILABLE, RATE_LIMITED. */
    checkNow: (caller: Caller, monitorId: string) =>
      asked(caller, () => done({ ...caller, monitorId, report: null })),
    /** Takes what a watched job reports; resolves when it is stored. False for a paused monitor, null for an unknown token. */
    report: async (tokenHash: string, report: PushReport): Promise<boolean | null> => {
      const found = await findByPushToken(store, tokenHash);
      return found && done({ organizationId: found.organizationId, monitorId: found.id, report });
    },
  };
}
