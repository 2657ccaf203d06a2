/** The bars and the latency line of a monitor's last 24 hours. */
import { useNavigate } from "@tanstack/react-router";
import { memo } from "react";
import { Bars, type BarTone } from "../../../components/display/bars.tsx";
import { useTimeline } from "../data.ts";
import { PointDetails } from "../point-details.tsx";

const hourMs = 3_600_000;
const tones: Record<string, BarTone> = { u: "up", g: "degraded", d: "down", m: "maintenance" };
const words: [letter: string, word: string][] = [
  ["d", "down"],
  ["g", "degraded"],
  ["m", "in maintenance"],
];

/** The last 24 hours as bars. `day` has one letter per hour, oldest first. */
export const DayBar = memo(function DayBar({
  id,
  name,
  day,
  tabbed,
}: {
  id: string;
  name: string;
  day: string;
  tabbed: boolean;
}) {
  const navigate = useNavigate();
  const hours = day.split("");
  const toneOf = (letter: string | undefined) => tones[letter ?? ""] ?? "none";
  const firstHourOfDay = () => (Math.floor(Date.now() / hourMs) - hours.length + 1) * hourMs;
  const problems = words.flatMap(([letter, word]) => {
    const count = hours.filter((hour) => hour === letter).length;
    return count === 0 ? [] : [`${word} in ${count} of ${hours.length}`];
  });
  return (
    <Bars
      tones={hours.map(toneOf)}
      label={`${name}, last 24 hours, one bar an hour: ${problems.join(", ") || "no problems"}`}
      className="day-bar"
      tabbed={tabbed}
      onPick={(index) => {
        const from = firstHourOfDay() + index * hourMs;
        void navigate({
          to: "/monitors/$id",
          params: { id },
          search: { from, to: Math.min(Date.now(), from + hourMs) },
        });
      }}
    >
      {(index) => (
        <Hour
          id={id}
          first={firstHourOfDay()}
          from={firstHourOfDay() + index * hourMs}
          tone={toneOf(hours[index])}
        />
      )}
    </Bars>
  );
});

type HourProps = { id: string; first: number; from: number; tone: BarTone };

function Hour({ id, first, from, tone }: HourProps) {
  const { data } = useTimeline(id, { from: first, to: first + 24 * hourMs }, hourMs / 1000);
  const point = data?.points.find(({ at }) => Date.parse(at) === from);
  return (
    <PointDetails
      from={from}
      to={from + hourMs}
      point={data === undefined ? tone : point}
      incidents={data?.incidents ?? []}
    />
  );
}

/** Latency of the last 24 hours as a line. Each hour is a base-36 digit, or `-` without data. */
export const Spark = memo(function Spark({ course }: { course: string }) {
  const highest = 35;
  const lines: string[] = [];
  let line = "";
  for (const [index, digit] of course.split("").entries()) {
    if (digit === "-") {
      if (line !== "") lines.push(line);
      line = "";
      continue;
    }
    const y = 17 - (Number.parseInt(digit, highest + 1) / highest) * 14;
    line += `${line === "" ? "M" : "L"}${(index * 3 + 1.5).toFixed(1)} ${y.toFixed(1)}`;
  }
  if (line !== "") lines.push(line);
  return (
    <svg className="row-spark" viewBox="0 0 72 20" width="72" height="20" aria-hidden="true">
      <path d={lines.join("")} />
    </svg>
  );
});
