/** Decides which contact methods of a person are used, and checks verification codes. */
import { minuteMs } from "../../core/time/clock.ts";
import { sha256 } from "../../core/ids.ts";
import type { Priority } from "../../core/statuses.ts";

/** Validity of a code. */
export const codeLifetimeMs = 15 * minuteMs;
/** Wrong codes after which a new one must be sent. */
export const codeAttempts = 5;

type StoredCode = {
  id: string;
  codeHash: string | null;
  codeExpiresAt: number | null;
  codeAttempts: number | null;
};

export const hashCode = (id: string, code: string) => sha256(`${id} ${code}`);

type CodeVerdict = "right" | "wrong" | "expired";

/** Checks a code. Returns `expired` if no code was sent to the person, or after too many wrong codes. */
export function checkCode(stored: StoredCode, code: string, now: number): CodeVerdict {
  const { id, codeHash, codeExpiresAt, codeAttempts: wrong } = stored;
  const isOpen = codeHash !== null && codeExpiresAt !== null && (wrong ?? 0) < codeAttempts;
  // A code that is valid for longer was sent while the clock was ahead.
  if (!isOpen || codeExpiresAt <= now || codeExpiresAt > now + codeLifetimeMs) return "expired";
  return hashCode(id, code) === codeHash ? "right" : "wrong";
}

export type UsableMethod = {
  id: string;
  enabled: boolean;
  verifiedAt: string | null;
  afterMinutes: number | null;
  criticalAfterMinutes: number | null;
};

/** Lists the methods that a page uses, each with its minutes, the first one first. Only verified ones are used. */
export function planContactMethods<M extends UsableMethod>(
  methods: readonly M[],
  priority: Priority,
): { method: M; afterMinutes: number }[] {
  return methods
    .filter(({ enabled, verifiedAt }) => enabled && verifiedAt !== null)
    .flatMap((method) => {
      const { afterMinutes, criticalAfterMinutes } = method;
      const minutes = priority === "critical" ? criticalAfterMinutes : afterMinutes;
      return minutes === null ? [] : [{ method, afterMinutes: minutes }];
    })
    .toSorted((a, b) => a.afterMinutes - b.afterMinutes);
}
