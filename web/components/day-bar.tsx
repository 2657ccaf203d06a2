import { memo } from "react";
import type { State } from "./state-icon.tsx";

const states: Record<string, State> = { u: "up", g: "degraded", d: "down", m: "maintenance" };
const words: [letter: string, word: string][] = [
  ["d", "down"],
  ["g", "degraded"],
  ["m", "in maintenance"],
];

/** The last 24 hours as bars; `day` has one letter a span, oldest first. */
export const DayBar = memo(function DayBar({ day }: { day: string }) {
  const spans = day.split("");
  const spanMinutes = 1440 / Math.max(1, spans.length);
  const told = words.flatMap(([letter, word]) => {
    const count = spans.filter((span) => span === letter).length;
    return count === 0 ? [] : [`${word} in ${count} of ${spans.length}`];
  });
  return (
    <div
      className="day-bar"
      role="img"
      aria-label={`Last 24 hours, ${spanMinutes} minutes per bar: ${told.join(", ") || "no problems"}`}
    >
      {spans.map((span, index) => (
        <i key={index} className={`bar-${states[span] ?? "none"}`} />
      ))}
    </div>
  );
});
