/** Routes requested checks, push reports and confirmations to the node that checks the monitor. */
import type { CheckResult } from "../check.ts";
import { LeaseLost, type Leases } from "../../../cluster/leases.ts";
import type { Store } from "../../../database/store.ts";
import type { CheckCaller } from "../check.ts";
import type { limitOnDemand } from "./on-demand.ts";
import { findContradiction, type Probe } from "../rules.ts";
import type { PushReport } from "../../jobs/report-rules.ts";
import { createUnknownResult } from "./run-check.ts";
import { findByPushToken, findTimeout, type Watched } from "./watched-monitors.ts";

type Target = { organizationId: string; monitorId: string };
/** Forwarded to the node that checks the monitor: runs a check if `report` is null, else stores the report. */
type Request = Target & { report: PushReport | null };
/** Sent to other nodes: runs a check without storing the result. */
type Question = Target & { probe: true };

type Dependencies = {
  store: Store;
  leases: Leases;
  limited: ReturnType<typeof limitOnDemand>;
  /** `check` and `take` resolve when the result is stored, with false if this node does not check the monitor. */
  check: (organizationId: string, monitorId: string) => Promise<boolean>;
  take: (organizationId: string, monitorId: string, report: PushReport) => Promise<boolean>;
  /** Checks a monitor of any node without storing the result. */
  probe: (organizationId: string, monitorId: string) => Promise<CheckResult>;
};

/** Maximum wait until a node has the lease. */
const takeoverMs = 15_000;
/** Time for the request and response between nodes, in addition to the timeout of the check. */
const exchangeMarginMs = 3_000;

export function createCheckRequests({ store, leases, limited, check, take, probe }: Dependencies) {
  leases.onForwarded({
    async handle(payload) {
      const request = payload as Request | Question;
      if ("probe" in request) return runProbe(request);
      const isDone = await handleHere(request);
      if (!isDone && leases.findByRecord(request.monitorId) === null) throw new LeaseLost();
      return null;
    },
    // Reports of one monitor stay in order.
    lineOf(given) {
      const request = given as Request | Question;
      return "report" in request && request.report !== null ? request.monitorId : null;
    },
  });

  async function runProbe({ organizationId, monitorId }: Target): Promise<Probe> {
    const { status } = await probe(organizationId, monitorId);
    return { status, by: leases.node?.name() ?? "" };
  }

  const handleHere = ({ organizationId, monitorId, report }: Request) =>
    report === null ? check(organizationId, monitorId) : take(organizationId, monitorId, report);

  async function forwardToOwner(request: Request): Promise<boolean> {
    const { organizationId, monitorId } = request;
    if (leases.findByRecord(monitorId) !== null) return false;
    const timeoutMs = await findTimeout(store, organizationId, monitorId);
    if (timeoutMs === null) return false;
    await leases.forward(monitorId, request, (request.report ? 0 : timeoutMs) + takeoverMs);
    return true;
  }

  const handleRequest = async (request: Request) =>
    (await handleHere(request)) || forwardToOwner(request);

  async function reportTo(
    { organizationId, id: monitorId }: { organizationId: string; id: string },
    report: PushReport,
  ): Promise<boolean> {
    if (leases.findByRecord(monitorId) !== null) await leases.catchUp(monitorId);
    return handleRequest({ organizationId, monitorId, report });
  }

  return {
    /** Requests other nodes to confirm a failure. Returns the failure, or `unknown` if another node's check succeeds. */
    async confirmFailure(monitor: Watched, outcome: CheckResult): Promise<CheckResult> {
      const { organizationId, id: monitorId, confirmations, timeoutMs } = monitor;
      if (confirmations < 2) return outcome;
      const question: Question = { organizationId, monitorId, probe: true };
      // If no other node is reachable, this node decides.
      const probes = await leases
        .request(monitorId, confirmations - 1, question, timeoutMs + exchangeMarginMs)
        .catch(() => []);
      const reason = findContradiction(probes as Probe[], outcome.message);
      return reason === null ? outcome : createUnknownResult(reason);
    },
    /** Runs a check on the node that checks the monitor. Throws UNAVAILABLE, RATE_LIMITED. */
    checkNow: (caller: CheckCaller, monitorId: string) =>
      limited(caller, () =>
        handleRequest({ organizationId: caller.organizationId, monitorId, report: null }),
      ),
    /** Stores a report. Resolves with false for a paused monitor, null for an unknown token. */
    report: async (tokenHash: string, report: PushReport): Promise<boolean | null> => {
      const found = await findByPushToken(store, tokenHash);
      return found === null ? null : reportTo(found, report);
    },
    /** Stores a report to a known monitor. Resolves with false for a paused monitor. */
    reportTo,
  };
}
