/**
 * Returns the commit of the build and its ISO 8601 time; null outside of a repository.
 * SOURCE_DATE_EPOCH overrides the time (reproducible-builds.org).
 */
export function readBuildSource(): { commit: string | null; builtAt: string | null } {
  const runGit = (...args: string[]) => {
    const { success, stdout } = Bun.spawnSync(["git", ...args], {
      cwd: `${import.meta.dir}/..`,
      stderr: "ignore",
    });
    return success ? stdout.toString().trim() : null;
  };
  const epoch = process.env["SOURCE_DATE_EPOCH"] ?? runGit("log", "-1", "--format=%ct");
  const isChanged = runGit("status", "--porcelain") !== "";
  const commit = runGit("rev-parse", "HEAD");
  return {
    commit: commit && (isChanged ? `${commit}-changed` : commit),
    builtAt: epoch === null ? null : new Date(Number(epoch) * 1000).toISOString(),
  };
}
