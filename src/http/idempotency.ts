import { and, eq, gt, sql } from "drizzle-orm";
import { timestamp } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { sha256 } from "../core/ids.ts";
import { invalid } from "../core/validation.ts";
import { type Sweeping, sweepRows } from "../database/portions.ts";
import { must, perStore, type Statement } from "../database/store.ts";
import { idempotentAnswers as responses } from "../database/tables/events.ts";
import type { ApiResponse } from "./api-response.ts";
import type { Principal } from "./session.ts";
import type { RequestContext } from "./request-context.ts";

/** Responses are kept 24 hours by API key or person, and route. */
const keptMs = 24 * 3600 * 1000;

/** Keys of requests that this process answers now; the write itself holds them apart from other processes. */
const inFlightOn = perStore(() => new Set<string>());

/** The key of this request; null when it has none. Throws VALIDATION_ERROR. */
export function idempotencyKeyOf(request: Request): string | null {
  const key = request.headers.get("idempotency-key");
  if (key !== null && !/^[\x21-\x7e]{1,255}$/.test(key))
    throw invalid("Idempotency-Key", "must have 1 to 255 visible ASCII characters");
  return key;
}

/**
 * Does a POST at most once under its key: the response is kept in the same write as what was done, and
 * given again to whoever repeats the request. Throws CONFLICT while the first is in flight and
 * IDEMPOTENCY_KEY_REUSED when the body differs from the first one's.
 */
export async function onlyOnce(
  { services, requestId }: RequestContext,
  { organizationId, actor }: Principal,
  route: string,
  idempotencyKey: string,
  body: Uint8Array,
  responseOf: (data: object) => ApiResponse,
  use: (remember: (data: object) => Statement[]) => Promise<ApiResponse>,
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
    const fresh = and(byKey, gt(responses.createdAt, timestamp(now - keptMs)));
    const [kept] = await store.db.select().from(responses).where(fresh);
    if (kept !== undefined) {
      if (kept.bodyHash !== bodyHash) throw reused();
      return replay({ ...kept, body: vault.open(kept.body, claim) }, requestId);
    }
    return await use((data) => {
      const { status, location, etag, body } = responseOf(data);
      return [
        must(sql`not exists (select 1 from ${responses} where ${fresh})`, busy),
        store.db.delete(responses).where(byKey),
        store.db.insert(responses).values({
          organizationId,
          actorId: actor.id,
          route,
          idempotencyKey,
          bodyHash,
          status,
          location,
          etag,
          // Sealed, because a response may hold what is sealed elsewhere, such as a push URL.
          body: vault.seal(body, claim),
          createdAt: timestamp(now),
        }),
      ];
    });
  } finally {
    inFlight.delete(claim);
  }
}

function replay({ status, location, etag, body }: ApiResponse, requestId: string): Response {
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
