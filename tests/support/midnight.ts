import { dayMs, minuteMs } from "../../src/core/time/clock.ts";

/** Time that a file of browser tests takes at most. */
const fileMs = 3 * minuteMs;

/**
 * Waits for the next UTC day if it starts soon. For the `beforeAll` of files that compare days of the real clock, of
 * which a test can't change the server's.
 */
export async function waitOutMidnight(): Promise<void> {
  const left = dayMs - (Date.now() % dayMs);
  if (left <= fileMs) await Bun.sleep(left);
}
