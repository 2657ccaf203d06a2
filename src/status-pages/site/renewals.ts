/** Minimum time between two renders of a page that changes all the time. */
export const renewMs = 1_000;
/** Maximum saved renewals: after a quiet time, this many changes appear immediately. */
const burst = 3;

/** Renewals left at a time of the monotonic clock. Each second adds one. */
export type Renewals = { left: number; at: number };

const countLeft = ({ left, at }: Renewals, now: number) =>
  Math.min(burst, left + (now - at) / renewMs);

/** Whether changed content may be rendered again now. */
export const canRenew = (renewals: Renewals, now: number) => countLeft(renewals, now) >= 1;

/** Returns all renewals, for content that is rendered for the first time. */
export const createRenewals = (now: number): Renewals => ({ left: burst, at: now });

/** Spends one renewal. */
export const spendRenewal = (renewals: Renewals, now: number): Renewals => ({
  left: Math.max(0, countLeft(renewals, now) - 1),
  at: now,
});

/** Whether all renewals are available again. */
export const isFull = (renewals: Renewals, now: number) => countLeft(renewals, now) === burst;
