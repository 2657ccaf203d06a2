import { readFileSync } from "node:fs";

/** Processor time of a process so far, in seconds (Linux: 100 ticks a second). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Resident memory of a process in MB. */
export function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kb) / 1024;
}

/** The value below which this share of all lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}

/** Their median, the least and the most. */
export const medianOf = (values: readonly number[], unit = "ms") =>
  `${quantile(values, 0.5).toFixed(0)} ${unit} (${Math.min(...values).toFixed(0)}–${Math.max(...values).toFixed(0)})`;
