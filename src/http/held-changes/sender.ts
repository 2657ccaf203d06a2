/** Sends held changes when their hold is over: runs the stored request exactly once, even after a restart. */
import { z } from "zod";
import { AppError } from "../../core/errors.ts";
import { type Clock, formatTimestamp } from "../../core/time/clock.ts";
import { parse } from "../../core/validation.ts";
import type { LoggedEvent } from "../../events/catalog.ts";
import { findLastSeq } from "../../events/log.ts";
import type { EventReader, Subscription } from "../../events/reader.ts";
import { buildScope, type Scope, type ScopeServices } from "../../events/scope.ts";
import { findPrincipal, isPermitted } from "../access/authentication.ts";
import { authorizeLimited } from "../access/limited-access.ts";
import type { Principal } from "../access/session.ts";
import type { Endpoint } from "../endpoint.ts";
import type { Route } from "../openapi.ts";
import type { RequestServices } from "../services.ts";
import { computeWaitMs } from "./rules.ts";
import { HoldQuery } from "./schema.ts";
import { buildHeldChangeEvent } from "./service.ts";
import {
  expectVersion,
  findHeldChange,
  guardHeldChangeState,
  type HeldRow,
  listWaitingChanges,
  parseHeldRequest,
  settleHeldChange,
} from "./store.ts";

/** Maximum sleep while changes wait, and pause after a failure, in milliseconds. Another process can end a hold. */
const maxSleepMs = 1_000;

type Dependencies = ScopeServices &
  Pick<RequestServices, "keys" | "sessions" | "log"> & {
    events: EventReader;
    /** Lists all routes of the API. */
    listRoutes: () => Promise<readonly Route[]>;
    monotonic?: Clock;
  };

/** Another process sent the change, or a person undid it. */
class Settled extends AppError {
  constructor() {
    super("CONFLICT", "This change was already sent or undone.");
  }
}

/** Every node runs one. A guard in the write decides which of them sends a change. */
export class HeldChangeSender {
  readonly #dependencies: Dependencies;
  readonly #monotonic: Clock;
  /** Monotonic due times of the waiting changes: setting the clock neither shortens nor extends a hold. */
  #dueTimes = new Map<string, number>();
  #subscription: Subscription | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pending: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#monotonic = dependencies.monotonic ?? (() => performance.now());
  }

  async start() {
    const { events, store } = this.#dependencies;
    this.#subscription = events.subscribe("held-changes", await findLastSeq(store), (added) => {
      if (added.some(isHoldEvent)) void this.#tick();
    });
    await this.#tick();
  }

  async stop() {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#subscription?.stop();
    await this.#pending;
  }

  /** Sends all due changes once. Returns the milliseconds until the next attempt; null if no change waits. */
  async runOnce(): Promise<number | null> {
    const { log } = this.#dependencies;
    let isTroubled = false;
    for (const { row, waitMs } of await this.#listWaits()) {
      if (waitMs > 0) continue;
      await this.#send(row).catch((error: unknown) => {
        isTroubled = true;
        log.error("a held change can't be stored", { cause: String(error) });
      });
    }
    if (isTroubled) return maxSleepMs;
    const waits = await this.#listWaits();
    return waits.length === 0 ? null : Math.min(...waits.map(({ waitMs }) => waitMs));
  }

  async #listWaits() {
    const { store, clock } = this.#dependencies;
    const now = this.#monotonic();
    const rows = (await listWaitingChanges(store)).map((row) => {
      const key = `${row.id} ${row.dueAt}`;
      const dueTime = this.#dueTimes.get(key) ?? now + computeWaitMs(row, clock());
      return { row, key, dueTime, waitMs: Math.max(0, dueTime - now) };
    });
    this.#dueTimes = new Map(rows.map(({ key, dueTime }) => [key, dueTime]));
    return rows;
  }

  #tick(): Promise<void> {
    this.#pending = this.#pending.then(async () => {
      clearTimeout(this.#timer);
      if (this.#isStopped) return;
      const wait = await this.runOnce().catch((error: unknown) => {
        this.#dependencies.log.error("held changes can't be sent", { cause: String(error) });
        return maxSleepMs;
      });
      if (wait === null) return;
      this.#timer = setTimeout(() => void this.#tick(), Math.min(wait, maxSleepMs));
    });
    return this.#pending;
  }

  /** Throws if the change can't be stored now, so that it is tried again. */
  async #send({ organizationId, id }: HeldRow) {
    // Read again, because an earlier change to the same record can have changed its If-Match.
    const row = await findHeldChange({ store: this.#dependencies.store, organizationId }, id);
    if (row === null) return;
    try {
      await this.#run(row);
    } catch (error) {
      if (error instanceof Settled) return;
      if (!(error instanceof AppError) || error.code === "UNAVAILABLE") throw error;
      await this.#fail(row, error.message);
    }
  }

  async #findEndpoint(operation: string): Promise<Endpoint | undefined> {
    const routes = await this.#dependencies.listRoutes();
    return routes
      .map(({ hooks: { detail } }) => detail?.endpoint)
      .find((endpoint) => endpoint?.query === HoldQuery && endpoint.name === operation);
  }

  async #run(row: HeldRow) {
    const { clock } = this.#dependencies;
    const endpoint = await this.#findEndpoint(row.operation);
    if (endpoint === undefined) throw new AppError("NOT_FOUND", "This operation does not exist.");
    // Only API keys and people send requests.
    const actor = {
      type: row.actorType,
      id: row.actorId,
      name: row.actorName,
    } as Principal["actor"];
    const principal = await findPrincipal(this.#dependencies, row.organizationId, actor);
    if (principal === null || !isPermitted(principal, "write", endpoint.role))
      throw new AppError("FORBIDDEN", "Its author no longer has the right to make this change.");
    const { params, ifMatch, tool } = parseHeldRequest(row);
    await authorizeLimited(
      this.#dependencies.store,
      principal,
      endpoint,
      params as Record<string, string>,
    );
    const settle = (response: object) => {
      const now = clock();
      const { id = null, version } = response as { id?: string; version?: number };
      const outcome = { subjectId: id, at: formatTimestamp(now), error: null };
      return [
        guardHeldChangeState(row, () => new Settled()),
        settleHeldChange(row, outcome),
        ...expectVersion(row, ifMatch, version),
        buildHeldChangeEvent(row, "sent", now),
      ];
    };
    const scope: Scope = {
      ...buildScope(this.#dependencies, row.organizationId, actor),
      groupIds: principal.groupIds,
      requestId: row.requestId,
      tool,
      ifMatch,
      remember: settle,
    };
    const { body = z.unknown() } = endpoint;
    await endpoint.useCase({
      scope,
      params,
      query: {},
      body: parse(body, JSON.parse(row.change)),
    });
  }

  async #fail(row: HeldRow, error: string) {
    const { store, clock, log } = this.#dependencies;
    log.warn("a held change could not be sent", { operation: row.operation, cause: error });
    const now = clock();
    await store
      .atomic([
        guardHeldChangeState(row, () => new Settled()),
        settleHeldChange(row, { subjectId: null, at: formatTimestamp(now), error }),
        buildHeldChangeEvent(row, "failed", now),
      ])
      .catch((failure: unknown) => {
        if (!(failure instanceof Settled)) throw failure;
      });
  }
}

const isHoldEvent = ({ type }: LoggedEvent) =>
  type === "held-change.held" || type === "held-change.hurried";
