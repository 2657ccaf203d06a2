import { LeaseLost, type Leases } from "../../../cluster/leases.ts";
import type { Store } from "../../../database/store.ts";
import type { CheckCaller } from "../check.ts";
import type { onDemand } from "./on-demand.ts";
import { contradiction, type Probe } from "../rules.ts";
import { type Outcome, unknownResult } from "./run-check.ts";
import { findByPushToken, timeoutOf, type Watched } from "./watching.ts";

/** What a watched job says of itself. */
export type PushReport = {
  status: "up" | "down";
  message: string | null;
  latencyMs: number | null;
};

type Target = { organizationId: string; monitorId: string };
/** What is asked of whoever watches a monitor: a check, or to take in a report. */
type Request = Target & { report: PushReport | null };
/** What is asked of any other node: what it sees of the monitor. */
type Question = Target & { probe: true };

type Dependencies = {
  store: Store;
  leases: Leases;
  asked: ReturnType<typeof onDemand>;
  /** Each resolves when the result is stored, with false where this node does not watch the monitor. */
  check: (organizationId: string, monitorId: string) => Promise<boolean>;
  take: (organizationId: string, monitorId: string, report: PushReport) => Promise<boolean>;
  /** Checks without a trace, whoever watches the monitor. */
  probe: (organizationId: string, monitorId: string) => Promise<Outcome>;
};

/** While nobody has the lease, whoever asks waits so long. */
const takeoverMs = 15_000;
/** Another node may look at the clock, at its mailbox and at the target before it answers. */
const answerMs = 3_000;

/** Has done what is asked for outside its turn, here or by the node that watches the monitor. */
export function requestsOf({ store, leases, asked, check, take, probe }: Dependencies) {
  leases.onForwarded({
    async handle(given) {
      const request = given as Request | Question;
      if ("probe" in request) return probed(request);
      const isDone = await doHere(request);
      if (!isDone && leases.of(request.monitorId) === null) throw new LeaseLost();
      return null;
    },
    // A report that comes late must not turn back what a later one has said.
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
    /** What is believed of a failure with which a monitor would be down: not where one of those that are asked sees none. */
    async confirmed(monitor: Watched, outcome: Outcome): Promise<Outcome> {
      const { organizationId, id: monitorId, confirmations, timeoutMs } = monitor;
      if (confirmations < 2) return outcome;
      const question: Question = { organizationId, monitorId, probe: true };
      // Where nobody can be asked, what this node sees counts.
      const probes = await leases
        .ask(monitorId, confirmations - 1, question, timeoutMs + answerMs)
        .catch(() => []);
      const reason = contradiction(probes as Probe[], outcome.message);
      return reason === null ? outcome : unknownResult(reason);
    },
    /** Checks at once; resolves when the result is stored, with false where the monitor is not to be checked. Throws UNAVAILABLE, RATE_LIMITED. */
    checkNow: (caller: CheckCaller, monitorId: string) =>
      asked(caller, () => done({ organizationId: caller.organizationId, monitorId, report: null })),
    /** Takes what a watched job reports; resolves when it is stored. False for a paused monitor, null for an unknown token. */
    report: async (tokenHash: string, report: PushReport): Promise<boolean | null> => {
      const found = await findByPushToken(store, tokenHash);
      if (found === null) return null;
      const { organizationId, id: monitorId } = found;
      if (leases.of(monitorId) !== null) await leases.catchUp(monitorId);
      return done({ organizationId, monitorId, report });
    },
  };
}
