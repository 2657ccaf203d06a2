import { join } from "node:path";
import { getFreePort, waitUntilHealthy } from "../support/binary.ts";
import { badExpressions } from "../support/bad-expressions.ts";
import { runCheckOfType } from "../support/check-runs.ts";

const timeoutMs = 10_000;
const goalMs = 20;

/** CPU time of this thread, which other processes do not affect. */
function readProcessorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The longest turn of the event loop from now on. */
function createHoldMeter() {
  let last = readProcessorMs();
  let longest = 0;
  let isOver = false;
  const inspect = () => {
    const now = readProcessorMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(inspect);
  };
  setImmediate(inspect);
  return () => {
    isOver = true;
    return longest;
  };
}

type Measured = { name: string; holdMs: number; checkMs: number; message: string };

async function measure(name: string, fields: object): Promise<Measured> {
  const startedAt = performance.now();
  const held = createHoldMeter();
  const { message } = await runCheckOfType("http", fields, { timeoutMs });
  return { name, holdMs: held(), checkMs: performance.now() - startedAt, message };
}

/** Measures known-bad expressions on 1 MB of their worst input, in assertions and extractions: other work must not wait. */
export async function benchExpressions() {
  const port = getFreePort();
  const script = join(import.meta.dir, "check-target.ts");
  const target = Bun.spawn([process.execPath, script, String(port)], { stderr: "inherit" });
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;
  try {
    await waitUntilHealthy(at(""), "/ok");
    const bodyOf = (text: string) => at(`/repeated?${new URLSearchParams({ text })}`);
    const buildAsserting = (url: string, expression: string) => ({
      url,
      assertions: [{ source: "body", op: "matches", value: expression }],
    });
    const buildSaving = (url: string, expression: string) => ({
      url,
      save: [{ name: "part", source: "body", path: null, expression }],
      steps: [{ name: "then", url: "/ok", method: "GET" }],
    });
    const attempt = async ([expression, repeated]: (typeof badExpressions)[number]) => [
      await measure(expression, buildAsserting(bodyOf(repeated), expression)),
      await measure(`${expression} (saved)`, buildSaving(bodyOf(repeated), expression)),
    ];
    // The library is loaded once per process, and the engine compiles hot code.
    const cold: Measured[] = [];
    for (const one of badExpressions.slice(0, 4)) cold.push(...(await attempt(one)));
    const without: Measured[] = [];
    for (let times = 0; times < 2 * badExpressions.length; times++)
      without.push(await measure("nothing", { url: bodyOf("a"), keyword: "b" }));
    const round = async () => {
      const measured: Measured[] = [];
      for (const one of badExpressions) measured.push(...(await attempt(one)));
      return measured;
    };
    const first = await round();
    const results = await round();
    const findMost = (of: (one: Measured) => number, all = results) =>
      all.reduce((one, other) => (of(other) > of(one) ? other : one));
    const [held, longest] = [findMost(({ holdMs }) => holdMs), findMost(({ checkMs }) => checkMs)];
    const holdIn = (all: Measured[]) => findMost(({ holdMs }) => holdMs, all).holdMs.toFixed(1);
    const givenUp = results.filter(({ message }) => message.includes("too much work")).length;
    const late = results.filter(({ checkMs }) => checkMs > timeoutMs).length;
    const countAboveGoal = (all: Measured[]) => all.filter(({ holdMs }) => holdMs > goalMs).length;
    console.log(
      `${badExpressions.length} known-bad expressions, each on 1 MB, matched and saved: ` +
        `the loop was held ${holdIn(results)} ms of processor time at most (goal ${goalMs}, ` +
        `above it ${countAboveGoal(results)} of ${results.length}) by ${held.name}\n` +
        `by as many checks without an expression ${holdIn(without)} ms, by the first of a process ${holdIn(cold)} ms\n` +
        `in the round before, while the engine compiles what these are the first to use, ${holdIn(first)} ms, above the goal ${countAboveGoal(first)}\n` +
        `longest check ${Math.round(longest.checkMs)} ms by ${longest.name}, ` +
        `beyond its ${timeoutMs / 1000} s ${late} (goal 0), given up as too much work ${givenUp}`,
    );
  } finally {
    target.kill();
  }
}
