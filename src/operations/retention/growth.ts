/** Bytes on disk of one row with its indexes, by kind of data. Measured by `bun run bench year`. */
export const rowBytes = {
  result: 24,
  hour: 100,
  day: 140,
  removedMonitor: 10,
  deletedRecord: 3_000,
  stateChange: 385,
  event: 250,
  auditEntry: 500,
  delivery: 1_670,
  sourceRequest: 2_000,
  notice: 700,
  idempotentAnswer: 1_200,
  heldChange: 900,
  session: 500,
  incident: 2_000,
  maintenanceWindow: 800,
  screenshot: 150_000,
  pushReport: 250,
};

/** Daily growth of one kind of data, and the days until retention removes its oldest rows. */
export type DataGrowth = { bytesPerDay: number; daysLeft: number };

export const sumBytesPerDay = (all: readonly DataGrowth[]) =>
  all.filter(({ daysLeft }) => daysLeft > 0).reduce((sum, { bytesPerDay }) => sum + bytesPerDay, 0);

/** Returns the days until growth fills `free` bytes; Infinity for never. */
export function computeDaysUntilFull(free: number, all: readonly DataGrowth[]): number {
  const growing = all.filter(({ bytesPerDay, daysLeft }) => bytesPerDay > 0 && daysLeft > 0);
  if (growing.length === 0) return Infinity;
  const rate = sumBytesPerDay(growing);
  const until = Math.min(...growing.map(({ daysLeft }) => daysLeft));
  if (free <= rate * until) return free / rate;
  const later = growing.map((one) => ({ ...one, daysLeft: one.daysLeft - until }));
  return until + computeDaysUntilFull(free - rate * until, later);
}
