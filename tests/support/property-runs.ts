const times = Number(process.env["TRIES"] ?? 1);

/**
 * Number of random sequences per property test. `TRIES=10 bun test FILE` runs ten times as many.
 */
export const limitTries = (usual: number) => ({
  numRuns: usual * times,
  interruptAfterTimeLimit: 50_000 * times,
});
