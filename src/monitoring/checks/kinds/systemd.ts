import { LocalFailure, TargetFailure } from "../../../core/outgoing/failures.ts";
import { runProgram } from "../../../core/system/programs.ts";
import { thisMachine } from "../../monitors/rules.ts";
import { type CheckKind, measureElapsedMs } from "../check.ts";

const maxBytes = 64 * 1024;

/** Up while the unit is active, according to systemctl(1). */
export const checkSystemd: CheckKind<"systemd"> = async ({ unit }, context) => {
  await context.addressesOf(thisMachine, null);
  const systemctl = context.systemctl();
  if (systemctl === null) throw new TargetFailure("systemd is not on this machine.");
  context.step = "waiting for the response";
  const startedAt = performance.now();
  const properties = "--property=LoadState,ActiveState,Result";
  const run = await runProgram([systemctl, "show", properties, "--", unit], context, { maxBytes });
  const latencyMs = measureElapsedMs(startedAt);
  if (/not been booted with systemd|No such file or directory/.test(run.errors))
    throw new TargetFailure("systemd does not run on this machine.");
  if (run.exitCode !== 0) throw new LocalFailure("systemd does not let the appliance ask");
  const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(run.output)?.[1] ?? "";
  const [loaded, state, result] = ["LoadState", "ActiveState", "Result"].map(valueOf);
  if (loaded === "not-found") throw new TargetFailure("There is no such unit.");
  if (loaded === "masked") throw new TargetFailure("The unit is masked.");
  const details = { state: state ?? "" };
  const buildDown = (message: string) =>
    ({ status: "down", message, latencyMs: null, details }) as const;
  if (state === "active" || state === "reloading" || state === "refreshing") {
    const message = `The unit is ${state}, reported in ${latencyMs} ms.`;
    return { status: "up", message, latencyMs, details };
  }
  if (state === "failed")
    return buildDown(
      `The unit failed${shownResults.includes(result ?? "") ? ` (${result})` : ""}.`,
    );
  if (state === "inactive" || state === "activating" || state === "deactivating")
    return buildDown(`The unit is not active but ${state}.`);
  throw new TargetFailure(
    state === "" ? "The response is not valid for systemd." : "The unit is not active.",
  );
};

/** Results that a message can show: values of `$SERVICE_RESULT` in systemd.exec(5). */
const shownResults = [
  "protocol",
  "timeout",
  "exit-code",
  "signal",
  "core-dump",
  "watchdog",
  "oom-kill",
  "start-limit-hit",
  "resources",
];
