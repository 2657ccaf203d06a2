import { and, eq, gt, lt, sql } from "drizzle-orm";
import { timestamp } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { sha256 } from "../core/ids.ts";
import { invalid } from "../core/validation.ts";
import { must, type Statement } from "../database/store.ts";
import { idempotentAnswers as answers } from "../database/tables/events.ts";
import type { Answer } from "./answer.ts";
import type { Call, Principal } from "./call.ts";

/** Answers are kept 24 hours by API key or person, and route. */
const keptMs = 24 * 3600 * 1000;

const inFlight = new Set<string>();

/** The key of this request; null when it has none. Throws VALIDATION_ERROR. */
export function idempotencyKeyOf(request: Request): string | null {
  const key = request.headers.get("idempotency-key");
  if (key !== null && !/^[\x21-\x7e]{1,255}$/.test(key))
    throw invalid("Idempotency-Key", "must have 1 to 255 visible ASCII characters");
  return key;
}

/**
 * Does a POST at most once under its key: the answer is kept in the same write as what was done, and
 * given again to whoever repeats the request. Throws CONFLICT while the first is in flight and
 * IDEMPOTENCY_KEY_REUSED when the body differs from the first one's.
 */
export async function onlyOnce(
  { appliance, requestId }: Call,
  { organizationId, actor }: Principal,
  route: string,
  idempotencyKey: string,
  body: Uint8Array,
  answerOf: (data: object) => Answer,
  use: (remember: (data: object) => Statement[]) => Promise<Answer>,
): Promise<Answer | Response> {
  const { store, vault } = appliance;
  const now = appliance.clock();
  const claim = JSON.stringify([organizationId, actor.id, route, idempotencyKey]);
  if (inFlight.has(claim)) throw busy();
  inFlight.add(claim);
  try {
    const bodyHash = sha256(body);
    const place = and(
      eq(answers.organizationId, organizationId),
      eq(answers.actorId, actor.id),
      eq(answers.route, route),
      eq(answers.idempotencyKey, idempotencyKey),
    );
    const fresh = and(place, gt(answers.createdAt, timestamp(now - keptMs)));
    const [kept] = await store.db.select().from(answers).where(fresh);
    if (kept !== undefined) {
      if (kept.bodyHash !== bodyHash) throw reused();
      return replay({ ...kept, body: vault.open(kept.body, claim) }, requestId);
    }
    return await use((data) => {
      const { status, location, etag, body } = answerOf(data);
      return [
        must(sql`not exists (select 1 from ${answers} where ${fresh})`, busy),
        store.db.delete(answers).where(place),
        store.db.insert(answers).values({
          organizationId,
          actorId: actor.id,
          route,
          idempotencyKey,
          bodyHash,
          status,
          location,
          etag,
          // Sealed, because an answer may hold what is sealed elsewhere, such as a push URL.
          body: vault.seal(body, claim),
          createdAt: timestamp(now),
        }),
      ];
    });
  } finally {
    inFlight.delete(claim);
  }
}

function replay({ status, location, etag, body }: Answer, requestId: string): Response {
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

/** The statement that forgets up to 10,000 answers older than 24 hours; more would hold up the event loop. */
export function forgetOldAnswers(now: number): Statement {
  return sql`delete from ${answers} where rowid in (
    select rowid from ${answers} where ${lt(answers.createdAt, timestamp(now - keptMs))} limit 10000)`;
}
