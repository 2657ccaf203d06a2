/** Executes one check within its timeout, and separates failures of the target from faults of this appliance. */
import { isIP } from "node:net";
import type { Clock } from "../../../core/time/clock.ts";
import type { Log } from "../../../core/log.ts";
import type { TargetGuard } from "../../../core/security/target-guard.ts";
import type { Details, FoundDetails } from "../../monitors/details-rules.ts";
import { monitorKinds, type MonitorType } from "../../monitors/kinds-schema.ts";
import type { AccessTokens } from "../../../core/outgoing/access-tokens.ts";
import {
  resolveAllowedAddresses,
  canReachNameServers,
  silentNameServersError,
} from "../../../core/outgoing/addresses.ts";
import type { OutgoingContext } from "../../../core/outgoing/context.ts";
import { BlockedTarget, LocalFailure, TargetFailure } from "../../../core/outgoing/failures.ts";
import { classifyFailure } from "../../../core/outgoing/failure-reasons.ts";
import type { CheckMemory } from "../protocols/byte-budget.ts";
import { type CheckContext, type CheckKind, type CheckResult, CheckTimeout } from "../check.ts";
import { excerptText, notJudgedPrefix } from "../../../core/text/formatting.ts";
import { splitSecrets } from "../../../core/security/kind-secrets.ts";
import { isPlainHeader, createSecretFinder } from "../protocols/assertions.ts";
import { listCauses } from "../cause-rules.ts";
import { createResolvedName } from "../resolved-rules.ts";
import { findBrowser } from "../protocols/chromium.ts";
import { checkKinds } from "../kinds.ts";
import type { TroubleWatch } from "./own-trouble.ts";
import type { CheckTarget } from "../check.ts";
import type { NumberRule } from "../../monitors/numbers-schema.ts";
import { applyNumber } from "../number-result.ts";

/** Maximum total stall during a check after which its failure still counts; at most a fifth of the timeout. */
export const maxStallMs = 700;

type EngineDependencies = {
  targets: TargetGuard;
  clock: Clock;
  monotonic: Clock;
  trouble: TroubleWatch;
  log: Log;
  dockerSocket?: string;
  organizationId: string;
  accessTokens: AccessTokens;
  /** Additional certificate authorities of the organization, in PEM. */
  authorities?: string | null;
  systemctl?: CheckContext["systemctl"];
  membersOf: CheckContext["membersOf"];
  browser?: string | undefined;
  runWithBrowser: CheckContext["runWithBrowser"];
  /** Memory for the responses of this check. */
  memory: CheckMemory;
  inTurn: CheckContext["inTurn"];
};

/** Types that can check this machine itself, without a network. */
const localTypes: ReadonlySet<string> = new Set<MonitorType>([
  "docker",
  "systemd",
  "composite",
  "manual",
]);

/** Steps in which a check processes data from the target. */
const targetSteps: ReadonlySet<OutgoingContext["step"]> = new Set([
  "waiting for the response",
  "waiting for a message",
  "reading the response",
  "searching the response",
] as const);

export function createUnknownResult(reason: string): CheckResult {
  return { status: "unknown", message: `${notJudgedPrefix}${reason}.`, latencyMs: null };
}

/** Executes one check. Ends after its timeout, or earlier if `signal` aborts. Never throws. */
export async function runCheck(
  target: CheckTarget,
  dependencies: EngineDependencies,
  signal: AbortSignal,
): Promise<CheckResult> {
  if (signal.aborted) return createUnknownResult("the check was stopped");
  return new CheckRun(target, dependencies).run(signal);
}

class CheckRun {
  private readonly target: CheckTarget;
  private readonly dependencies: EngineDependencies;
  private readonly startedAt: number;
  private readonly ending = new AbortController();
  private readonly context: CheckContext;
  /** Addresses of the last resolved host. */
  private reached: string[] = [];
  /** The last host and its addresses; null if a proxy connects to it. */
  private destination: { host: string; addresses: string[] } | null = null;

  constructor(target: CheckTarget, dependencies: EngineDependencies) {
    this.target = target;
    this.dependencies = dependencies;
    this.startedAt = dependencies.monotonic();
    this.context = this.createContext();
  }

  async run(signal: AbortSignal): Promise<CheckResult> {
    const { timeoutMs } = this.target;
    const abortion = Promise.withResolvers<never>();
    const timer = setTimeout(() => abortion.reject(new CheckTimeout()), timeoutMs);
    const cancel = () => abortion.reject(new LocalFailure("the check was stopped"));
    signal.addEventListener("abort", cancel);
    let outcome: CheckResult;
    let failure: unknown;
    try {
      outcome = await this.check(abortion.promise);
    } catch (error) {
      failure = error;
      outcome = await this.explainFailedOutcome(error);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
      // Without a reason, `abort` would create an error with a stack trace.
      this.ending.abort(failure ?? null);
      this.dependencies.memory.end();
    }
    const { resolved } = this.context;
    if (resolved !== null) outcome.resolved = resolved;
    if (outcome.status === "up") return this.invert(outcome);
    const toleratedMs = Math.min(maxStallMs, timeoutMs / 5);
    const { trouble, monotonic } = this.dependencies;
    const reason = trouble.findTroubleDuring(this.startedAt, monotonic(), toleratedMs);
    return reason === null ? this.invert(outcome) : createUnknownResult(reason);
  }

  private async check(over: Promise<never>): Promise<CheckResult> {
    const { type, settings, degradedAfterMs } = this.target;
    const check = checkKinds[type as keyof typeof checkKinds] as CheckKind<MonitorType>;
    const running = check(settings as never, this.context);
    const { details, measured, ...found } = await Promise.race([running, over]);
    const visible = details && filterDetails(details, type, settings);
    const judged = markSlow({ ...found, ...(visible && { details: visible }) }, degradedAfterMs);
    const { number: rule = null } = settings as { number?: NumberRule | null };
    if (rule === null || (judged.status !== "up" && judged.status !== "degraded")) return judged;
    const received = measured ?? {
      value: (details as FoundDetails | undefined)?.[rule.path ?? ""],
    };
    return applyNumber(rule, received, judged, this.target.numberLevel ?? null);
  }

  private createContext(): CheckContext {
    const { dependencies, target } = this;
    const { targets } = dependencies;
    const context: CheckContext = {
      timeoutMs: target.timeoutMs,
      organizationId: dependencies.organizationId,
      degradedAfterMs: target.degradedAfterMs,
      part: null,
      screenshot: null,
      resolved: null,
      accessTokens: dependencies.accessTokens,
      dockerSocket: dependencies.dockerSocket ?? "/var/run/docker.sock",
      systemctl: dependencies.systemctl ?? (() => Bun.which("systemctl")),
      membersOf: dependencies.membersOf,
      browser: () => dependencies.browser ?? findBrowser(),
      runWithBrowser: dependencies.runWithBrowser,
      signal: this.ending.signal,
      step: "connecting",
      memory: dependencies.memory,
      authorities: dependencies.authorities ?? null,
      addressesOf: async (host, port, lookup) => {
        const isTarget = lookup?.as === undefined || lookup.as === "target";
        this.destination = isTarget ? { host, addresses: [] } : null;
        const found = await resolveAllowedAddresses(targets, host, port, lookup);
        this.reached = found.map(({ address }) => address);
        if (this.destination !== null) {
          this.destination.addresses = this.reached;
          if (isIP(host) === 0) context.resolved ??= createResolvedName(host, this.reached);
        }
        return found;
      },
      async getCommandFolder() {
        await targets.refresh();
        const issue = targets.findCommandIssue();
        if (targets.commandFolder === null || issue !== null)
          throw new LocalFailure(`to run programs ${issue}`);
        return targets.commandFolder;
      },
      now: dependencies.clock,
      async inTurn(work) {
        context.step = "waiting for its turn";
        return dependencies.inTurn(() => {
          context.step = "searching the response";
          return work();
        });
      },
    };
    return context;
  }

  /**
   * Inverts the outcome of an inverted monitor. A final failure, such as a blocked target, stays down. States that
   * people set are not inverted either.
   */
  private invert(outcome: CheckResult) {
    const { inverted, type } = this.target;
    const isInverted = inverted && type !== "manual" && outcome.isFinal !== true;
    return isInverted ? invertOutcome(outcome) : outcome;
  }

  private async explainFailedOutcome(error: unknown): Promise<CheckResult> {
    const reason =
      error instanceof CheckTimeout
        ? await this.explainTimeout()
        : (classifyFailure(error) ?? this.classifyUnforeseen(error));
    if (reason instanceof LocalFailure) return createUnknownResult(reason.message);
    const lacked = reason instanceof BlockedTarget ? null : this.findLackedResource();
    if (lacked !== null) return createUnknownResult(lacked);
    const { message, serverText, isFinal } = reason;
    const { part, screenshot, step } = this.context;
    const { destination, target } = this;
    const isTimeout = error instanceof CheckTimeout;
    const causes = listCauses(error, { type: target.type, step, isTimeout, destination });
    const where = part === null ? "" : `${part}: `;
    return {
      status: "down",
      message: `${where}${message}`,
      latencyMs: null,
      isFinal,
      ...(serverText !== undefined && { serverText: `${where}${serverText}` }),
      ...(screenshot !== null && { screenshot }),
      ...(causes.length > 0 && { causes }),
    };
  }

  private findLackedResource(): string | null {
    const { type, settings } = this.target;
    const isLocal = localTypes.has(type) && (settings as { host?: unknown }).host == null;
    const addresses = this.reached.length === 0 && isLocal ? ["127.0.0.1"] : this.reached;
    return this.dependencies.trouble.findLackFor(addresses, this.startedAt);
  }

  /** Logs an unexpected error. While data of the target is processed, it counts as a failure of the target. */
  private classifyUnforeseen(error: unknown): TargetFailure | LocalFailure {
    const { type } = this.target;
    this.dependencies.log.error("a check failed unexpectedly", { type, cause: String(error) });
    return targetSteps.has(this.context.step)
      ? new TargetFailure("The response can't be read.")
      : new LocalFailure("the check itself failed; see the log");
  }

  private async explainTimeout(): Promise<TargetFailure | LocalFailure> {
    const { step, silence } = this.context;
    if (step === "resolving the name" && !(await canReachNameServers()))
      return silentNameServersError();
    if (step === "waiting for the browser")
      return new LocalFailure("the browser was busy for too long");
    if (step === "starting the browser")
      return new LocalFailure("the browser took too long to start");
    if (step === "waiting for its turn")
      return new LocalFailure("too many long responses are being searched at once");
    const sentence = `Timed out after ${this.target.timeoutMs / 1000} s while ${step}.`;
    const isSilent = step === "waiting for the response" && silence;
    return new TargetFailure(sentence, false, isSilent ? `${sentence} ${isSilent}` : undefined);
  }
}

/** Maximum characters of a detail. */
const maxDetail = 200;

/** Removes details that contain a secret of the monitor, and shortens the others. Null if none remain. */
function filterDetails(found: FoundDetails, type: string, settings: object): Details | null {
  if (Object.keys(found).length === 0) return null;
  const repeatsSecret = createSecretFinder(() => {
    const { secrets } = splitSecrets(monitorKinds, type, settings as Record<string, unknown>);
    return Object.entries(secrets)
      .filter(([path]) => !isPlainHeader(path.replace(/^headers\./, "")))
      .map(([, secret]) => secret);
  });
  const boundedValues: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(found)) {
    if (typeof value === "number") boundedValues[name] = value;
    else if (value && !repeatsSecret(value)) boundedValues[name] = excerptText(value, maxDetail);
  }
  return Object.keys(boundedValues).length === 0 ? null : boundedValues;
}

/** Inverts the outcome for a monitor that is up when its check fails. */
export function invertOutcome({
  status,
  message,
  serverText,
  isFinal: _final,
  ...found
}: CheckResult): CheckResult {
  if (status === "unknown") return { status, message, ...found };
  const fails = status === "down";
  const formatInverted = (sentence: string) =>
    `${fails ? "Fails, as expected" : "Expected to fail, but did not"}: ${sentence}`;
  return {
    ...found,
    status: fails ? "up" : "down",
    message: formatInverted(message),
    ...(serverText !== undefined && { serverText: formatInverted(serverText) }),
  };
}

/** Marks a success above the latency threshold as degraded. */
export function markSlow(finding: CheckResult, degradedAfterMs: number | null): CheckResult {
  const { status, latencyMs } = finding;
  if (status !== "up" || degradedAfterMs === null || latencyMs === null) return finding;
  if (latencyMs <= degradedAfterMs) return finding;
  const message = `Answered in ${latencyMs} ms, more than ${degradedAfterMs} ms.`;
  return { ...finding, status: "degraded", message };
}
