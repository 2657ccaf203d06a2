import { and, eq, gt, lt, sql } from "drizzle-orm";
import { timestamp } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { sha256 } from "../base/ids.ts";
import { invalid } from "../base/validation.ts";
import { must, type Statement, type Store } from "../database/store.ts";
import { idempotentAnswers as answers } from "../database/tables.ts";
import type { Principal } from "./call.ts";

/** Answers are kept 24 hours by API key and route. */
const keptMs = 24 * 3600 * 1000;

export type StoredAnswer = { status: number; location: string | null; body: string };

/** One POST under an Idempotency-Key. */
export type Attempt = {
  /** The statement that keeps the answer, for the same write as what was done. */
  keep(answer: StoredAnswer): Statement[];
  /** Another request may use the key from now on. */
  end(): void;
};

const inFlight = new Set<string>();

/** The key of this request; null when it has none. Throws VALIDATION_ERROR. */
export function idempotencyKeyOf(request: Request): string | null {
  const key = request.headers.get("idempotency-key");
  if (key !== null && !/^[\x21-\x7e]{1,255}$/.test(key))
    throw invalid("Idempotency-Key", "must have 1 to 255 visible ASCII characters");
  return key;
}

/**
 * The answer this key already got, or a new attempt. Throws CONFLICT while the first request is
 * still in flight and IDEMPOTENCY_KEY_REUSED when the body differs from the first one's.
 */
export async function attemptOf(
  store: Store,
  now: number,
  { organizationId, keyId }: Principal,
  route: string,
  idempotencyKey: string,
  bodyBytes: Uint8Array,
): Promise<StoredAnswer | Attempt> {
  const claim = JSON.stringify([organizationId, keyId, route, idempotencyKey]);
  if (inFlight.has(claim)) throw busy();
  inFlight.add(claim);
  const bodyHash = sha256(bodyBytes);
  const place = and(
    eq(answers.organizationId, organizationId),
    eq(answers.apiKeyId, keyId),
    eq(answers.route, route),
    eq(answers.idempotencyKey, idempotencyKey),
  );
  const fresh = and(place, gt(answers.createdAt, timestamp(now - keptMs)));
  try {
    const [stored] = await store.db.select().from(answers).where(fresh);
    if (stored !== undefined) {
      if (stored.bodyHash !== bodyHash)
        throw new AppError(
          "IDEMPOTENCY_KEY_REUSED",
          "This Idempotency-Key was already used with another body. Use a new key.",
        );
      inFlight.delete(claim);
      return stored;
    }
  } catch (error) {
    inFlight.delete(claim);
    throw error;
  }
  return {
    keep: (answer) => [
      must(sql`not exists (select 1 from ${answers} where ${fresh})`, busy()),
      store.db.delete(answers).where(place),
      store.db.insert(answers).values({
        organizationId,
        apiKeyId: keyId,
        route,
        idempotencyKey,
        bodyHash,
        ...answer,
        createdAt: timestamp(now),
      }),
    ],
    end: () => inFlight.delete(claim),
  };
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
