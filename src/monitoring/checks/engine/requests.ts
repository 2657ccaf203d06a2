/** Routes requested checks, push reports and confirmations to the node that checks the monitor. */
import type { CheckResult } from "../check.ts";
import { LeaseLost, type Leases } from "../../../cluster/leases.ts";
import type { Store } from "../../../database/store.ts";
import type { CheckCaller } from "../check.ts";
import type { limitOnDemand } from "./on-demand.ts";
import { contradiction, type Probe } from "../rules.ts";
import { unknownResult } from "./run-check.ts";
import { findByPushToken, timeoutOf, type Watched } from "./watched-monitors.ts";

/** The report of a push monitor's job. */
export type PushReport = {
  status: "up" | "down";
  message: string | null;
  latencyMs: number | null;
};

type Target = { organizationId: string; monitorId: string };
/** For the node that checks the monitor: run a check, or store a report. */
type Request = Target & { report: PushReport | null };
/** For other nodes: check without storing the result. */
type Question = Target & { probe: true };

type Dependencies = {
  store: Store;
  leases: Leases;
  limited: ReturnType<typeof limitOnDemand>;
  /** Each resolves when the result is stored, with false if this node does not check the monitor. */
  check: (organizationId: string, monitorId: string) => Promise<boolean>;
  take: (organizationId: string, monitorId: string, report: PushReport) => Promise<boolean>;
  /** Checks a monitor of any node, and stores nothing. */
  probe: (organizationId: string, monitorId: string) => Promise<CheckResult>;
};

/** Longest wait while no node has the lease. */
const takeoverMs = 15_000;
/** Time for another node to receive the question and answer it, in addition to the check. */
const answerMs = 3_000;

export function createCheckRequests({ store, leases, limited, check, take, probe }: Dependencies) {
  leases.onForwarded({
    async handle(given) {
      const request = given as Request | Question;
      if ("probe" in request) return probed(request);
      const isDone = await doHere(request);
      if (!isDone && leases.of(request.monitorId) === null) throw new LeaseLost();
      return null;
    },
    // Reports of one monitor stay in order.
    lineOf(given) {
      const request = given as Request | Question;
      return "report" in request && request.report !== null ? request.monitorId : null;
    },
  });

  async function probed({ organizationId, monitorId }: Target): Promise<Probe> {
    const { status } = await probe(organizationId, monitorId);
    return { status, by: leases.node?.name() ?? "" };
  }

  const doHere = ({ organizationId, monitorId, report }: Request) =>
    report === null ? check(organizationId, monitorId) : take(organizationId, monitorId, report);

  async function doThere(request: Request): Promise<boolean> {
    const { organizationId, monitorId } = request;
    if (leases.of(monitorId) !== null) return false;
    const timeoutMs = await timeoutOf(store, organizationId, monitorId);
    if (timeoutMs === null) return false;
    await leases.forward(monitorId, request, (request.report ? 0 : timeoutMs) + takeoverMs);
    return true;
  }

  const done = async (request: Request) => (await doHere(request)) || doThere(request);

  return {
    /** Returns the failure, or `unknown` if one of the other nodes sees none. */
    async confirmed(monitor: Watched, outcome: CheckResult): Promise<CheckResult> {
      const { organizationId, id: monitorId, confirmations, timeoutMs } = monitor;
      if (confirmations < 2) return outcome;
      const question: Question = { organizationId, monitorId, probe: true };
      // If no other node is reachable, this node decides.
      const probes = await leases
        .ask(monitorId, confirmations - 1, question, timeoutMs + answerMs)
        .catch(() => []);
      const reason = contradiction(probes as Probe[], outcome.message);
      return reason === null ? outcome : unknownResult(reason);
    },
    /** Throws UNAVAILABLE, RATE_LIMITED. */
    checkNow: (caller: CheckCaller, monitorId: string) =>
      limited(caller, () =>
        done({ organizationId: caller.organizationId, monitorId, report: null }),
      ),
    /** Resolves when the report is stored. */
    report: async (tokenHash: string, report: PushReport): Promise<boolean | null> => {
      const found = await findByPushToken(store, tokenHash);
      if (found === null) return null;
      const { organizationId, id: monitorId } = found;
      if (leases.of(monitorId) !== null) await leases.catchUp(monitorId);
      return done({ organizationId, monitorId, report });
    },
  };
}
