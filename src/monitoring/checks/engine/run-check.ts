import type { Clock } from "../../../core/time/clock.ts";
import type { Log } from "../../../core/log.ts";
import type { TargetGuard } from "../../../core/security/target-guard.ts";
import type { Details, FoundDetails } from "../../monitors/details-rules.ts";
import { monitorKinds, type MonitorType } from "../../monitors/kinds-schema.ts";
import type { AccessTokens } from "../../../core/outgoing/access-tokens.ts";
import {
  allowedAddresses,
  nameServersAnswer,
  silentNameServers,
} from "../../../core/outgoing/addresses.ts";
import type { OutgoingContext } from "../../../core/outgoing/context.ts";
import { Blocked, OwnTrouble, TargetFailure } from "../../../core/outgoing/failures.ts";
import { reasonFor } from "../../../core/outgoing/reasons.ts";
import type { CheckMemory } from "../protocols/byte-budget.ts";
import { type CheckContext, type CheckKind, type Finding, TimeUp } from "../check.ts";
import { excerpt, notJudged } from "../../../core/text/words.ts";
import { splitSecrets } from "../../../core/security/kind-secrets.ts";
import { isPlainHeader, secretFinder } from "../protocols/assertions.ts";
import { findBrowser } from "../protocols/chromium.ts";
import { checkKinds } from "../kinds.ts";
import type { TroubleWatch } from "./own-trouble.ts";
import type { CheckTarget } from "../check.ts";

/** A finding, or `unknown`: nothing is known about the target, because the trouble was here. */
export type Outcome = Omit<Finding, "status"> & {
  status: Finding["status"] | "unknown";
  /** What was in sight when the check failed, as JPEG. */
  screenshot?: Uint8Array;
};

/** A process that stood still for longer can't judge others, nor for a fifth of the time they have. */
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
  /** What the organization trusts beside the usual authorities, in PEM. */
  authorities?: string | null;
  systemctl?: CheckContext["systemctl"];
  browser?: string | undefined;
  browserTurn: CheckContext["browserTurn"];
  /** What this one check may keep of answers. */
  memory: CheckMemory;
  inTurn: CheckContext["inTurn"];
};

/** Types that check this machine without a network. */
const localTypes: ReadonlySet<string> = new Set<MonitorType>(["docker", "systemd"]);

/** Steps in which a check reads what the target sent. */
const stepsOfTarget: ReadonlySet<OutgoingContext["step"]> = new Set([
  "waiting for the answer",
  "waiting for a message",
  "reading the answer",
  "searching the answer",
] as const);

export function unknownResult(reason: string): Outcome {
  return { status: "unknown", message: `${notJudged}${reason}.`, latencyMs: null };
}

/**
 * One execution of a monitor, over after its timeout whatever the target does; `cancelled` ends it
 * sooner. Never throws: one bad check harms no other.
 */
export async function runCheck(
  { type, settings, timeoutMs, degradedAfterMs, inverted }: CheckTarget,
  dependencies: EngineDependencies,
  cancelled: AbortSignal,
): Promise<Outcome> {
  if (cancelled.aborted) return unknownResult("the check was stopped");
  const startedAt = dependencies.monotonic();
  const ending = new AbortController();
  const reached: string[] = [];
  const context: CheckContext = {
    timeoutMs,
    organizationId: dependencies.organizationId,
    degradedAfterMs,
    part: null,
    screenshot: null,
    accessTokens: dependencies.accessTokens,
    dockerSocket: dependencies.dockerSocket ?? "/var/run/docker.sock",
    systemctl: dependencies.systemctl ?? (() => Bun.which("systemctl")),
    browser: () => dependencies.browser ?? findBrowser(),
    browserTurn: dependencies.browserTurn,
    signal: ending.signal,
    step: "connecting",
    memory: dependencies.memory,
    authorities: dependencies.authorities ?? null,
    async addressesOf(host, port, lookup) {
      const found = await allowedAddresses(dependencies.targets, host, port, lookup);
      reached.splice(0, reached.length, ...found.map(({ address }) => address));
      return found;
    },
    async commandFolder() {
      const { targets } = dependencies;
      await targets.refresh();
      const issue = targets.issueOfCommands();
      if (targets.commandFolder === null || issue !== null)
        throw new OwnTrouble(`to run programs ${issue}`);
      return targets.commandFolder;
    },
    now: dependencies.clock,
    async inTurn(work) {
      context.step = "waiting for its turn";
      return dependencies.inTurn(() => {
        context.step = "searching the answer";
        return work();
      });
    },
  };
  const over = Promise.withResolvers<never>();
  const timer = setTimeout(() => over.reject(new TimeUp()), timeoutMs);
  const cancel = () => over.reject(new OwnTrouble("the check was stopped"));
  cancelled.addEventListener("abort", cancel);
  let outcome: Outcome;
  let failure: unknown;
  try {
    const check = checkKinds[type as keyof typeof checkKinds] as CheckKind<MonitorType>;
    const { details, ...found } = await Promise.race([
      check(settings as never, context),
      over.promise,
    ]);
    const shown = details && shownOf(details, type, settings);
    outcome = slowed({ ...found, ...(shown && { details: shown }) }, degradedAfterMs);
  } catch (error) {
    failure = error;
    outcome = await outcomeOf(error);
  } finally {
    clearTimeout(timer);
    cancelled.removeEventListener("abort", cancel);
    // Without a reason each would make an error with its stack.
    ending.abort(failure ?? null);
    dependencies.memory.end();
  }
  if (outcome.status === "up") return wanted(outcome);
  const toleratedMs = Math.min(maxStallMs, timeoutMs / 5);
  const trouble = dependencies.trouble.during(startedAt, dependencies.monotonic(), toleratedMs);
  return trouble === null ? wanted(outcome) : unknownResult(trouble);

  /** What was blocked was not tried: it stays down. */
  function wanted(outcome: Outcome) {
    return inverted && outcome.final !== true ? inverse(outcome) : outcome;
  }

  async function outcomeOf(error: unknown): Promise<Outcome> {
    const reason =
      error instanceof TimeUp ? await timeUp() : (reasonFor(error) ?? unforeseen(error));
    if (reason instanceof OwnTrouble) return unknownResult(reason.message);
    const lacked = reason instanceof Blocked ? null : lackedForTarget();
    if (lacked !== null) return unknownResult(lacked);
    const { message, said, final } = reason;
    const where = context.part === null ? "" : `${context.part}: `;
    return {
      status: "down",
      message: `${where}${message}`,
      latencyMs: null,
      final,
      ...(said !== undefined && { said: `${where}${said}` }),
      ...(context.screenshot !== null && { screenshot: context.screenshot }),
    };
  }

  function lackedForTarget(): string | null {
    const isLocal = localTypes.has(type) && (settings as { host?: unknown }).host == null;
    const addresses = reached.length === 0 && isLocal ? ["127.0.0.1"] : reached;
    return dependencies.trouble.lackedFor(addresses, startedAt);
  }

  /** An unexpected error. While bytes of the target are being read it counts as the target's failure, so that bad bytes can't hide an outage. */
  function unforeseen(error: unknown): TargetFailure | OwnTrouble {
    dependencies.log.error("a check failed unexpectedly", { type, cause: String(error) });
    return stepsOfTarget.has(context.step)
      ? new TargetFailure("The answer can't be read.")
      : new OwnTrouble("the check itself failed; see the log");
  }

  async function timeUp(): Promise<TargetFailure | OwnTrouble> {
    if (context.step === "resolving the name" && !(await nameServersAnswer()))
      return silentNameServers();
    if (context.step === "waiting for the browser")
      return new OwnTrouble("the browser was busy for too long");
    if (context.step === "starting the browser")
      return new OwnTrouble("the browser took too long to start");
    if (context.step === "waiting for its turn")
      return new OwnTrouble("too many long answers are being searched at once");
    const sentence = `Timed out after ${timeoutMs / 1000} s while ${context.step}.`;
    const isSilent = context.step === "waiting for the answer" && context.silence;
    return new TargetFailure(sentence, false, isSilent ? `${sentence} ${isSilent}` : undefined);
  }
}

/** So many characters of a detail are shown. */
const maxDetail = 200;

/** Details as people may see them, null where there are none: none that repeats what the monitor keeps secret. */
function shownOf(found: FoundDetails, type: string, settings: object): Details | null {
  if (Object.keys(found).length === 0) return null;
  const repeatsSecret = secretFinder(() => {
    const { secrets } = splitSecrets(monitorKinds, type, settings as Record<string, unknown>);
    return Object.entries(secrets)
      .filter(([path]) => !isPlainHeader(path.replace(/^headers\./, "")))
      .map(([, secret]) => secret);
  });
  const shown: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(found)) {
    if (typeof value === "number") shown[name] = value;
    else if (value && !repeatsSecret(value)) shown[name] = excerpt(value, maxDetail);
  }
  return Object.keys(shown).length === 0 ? null : shown;
}

/** What an outcome is to a monitor that is up when its check fails. */
export function inverse({ status, message, said, final: _final, ...found }: Outcome): Outcome {
  if (status === "unknown") return { status, message, ...found };
  const fails = status === "down";
  const words = (sentence: string) =>
    `${fails ? "Fails, as expected" : "Expected to fail, but did not"}: ${sentence}`;
  return {
    ...found,
    status: fails ? "up" : "down",
    message: words(message),
    ...(said !== undefined && { said: words(said) }),
  };
}

/** A success that took longer than it may is degraded. */
export function slowed(finding: Finding, degradedAfterMs: number | null): Finding {
  const { status, latencyMs } = finding;
  if (status !== "up" || degradedAfterMs === null || latencyMs === null) return finding;
  if (latencyMs <= degradedAfterMs) return finding;
  const message = `Answered in ${latencyMs} ms, more than ${degradedAfterMs} ms.`;
  return { ...finding, status: "degraded", message };
}
