import { findPingCommand } from "../../../core/system/ping-command.ts";
import { LocalFailure, TargetFailure } from "../../../core/outgoing/failures.ts";
import type { CheckKind } from "../check.ts";

/**
 * Up when all packets are answered, degraded when some are lost. Runs the system's ping command, because sending ICMP
 * needs privileges.
 */
export const checkPing: CheckKind<"ping"> = async ({ host, packets }, context) => {
  const command = findPingCommand();
  if (command === null) throw new LocalFailure("this machine has no ping command");
  context.step = "resolving the name";
  const [target] = await context.addressesOf(host, null);
  if (target === undefined) throw new TargetFailure("The name has no address.");
  context.step = "waiting for the response";
  const options =
    process.platform === "win32" ? ["-n", `${packets}`] : ["-n", "-i", "0.2", "-c", `${packets}`];
  const run = Bun.spawn([command, ...options, target.address], {
    stdout: "pipe",
    stderr: "pipe",
    stdin: "ignore",
    env: { LC_ALL: "C" },
  });
  context.signal.addEventListener("abort", () => run.kill("SIGKILL"));
  const latencies: number[] = [];
  for await (const line of readLines(run.stdout)) {
    const latency = /time[=<]([\d.]+) ?ms/.exec(line)?.[1];
    if (latency !== undefined) latencies.push(Number(latency));
  }
  const errors = await new Response(run.stderr).text();
  const exitCode = await run.exited;
  if (latencies.length === 0 && /not permitted|denied/i.test(errors))
    throw new LocalFailure("this machine does not let the appliance send pings");
  // Exit codes of iputils: 1 means no reply, 2 any other error.
  if (latencies.length === 0)
    throw exitCode === 1
      ? new TargetFailure("No reply.")
      : new TargetFailure("The host can't be reached.");
  const latencyMs = Math.round(latencies.reduce((sum, each) => sum + each, 0) / latencies.length);
  const lost = packets - latencies.length;
  const details = {
    lossPercent: Math.round((lost / packets) * 100),
    slowestMs: Math.round(Math.max(...latencies)),
  };
  const found = { latencyMs, details };
  if (lost > 0)
    return { status: "degraded", message: `${lost} of ${packets} packets were lost.`, ...found };
  return { status: "up", message: `Replied in ${latencyMs} ms.`, ...found };
};

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let output = "";
  for await (const chunk of stream) {
    const lines = (output + decoder.decode(chunk, { stream: true })).split("\n");
    output = lines.pop() ?? "";
    yield* lines;
  }
  yield output;
}
