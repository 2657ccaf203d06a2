/** Executes a request with an Idempotency-Key at most once, and replays its stored response. */
import { and, between, eq, ne, or, sql } from "drizzle-orm";
import { formatTimestamp, minuteMs } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { sha256 } from "../core/ids.ts";
import { requestBounds } from "../core/limits.ts";
import { invalidFieldError } from "../core/validation.ts";
import { guardRoom, findUsage } from "../database/file/usage.ts";
import { type SweepContext, sweepRows } from "../database/backup/sweeping.ts";
import { guard, cachePerStore, type Statement } from "../database/store.ts";
import { idempotentAnswers as responses } from "../database/tables/events.ts";
import type { ApiResponse } from "./responses/api-response.ts";
import { formatLimit } from "./access/limited-access.ts";
import type { Principal } from "./access/session.ts";
import { pathOf } from "./request.ts";
import type { RequestContext } from "./request-context.ts";

/** How long responses are stored, by API key or person, and route. */
const storedMs = 24 * 3600 * 1000;
/** Age from which a claim counts as abandoned by a dead process. The request can then be repeated. */
const claimedMs = 5 * minuteMs;
/** Status of a claim, before its response is stored. */
const claimedStatus = 0;

/** Claims of requests in flight in this process. For other processes, guards in the write prevent duplicates. */
const getInFlightKeys = cachePerStore(() => new Set<string>());

/** Whether a repeated request of this method would have another effect. A repeated PUT or DELETE would not, nor does a read. */
export const acceptsIdempotencyKey = (method: string, access: string) =>
  (method === "POST" || method === "PATCH") && access !== "read";

/**
 * Returns the path of the request, which is part of the claim. For methods other than POST, it includes the method.
 */
export const routeOf = (request: Request) =>
  request.method === "POST" ? pathOf(request) : `${request.method} ${pathOf(request)}`;

/** Returns the Idempotency-Key of a request; null if there is none. Throws VALIDATION_ERROR. */
export function parseIdempotencyKey(request: Request): string | null {
  const key = request.headers.get("idempotency-key");
  if (key !== null && !/^[\x21-\x7e]{1,255}$/.test(key))
    throw invalidFieldError("Idempotency-Key", "must have 1 to 255 visible ASCII characters");
  return key;
}

type IdempotentRequest = {
  method: string;
  route: string;
  idempotencyKey: string;
  /** From the question mark on; empty if there is none. */
  query: string;
  body: Uint8Array;
  /** Whether the key is claimed before the use case runs. */
  isClaimed: boolean;
};

/** Runs a use case. `remember` returns the statements that store its response, which belong to its write. */
type UseCase = (remember: ((data: object) => Statement[]) | null) => Promise<ApiResponse>;

/**
 * Executes a request at most once per key. The response is stored in the same write as the change, and replayed for a
 * repeated request. A use case with effects outside the database claims the key first, so that only one node executes
 * it. Throws CONFLICT while the first request is in flight, and IDEMPOTENCY_KEY_REUSED for a different body or query.
 */
export async function executeOnce(
  context: RequestContext,
  principal: Principal,
  keyed: IdempotentRequest,
  responseOf: (data: object) => ApiResponse,
  use: UseCase,
): Promise<ApiResponse | Response> {
  const request = new KeyedRequest(context, principal, keyed, responseOf);
  const inFlight = getInFlightKeys(context.services.store);
  if (inFlight.has(request.claim)) throw busyError();
  inFlight.add(request.claim);
  try {
    const stored = await request.findStored();
    return await (stored === null ? request.execute(use) : request.replayStored(stored));
  } finally {
    inFlight.delete(request.claim);
  }
}

class KeyedRequest {
  /** Unique ID of the stored response: organization, caller, route and key. */
  readonly claim: string;
  readonly #context: RequestContext;
  readonly #key: Pick<Row, "organizationId" | "actorId" | "route" | "idempotencyKey">;
  readonly #keyed: IdempotentRequest;
  readonly #bodyHash: string;
  readonly #now: number;
  readonly #responseOf: (data: object) => ApiResponse;

  constructor(
    context: RequestContext,
    principal: Principal,
    keyed: IdempotentRequest,
    responseOf: (data: object) => ApiResponse,
  ) {
    const { organizationId, actor } = principal;
    const { route, idempotencyKey } = keyed;
    this.claim = JSON.stringify([organizationId, actor.id, route, idempotencyKey]);
    this.#context = context;
    this.#key = { organizationId, actorId: actor.id, route, idempotencyKey };
    this.#keyed = keyed;
    // A response is not replayed after the limit of the caller has changed, because it can show other groups.
    const others = formatLimit(principal) + keyed.query;
    this.#bodyHash = others === "" ? sha256(keyed.body) : sha256(others + sha256(keyed.body));
    this.#now = context.services.clock();
    this.#responseOf = responseOf;
  }

  get #store() {
    return this.#context.services.store;
  }

  #buildKeyCondition() {
    return and(
      eq(responses.organizationId, this.#key.organizationId),
      eq(responses.actorId, this.#key.actorId),
      eq(responses.route, this.#key.route),
      eq(responses.idempotencyKey, this.#key.idempotencyKey),
    );
  }

  /** Condition for a stored response or a claim that has not expired. */
  #buildFreshCondition() {
    // A response from the future was stored before the clock was set back. It expires as if it were new.
    const isWithin = (ms: number) =>
      between(
        responses.createdAt,
        formatTimestamp(this.#now - ms + 1),
        formatTimestamp(this.#now + ms),
      );
    return and(
      this.#buildKeyCondition(),
      isWithin(storedMs),
      or(ne(responses.status, claimedStatus), isWithin(claimedMs)),
    );
  }

  async findStored(): Promise<Row | null> {
    const [row] = await this.#store.db.select().from(responses).where(this.#buildFreshCondition());
    return row ?? null;
  }

  async replayStored(stored: Row): Promise<Response> {
    const { services, requestId, resources } = this.#context;
    if (stored.bodyHash !== this.#bodyHash) throw keyReusedError();
    if (stored.status === claimedStatus) throw busyError();
    if (stored.body !== "")
      return buildStoredResponse(
        { ...stored, body: services.vault.open(stored.body, this.claim) },
        requestId,
      );
    const path = resources.find(this.#keyed.method, stored.location);
    if (path === null) throw new Error("A response without a body has no resource to read.");
    return buildReplayedResponse(await resources.read(path), stored);
  }

  async execute(use: UseCase): Promise<ApiResponse> {
    const store = this.#store;
    const { isClaimed } = this.#keyed;
    const usage = await findUsage(store, this.#key.organizationId, tableName);
    const isFree = guard(
      sql`not exists (select 1 from ${responses} where ${this.#buildFreshCondition()})`,
      busyError,
    );
    const hasRoom = guardRoom(this.#key.organizationId, tableName, { rows: maxRows }, tooManyError);
    const record = (response: ApiResponse) =>
      this.#replace(this.#prepareResponse(response, usage.bytes));
    if (isClaimed) {
      const pending = { status: claimedStatus, location: null, etag: "", body: "" };
      await store.atomic([isFree, ...this.#replace(pending), hasRoom]);
    }
    let isRemembered = false;
    const remember = (data: object) => {
      isRemembered = true;
      return [isFree, ...record(this.#responseOf(data)), hasRoom];
    };
    const response = await use(isClaimed ? null : remember).catch(async (error: unknown) => {
      if (isClaimed) await store.atomic([this.#remove()]).catch(() => {});
      throw error;
    });
    if (isRemembered) return response;
    await store.atomic(isClaimed ? record(response) : [isFree, ...record(response), hasRoom]);
    return response;
  }

  /** Prepares a response for storage. Omits a body that is too long if the resource can be read again. */
  #prepareResponse(
    { status, location, etag, body }: ApiResponse,
    usedBytes: number,
  ): StoredResponse {
    const { services, resources } = this.#context;
    const bytes = typeof body === "string" ? Buffer.byteLength(body) : Infinity;
    const hasRoom = bytes <= maxBodyBytes && usedBytes + bytes <= maxBytes;
    const isReadable = () => resources.find(this.#keyed.method, location) !== null;
    if (typeof body !== "string" || (!hasRoom && isReadable()))
      return { status, location, etag, body: "" };
    if (usedBytes > maxBytes) throw tooManyError();
    // Encrypted, because a response can contain secrets, such as the URL of a push monitor.
    return { status, location, etag, body: services.vault.seal(body, this.claim) };
  }

  #remove(): Statement {
    return this.#store.db.delete(responses).where(this.#buildKeyCondition());
  }

  #replace(response: StoredResponse): Statement[] {
    const createdAt = formatTimestamp(this.#now);
    const row = { ...this.#key, ...response, bodyHash: this.#bodyHash, createdAt };
    return [this.#remove(), this.#store.db.insert(responses).values(row)];
  }
}

type Row = typeof responses.$inferSelect;
type StoredResponse = Pick<ApiResponse, "status" | "location" | "etag"> & { body: string };

const tableName = "idempotent_answers";
const maxBodyBytes = requestBounds.idempotentBody.value;
const maxRows = requestBounds.idempotentResponses.value;
const maxBytes = requestBounds.idempotentBodies.value;

/** Rejects a request if there is no space for its key. Dropping another key could execute that request twice. */
const tooManyError = () =>
  new AppError(
    "RATE_LIMITED",
    `The organization sent more than ${maxRows} requests with an Idempotency-Key within 24 hours, or their responses are too long. Send fewer, or without a key where repeating is harmless.`,
    { headers: { "Retry-After": "3600" } },
  );

/** Replays a response without a stored body, by reading the resource again. */
function buildReplayedResponse(read: Response, { status, location }: StoredResponse): Response {
  const headers = new Headers(read.headers);
  headers.set("Idempotency-Replayed", "true");
  if (location !== null) headers.set("Location", location);
  return new Response(read.body, { status: read.ok ? status : read.status, headers });
}

function buildStoredResponse(
  { status, location, etag, body }: StoredResponse,
  requestId: string,
): Response {
  return new Response(body, {
    status,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-cache",
      "Idempotency-Replayed": "true",
      "X-Request-Id": requestId,
      ETag: etag,
      ...(location !== null && { Location: location }),
    },
  });
}

function keyReusedError() {
  return new AppError(
    "IDEMPOTENCY_KEY_REUSED",
    "This Idempotency-Key was already used with another body, other parameters or other rights. Use a new key.",
  );
}

function busyError() {
  return new AppError("CONFLICT", "A request with this Idempotency-Key is still in progress.", {
    headers: { "Retry-After": "1" },
  });
}

/** Removes expired responses. */
export function sweepResponses(context: SweepContext): Promise<void> {
  const before = formatTimestamp(context.now - storedMs);
  return sweepRows(context, "idempotent_answers", "created_at < ?", [before]);
}
