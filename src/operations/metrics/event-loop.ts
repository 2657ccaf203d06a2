import { type Family, createHistogram } from "../../core/metrics.ts";

const tickMs = 100;
const bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** Measures the delay of a timer ten times per second. Other work is delayed equally. */
export function createEventLoopDelay() {
  const delays = createHistogram(
    "signalbox_event_loop_delay_seconds",
    "Delay of event-loop timers, measured every 100 ms.",
    [],
    bounds,
  );
  const observe = delays.of();
  let timer: ReturnType<typeof setInterval> | null = null;
  return {
    metrics: (): Family[] => [delays.family()],
    start() {
      let last = performance.now();
      timer = setInterval(() => {
        const now = performance.now();
        observe(Math.max(0, now - last - tickMs) / 1_000);
        last = now;
      }, tickMs);
    },
    stop() {
      if (timer !== null) clearInterval(timer);
    },
  };
}
