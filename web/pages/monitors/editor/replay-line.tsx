/** How many alerts other settings would have sent, from the stored checks of the monitor, before they are saved. */
import { dayMs } from "../../../../src/core/time/clock.ts";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { NewReplay, Replay } from "../../../../src/alerting/replay/schema.ts";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { v1 } from "../../../data/client.ts";
import { createDataQuery } from "../../../data/query.ts";
import { formatUnbrokenDuration, useNow } from "../../../components/display/time.tsx";
import { t, tCount } from "../../../language/text.ts";

type Thresholds = Pick<NewReplay, "retries" | "successThreshold" | "degradedAfterMs" | "interval">;
type Changes = Thresholds & Pick<NewReplay, "escalationPolicyId">;

/** Bounds of the settings that can be replayed. Only a longer interval can. */
const boundsOf = ({ interval }: Monitor) =>
  ({
    retries: [0, 10],
    successThreshold: [1, 10],
    degradedAfterMs: [1, 60_000],
    interval: [interval, 86_400],
  }) as const;

/** Checks that one replay reads; the server accepts some more. */
const maxChecks = 400_000;

/** Returns the changed settings in the form; null without any, or while one of them is invalid. */
function readChanges(monitor: Monitor, values: Record<string, unknown>): Changes | null {
  const changed = Object.entries(boundsOf(monitor)).filter(
    ([name]) => values[name] !== monitor[name as keyof Thresholds],
  );
  const isValid = changed.every(([name, [least, most]]) => {
    const value = values[name];
    if (name === "degradedAfterMs" && value === null) return true;
    return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
  });
  const policyId = (values["escalationPolicyId"] as string | null | undefined) ?? null;
  const hasOtherPolicy = policyId !== monitor.escalationPolicyId;
  if ((changed.length === 0 && !hasOtherPolicy) || !isValid) return null;
  return {
    ...Object.fromEntries(changed.map(([name]) => [name, values[name]])),
    ...(hasOtherPolicy && { escalationPolicyId: policyId }),
  };
}

/** Shown once a setting differs from the saved one. */
export function ReplayLine({
  monitor,
  values,
}: {
  monitor: Monitor;
  values: Record<string, unknown>;
}) {
  const now = useNow();
  const changes = readChanges(monitor, values);
  const [key] = useDebouncedValue(JSON.stringify(changes), 250);
  const requested = JSON.parse(key) as Changes | null;
  const days = Math.max(1, Math.min(90, Math.floor((maxChecks * monitor.interval) / 86_400)));
  const { data } = useQuery({
    enabled: requested !== null,
    ...createDataQuery(["replay", monitor.id, monitor.updatedAt, key], (options) =>
      v1.alerting.replay.post({ ...requested, monitorId: monitor.id, days }, options),
    ),
    staleTime: 60_000,
  });
  return (
    <div aria-live="polite">
      {changes !== null && requested !== null && data !== undefined && (
        <p className="replay">
          <b>
            {describeReplay(data)}
            {describeSteps(data)}
          </b>{" "}
          {describeBasis(data, now)}
        </p>
      )}
    </div>
  );
}

/** For example: “3 alerts instead of 11. 8 alerts of up to 40 s would not be sent.” */
function describeReplay({ before, after, missed, longestMissedSeconds }: Replay): string {
  const counts =
    after.count === before.count
      ? tCount(after.count, "{count} alert as before.", "{count} alerts as before.")
      : tCount(
          after.count,
          "{count} alert instead of {before}.",
          "{count} alerts instead of {before}.",
          { before: before.count },
        );
  const longest = formatUnbrokenDuration(Math.max(1, longestMissedSeconds));
  return missed === 0
    ? counts
    : `${counts} ${tCount(
        missed,
        "{count} alert of up to {longest} would not be sent.",
        "{count} alerts of up to {longest} would not be sent.",
        { longest },
      )}`;
}

function describeSteps({ before, after }: Replay): string {
  if (after.escalationMessages === before.escalationMessages) return "";
  const text = tCount(
    after.escalationMessages,
    "Without an acknowledgment, {count} message of escalation steps instead of {before}.",
    "Without an acknowledgment, {count} messages of escalation steps instead of {before}.",
    { before: before.escalationMessages },
  );
  return ` ${text}`;
}

function describeBasis({ from, checks }: Replay, now: number): string {
  if (from === null) return t("No checks are stored yet.");
  const days = Math.max(1, Math.round((now - Date.parse(from)) / dayMs));
  return t(
    "From {checks} of {days}. It is an estimate: other settings also change when checks run.",
    {
      checks: tCount(checks, "{count} stored check", "{count} stored checks"),
      days: tCount(days, "{count} day", "{count} days"),
    },
  );
}
