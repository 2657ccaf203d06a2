import { and, between, eq, ne, or, sql } from "drizzle-orm";
import { timestamp } from "../core/time/clock.ts";
import { AppError } from "../core/errors.ts";
import { sha256 } from "../core/ids.ts";
import { requestBounds } from "../core/limits.ts";
import { invalid } from "../core/validation.ts";
import { mustHaveRoom, usageOf } from "../database/file/usage.ts";
import { type Sweeping, sweepRows } from "../database/backup/portions.ts";
import { must, perStore, type Statement } from "../database/store.ts";
import { idempotentAnswers as responses } from "../database/tables/events.ts";
import type { ApiResponse } from "./responses/api-response.ts";
import type { Principal } from "./access/session.ts";
import { pathOf } from "./request.ts";
import type { RequestContext } from "./request-context.ts";

/** Responses are stored for 24 hours by API key or person, and route. */
const keptMs = 24 * 3600 * 1000;
/** After this time a claim counts as left by a process that died: the request can be repeated. */
const claimedMs = 5 * 60_000;
/** The status of a claim: the request is being answered. */
const claimed = 0;

/** Keys of requests that this process answers now; the write itself holds them apart from other processes. */
const inFlightOn = perStore(() => new Set<string>());

/** What adds something each time it is done; a PUT or DELETE that is repeated does not. */
export const takesIdempotencyKey = (method: string) => method === "POST" || method === "PATCH";

/** What a key stands for beside its caller: the path, and the method where it is not the one that most keys are for. */
export const routeOf = (request: Request) =>
  request.method === "POST" ? pathOf(request) : `${request.method} ${pathOf(request)}`;

/** The key of this request; null when it has none. Throws VALIDATION_ERROR. */
export function idempotencyKeyOf(request: Request): string | null {
  const key = request.headers.get("idempotency-key");
  if (key !== null && !/^[\x21-\x7e]{1,255}$/.test(key))
    throw invalid("Idempotency-Key", "must have 1 to 255 visible ASCII characters");
  return key;
}

type Asked = {
  method: string;
  route: string;
  idempotencyKey: string;
  body: Uint8Array;
  /** Whether the key is claimed before anything is done. */
  isClaimed: boolean;
};

/**
 * Does a request at most once under its key: the response is kept in the same write as what was done, and
 * given again to whoever repeats the request. What no write can undo is claimed before, so that of several
 * machines one does it. Throws CONFLICT while the first is in flight and IDEMPOTENCY_KEY_REUSED when the
 * body differs from the first one's.
 */
export async function onlyOnce(
  { services, requestId, resources }: RequestContext,
  { organizationId, actor }: Principal,
  { method, route, idempotencyKey, body, isClaimed }: Asked,
  responseOf: (data: object) => ApiResponse,
  use: (remember: ((data: object) => Statement[]) | null) => Promise<ApiResponse>,
): Promise<ApiResponse | Response> {
  const { store, vault } = services;
  const now = services.clock();
  const claim = JSON.stringify([organizationId, actor.id, route, idempotencyKey]);
  const inFlight = inFlightOn(store);
  if (inFlight.has(claim)) throw busy();
  inFlight.add(claim);
  try {
    const bodyHash = sha256(body);
    const byKey = and(
      eq(responses.organizationId, organizationId),
      eq(responses.actorId, actor.id),
      eq(responses.route, route),
      eq(responses.idempotencyKey, idempotencyKey),
    );
    // One that lies ahead was stored before the clock was set back: it lives no longer for that.
    const isWithin = (ms: number) =>
      between(responses.createdAt, timestamp(now - ms + 1), timestamp(now + ms));
    const fresh = and(
      byKey,
      isWithin(keptMs),
      or(ne(responses.status, claimed), isWithin(claimedMs)),
    );
    const [kept] = await store.db.select().from(responses).where(fresh);
    if (kept !== undefined) {
      if (kept.bodyHash !== bodyHash) throw reused();
      if (kept.status === claimed) throw busy();
      if (kept.body !== "")
        return replay({ ...kept, body: vault.open(kept.body, claim) }, requestId);
      const path = resources.find(method, kept.location);
      if (path === null) throw new Error("A response without a body has no resource to read.");
      return replayed(await resources.read(path), kept);
    }
    const used = await usageOf(store, organizationId, table);
    const isFree = must(sql`not exists (select 1 from ${responses} where ${fresh})`, busy);
    const free = store.db.delete(responses).where(byKey);
    const keep = (response: StoredResponse) => [
      free,
      store.db.insert(responses).values({
        organizationId,
        actorId: actor.id,
        route,
        idempotencyKey,
        bodyHash,
        ...response,
        createdAt: timestamp(now),
      }),
    ];
    const stored = ({ status, location, etag, body }: ApiResponse): StoredResponse => {
      const bytes = typeof body === "string" ? Buffer.byteLength(body) : Infinity;
      const hasRoom = bytes <= maxBody && used.bytes + bytes <= maxBytes;
      const isLeftOut = !hasRoom && resources.find(method, location) !== null;
      if (isLeftOut || typeof body !== "string") return { status, location, etag, body: "" };
      if (used.bytes > maxBytes) throw tooMany();
      // Sealed, because a response can contain a value that is sealed elsewhere, such as a push URL.
      return { status, location, etag, body: vault.seal(body, claim) };
    };
    const hasRoom = mustHaveRoom(organizationId, table, { rows: maxRows }, tooMany);
    if (isClaimed) {
      const pending = { status: claimed, location: null, etag: "", body: "" };
      await store.atomic([isFree, ...keep(pending), hasRoom]);
    }
    let isKept = false;
    const remember = (data: object) => {
      isKept = true;
      return [isFree, ...keep(stored(responseOf(data))), hasRoom];
    };
    const response = await use(isClaimed ? null : remember).catch(async (error: unknown) => {
      if (isClaimed) await store.atomic([free]).catch(() => {});
      throw error;
    });
    const record = isKept ? [] : keep(stored(response));
    if (!isKept) await store.atomic(isClaimed ? record : [isFree, ...record, hasRoom]);
    return response;
  } finally {
    inFlight.delete(claim);
  }
}

type StoredResponse = Pick<ApiResponse, "status" | "location" | "etag"> & { body: string };

const table = "idempotent_answers";
const maxBody = requestBounds.idempotentBody.value;
const maxRows = requestBounds.idempotentResponses.value;
const maxBytes = requestBounds.idempotentBodies.value;

/** Without room for another key a request is rejected: a key that is dropped could be executed twice. */
const tooMany = () =>
  new AppError(
    "RATE_LIMITED",
    `The organization sent more than ${maxRows} requests with an Idempotency-Key within 24 hours, or their responses are too long. Send fewer, or without a key where repeating is harmless.`,
    { headers: { "Retry-After": "3600" } },
  );

/** The resource as it is now, in place of a response whose body was not stored. */
function replayed(read: Response, { status, location }: StoredResponse): Response {
  const headers = new Headers(read.headers);
  headers.set("Idempotency-Replayed", "true");
  if (location !== null) headers.set("Location", location);
  return new Response(read.body, { status: read.ok ? status : read.status, headers });
}

function replay({ status, location, etag, body }: StoredResponse, requestId: string): Response {
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

function reused() {
  return new AppError(
    "IDEMPOTENCY_KEY_REUSED",
    "This Idempotency-Key was already used with another body. Use a new key.",
  );
}

function busy() {
  return new AppError("CONFLICT", "A request with this Idempotency-Key is still being answered.", {
    headers: { "Retry-After": "1" },
  });
}

/** Removes responses that are no longer replayed. */
export function sweepResponses(sweeping: Sweeping): Promise<void> {
  const before = timestamp(sweeping.now - keptMs);
  return sweepRows(sweeping, "idempotent_answers", "created_at < ?", [before]);
}
