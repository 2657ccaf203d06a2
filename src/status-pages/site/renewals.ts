/** A page is rendered anew this often while it changes all the time. */
export const renewMs = 1_000;
/** Renewals that need not wait: after a quiet time, so many changes show at once. */
const burst = 3;

/** Renewals that were left at a moment of a monotonic clock; one is added each second. */
export type Renewals = { left: number; at: number };

const leftAt = ({ left, at }: Renewals, now: number) =>
  Math.min(burst, left + (now - at) / renewMs);

/** Whether something that has changed may be rendered again now. */
export const canRenew = (renewals: Renewals, now: number) => leftAt(renewals, now) >= 1;

/** All renewals, for something that is rendered for the first time. */
export const allRenewals = (now: number): Renewals => ({ left: burst, at: now });

/** Spends one renewal. */
export const afterRenewal = (renewals: Renewals, now: number): Renewals => ({
  left: Math.max(0, leftAt(renewals, now) - 1),
  at: now,
});

/** Whether nothing of it is spent any more. */
export const isFull = (renewals: Renewals, now: number) => leftAt(renewals, now) === burst;
