/**
 * Remembers work of an organization that failed. Retries it at increasing intervals, so that it delays no other work, and
 * reports it as a problem if it fails again and again.
 */
import { type Clock, dayMs, formatUtcMinute } from "../core/time/clock.ts";
import { computeBackoffMs } from "../core/time/pace.ts";
import type { Log } from "../core/log.ts";
import type { Statement, Store } from "../database/store.ts";
import type { LoggedEvent } from "./catalog.ts";
import { listAdministratorOrganizations, recordProblem } from "./problems.ts";

/** Attempts after which work counts as failing. They take about 15 seconds. */
const triesUntilReport = 5;
/** Pause after the first failure. Each further pause is twice as long. */
const firstPauseMs = 1_000;
/** Pause of work that keeps failing. */
const longPauseMs = 600_000;
/** Duration of the problem after the last failure. */
const reportedMs = dayMs;

type Setback = { tries: number; failedAt: number; retryAt: number };

type Services = { store: Store; clock: Clock; log?: Log | undefined };

export class Setbacks {
  readonly #services: Services;
  readonly #known = new Map<string, Setback>();
  #newError: unknown;

  constructor(services: Services) {
    this.#services = services;
  }

  get isEmpty() {
    return this.#known.size === 0;
  }

  /** Whether this work has failed, and not succeeded since. */
  has = (work: string) => this.#known.has(work);

  /** Whether this work has failed, and is not to be tried again yet. A clock that went back ends the pause. */
  isWaiting(work: string): boolean {
    const known = this.#known.get(work);
    const now = this.#services.clock();
    return known !== undefined && now < known.retryAt && now >= known.failedAt;
  }

  /** Returns `report` once the work has failed so often that it must be reported, and `lasting` after that. */
  recordFailure(work: string, error: unknown): "passing" | "report" | "lasting" {
    const { clock, log } = this.#services;
    const now = clock();
    this.#newError ??= error;
    for (const [key, { failedAt }] of this.#known)
      if (now - failedAt > dayMs) this.#known.delete(key);
    const tries = (this.#known.get(work)?.tries ?? 0) + 1;
    const later = tries - triesUntilReport;
    const pauseMs = later >= 0 ? longPauseMs : computeBackoffMs(tries, firstPauseMs, longPauseMs);
    this.#known.set(work, { tries, failedAt: now, retryAt: now + pauseMs });
    log?.error("work of an organization failed", { work, tries, cause: String(error) });
    if (later < 0) return "passing";
    return later === 0 ? "report" : "lasting";
  }

  /** Throws this error, or the first new one since the last call. Does nothing without one. */
  throwNew(first: unknown) {
    const error = first ?? this.#newError;
    this.#newError = undefined;
    if (error !== undefined) throw error;
  }

  recordSuccess(work: string) {
    this.#known.delete(work);
  }

  /** Returns the statements that report an event which was set aside. */
  async reportEvent(follower: string, { organizationId, seq, type, at }: LoggedEvent) {
    // The alert about a problem is itself such an event. The problem stays open in any case.
    if (type.startsWith("appliance.")) return [];
    const effect = follower === "alerting" ? "No alert" : "No notice to subscribers";
    const event = `The event ${type} (number ${seq}) of ${formatUtcMinute(Date.parse(at))}`;
    return this.#report(organizationId, `${follower} ${seq}`, (whose) => [
      `${event}${whose} could not be handled, and was set aside after ${triesUntilReport} tries so that it delays nothing else.`,
      `${effect} about it was sent: look at what happened at that time.`,
    ]);
  }

  /** Returns the statements that report periodic work that keeps failing. */
  reportWork(organizationId: string, work: string) {
    return this.#report(organizationId, work, (whose) => [
      `Work for alerts${whose} keeps failing: ${work}.`,
      "It is tried again every ten minutes, and delays nothing else.",
    ]);
  }

  /** Extends the problem of an organization whose work still fails. */
  extendReport(organizationId: string): Statement {
    return {
      text: "update problems set until = ? where organization_id = ? and name = 'unhandled'",
      parameters: [this.#services.clock() + reportedMs, organizationId],
    };
  }

  async #report(
    organizationId: string,
    stage: string,
    describe: (whose: string) => string[],
  ): Promise<Statement[]> {
    const { store, clock } = this.#services;
    const now = clock();
    const [organization] = await store.query<{ name: string }>(
      "select name from organizations where id = ? and deleted_at is null",
      [organizationId],
    );
    if (organization === undefined) return [];
    const administrators = await listAdministratorOrganizations(store);
    const record = (organizationIds: readonly string[], key: string, whose: string) =>
      recordProblem(
        organizationIds,
        {
          name: "unhandled",
          stage: key,
          severity: "error",
          message: [
            ...describe(whose),
            "The log has the error. Please report it; an upgrade can solve it.",
          ].join(" "),
          until: now + reportedMs,
        },
        now,
      );
    return [
      ...record([organizationId], stage, ""),
      ...record(
        administrators.filter((id) => id !== organizationId),
        `${organizationId} ${stage}`,
        ` of the organization “${organization.name}”`,
      ),
    ];
  }
}
