/** What other thresholds would have reported, from the stored checks of the monitor, before they are saved. */
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { Replay } from "../../../../src/monitoring/checks/replay-schema.ts";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { dashboard } from "../../../data/client.ts";
import { recordKey } from "../../../data/keys.ts";
import { createDataQuery } from "../../../data/query.ts";
import { pluralize } from "../../../components/display/format.ts";
import { durationInWords, useNow } from "../../../components/display/time.tsx";

type Thresholds = Pick<Monitor, "retries" | "successThreshold" | "degradedAfterMs">;

/** The thresholds in the form; null while one of them is invalid. */
function readThresholds(values: Record<string, unknown>): Thresholds | null {
  const { retries, successThreshold, degradedAfterMs } = values;
  const isWhole = (value: unknown, least: number, most: number) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
  const isValid =
    isWhole(retries, 0, 10) &&
    isWhole(successThreshold, 1, 10) &&
    (degradedAfterMs === null || isWhole(degradedAfterMs, 1, 60_000));
  return isValid ? ({ retries, successThreshold, degradedAfterMs } as Thresholds) : null;
}

const names = ["retries", "successThreshold", "degradedAfterMs"] as const;

/** Shown once a threshold differs from the saved one. */
export function ReplayLine({
  monitor,
  values,
}: {
  monitor: Monitor;
  values: Record<string, unknown>;
}) {
  const now = useNow();
  const thresholds = readThresholds(values);
  const isChanged = thresholds !== null && names.some((name) => thresholds[name] !== monitor[name]);
  const [key] = useDebouncedValue(JSON.stringify(isChanged ? thresholds : null), 250);
  const asked = JSON.parse(key) as Thresholds | null;
  const { data } = useQuery({
    enabled: asked !== null,
    ...createDataQuery([...recordKey("monitor", monitor.id), "replay", key], (options) =>
      dashboard.monitors({ id: monitor.id }).replay.get({
        query: {
          retries: String(asked?.retries),
          successThreshold: String(asked?.successThreshold),
          ...(asked?.degradedAfterMs != null && { degradedAfterMs: String(asked.degradedAfterMs) }),
        },
        ...options,
      }),
    ),
    staleTime: 60_000,
  });
  return (
    <div aria-live="polite">
      {isChanged && asked !== null && data !== undefined && (
        <p className="replay">
          <b>{describeReplay(data)}</b> {describeBasis(data, now)}
        </p>
      )}
    </div>
  );
}

/** For example: “3 outages instead of 11. 8 outages of up to 40 s would not be reported.” */
export function describeReplay({ saved, requested, missed, longestMissedSeconds }: Replay): string {
  const compare = (word: string, is: number, was: number) =>
    is === was ? `${pluralize(is, word)} as before` : `${pluralize(is, word)} instead of ${was}`;
  const slow =
    saved.slowPeriods + requested.slowPeriods === 0
      ? []
      : [compare("slow period", requested.slowPeriods, saved.slowPeriods)];
  const sentences = [
    [compare("outage", requested.outages, saved.outages), ...slow].join(", "),
    ...(missed === 0
      ? []
      : [
          `${pluralize(missed, "outage")} of up to ${durationInWords(Math.max(1, longestMissedSeconds))} would not be reported`,
        ]),
  ];
  return `${sentences.join(". ")}.`;
}

function describeBasis({ from, checks }: Replay, now: number): string {
  if (from === null) return "No checks are stored yet.";
  const days = Math.max(1, Math.round((now - Date.parse(from)) / 86_400_000));
  return `From ${pluralize(checks, "stored check")} of ${pluralize(days, "day")}. It is an estimate: other retries also change when checks run.`;
}
