import type { PastState } from "../../../src/dashboard/schema.ts";
import type { Monitor } from "../../../src/monitoring/monitors/schema.ts";
import type { Uptime } from "../../../src/monitoring/uptime/schema.ts";
import { inMs, percent } from "../../components/format.ts";
import { Dash } from "../../components/page.tsx";
import { Time, durationInWords, useNow } from "../../components/time.tsx";
import { useHeartbeats, useStates, useUptime } from "./data.ts";
import { downSecondsOf, downSince, percentile } from "./statistics.ts";

const periods = [
  ["24 hours", "24h", 1],
  ["7 days", "7d", 7],
  ["30 days", "30d", 30],
  ["90 days", "90d", 90],
] as const;

/** Uptime, latency and certificate: the figures under the name. */
export function Figures({ monitor }: { monitor: Monitor }) {
  const { data: uptime } = useUptime(monitor.id);
  const { data: states } = useStates(monitor.id);
  const { data: checks } = useHeartbeats(monitor.id, 100);
  const now = useNow();
  const p95 = percentile(checks?.flatMap(({ latencyMs }) => latencyMs ?? []) ?? [], 0.95);
  const { certificateExpiresAt } = monitor;
  const days =
    certificateExpiresAt === null
      ? null
      : Math.floor((Date.parse(certificateExpiresAt) - now) / 86_400_000);
  return (
    <dl className="panel stats">
      {periods.map(([label, name, length]) => (
        <div key={name}>
          <dt>{label}</dt>
          <dd className="num">{percent(uptime?.ratios[name])}</dd>
          <dd className="stat-note num">
            {downWords(length === 1 ? byStates(states, now) : byDays(uptime, length, now))}
          </dd>
        </div>
      ))}
      <div>
        <dt>Latency</dt>
        <dd className="num">{inMs(monitor.latencyMs)}</dd>
        <dd className="stat-note num">{p95 === null ? "" : `p95 ${inMs(p95)}`}</dd>
      </div>
      {days === null ? (
        <div>
          <dt>Last check</dt>
          <dd className="num">
            {monitor.lastCheckedAt === null ? <Dash /> : <Time at={monitor.lastCheckedAt} />}
          </dd>
          <dd className="stat-note">every {durationInWords(monitor.interval)}</dd>
        </div>
      ) : (
        <div>
          <dt>Certificate</dt>
          <dd className="num">{days < 0 ? "ended" : `${days} days`}</dd>
          <dd className="stat-note">
            {new Date(certificateExpiresAt ?? 0).toISOString().slice(0, 10)}
          </dd>
        </div>
      )}
    </dl>
  );
}

const byDays = (uptime: Uptime | undefined, days: number, now: number) =>
  uptime === undefined ? null : downSecondsOf(uptime.days, days, now);

const byStates = (states: PastState[] | undefined, now: number) =>
  states === undefined ? null : downSince(states, now - 86_400_000, now);

function downWords(seconds: number | null): string {
  if (seconds === null) return "";
  return seconds < 1 ? "no downtime" : `${durationInWords(seconds)} down`;
}
