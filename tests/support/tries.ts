const times = Number(process.env["TRIES"] ?? 1);

/** How many random courses a test of many steps tries: few in each run of the suite, `TRIES=10 bun test FILE` ten times as many. */
export const tries = (usual: number) => ({
  numRuns: usual * times,
  interruptAfterTimeLimit: 50_000 * times,
});
