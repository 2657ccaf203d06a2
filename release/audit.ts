import { text } from "node:stream/consumers";

type Audit = { state: "clean" | "vulnerable" | "skipped"; output: string };

const longestMs = 20_000;

/**
 * Checks locked packages for severe vulnerabilities at the package registry. Skipped if the
 * registry does not respond.
 */
export async function auditPackages(environment = process.env): Promise<Audit> {
  const run = Bun.spawn(["bun", "audit", "--audit-level=high"], {
    cwd: `${import.meta.dir}/..`,
    env: environment,
    stdout: "pipe",
    stderr: "pipe",
    timeout: longestMs,
  });
  const [stdout, stderr] = await Promise.all([text(run.stdout), text(run.stderr)]);
  if ((await run.exited) === 0) return { state: "clean", output: stdout };
  return /^\d+ vulnerabilit/m.test(stdout)
    ? { state: "vulnerable", output: stdout }
    : { state: "skipped", output: stderr.trim() || `No response within ${longestMs / 1000} s.` };
}
