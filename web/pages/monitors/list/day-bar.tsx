/** The bars of a monitor's last 24 hours and 30 days, and its latency line. */
import { useNavigate } from "@tanstack/react-router";
import { memo } from "react";
import { dayMs, hourMs } from "../../../../src/core/time/clock.ts";
import { Bars, type BarTone } from "../../../components/display/bars.tsx";
import { useTimeline } from "../data.ts";
import { PointDetails } from "../point-details.tsx";
import { t } from "../../../language/text.ts";

const tones: Record<string, BarTone> = { u: "up", g: "degraded", d: "down", m: "maintenance" };
const words: [letter: string, word: string][] = [
  ["d", "down"],
  ["g", "degraded"],
  ["m", t("in maintenance")],
];

/** A span of bars: the length of a bar and of the span, and their names. */
const spans = {
  day: { barMs: hourMs, count: 24, name: t("last 24 hours"), bar: "hour" },
  month: { barMs: dayMs, count: 30, name: t("last 30 days"), bar: "day" },
};

/** The last 24 hours or 30 days as bars. `letters` has one letter per bar, oldest first. */
export const RecentBars = memo(function RecentBars({
  id,
  name,
  span,
  letters,
  tabbed,
}: {
  id: string;
  name: string;
  span: keyof typeof spans;
  letters: string;
  tabbed: boolean;
}) {
  const navigate = useNavigate();
  const { barMs, count, name: spanName, bar } = spans[span];
  const bars = letters.padStart(count, "-").split("");
  const toneOf = (letter: string | undefined) => tones[letter ?? ""] ?? "none";
  const startOfSpan = () => (Math.floor(Date.now() / barMs) - count + 1) * barMs;
  const problems = words.flatMap(([letter, word]) => {
    const found = bars.filter((one) => one === letter).length;
    return found === 0 ? [] : [t("{word} in {found} of {count}", { word, found, count })];
  });
  return (
    <Bars
      tones={bars.map(toneOf)}
      label={t("{name}, {spanName}, one bar {value} {bar}: {problems}", {
        name,
        spanName,
        value: bar === "hour" ? "an" : "a",
        bar,
        problems: problems.join(", ") || t("no problems"),
      })}
      className={`day-bar row-${span}-bar`}
      tabbed={tabbed}
      onPick={(index) => {
        const from = startOfSpan() + index * barMs;
        void navigate({
          to: "/monitors/$id",
          params: { id },
          search: { from, to: Math.min(Date.now(), from + barMs) },
        });
      }}
    >
      {(index) => (
        <RecentBar
          id={id}
          span={span}
          first={startOfSpan()}
          from={startOfSpan() + index * barMs}
          tone={toneOf(bars[index])}
        />
      )}
    </Bars>
  );
});

type BarProps = {
  id: string;
  span: keyof typeof spans;
  first: number;
  from: number;
  tone: BarTone;
};

function RecentBar({ id, span, first, from, tone }: BarProps) {
  const { barMs, count } = spans[span];
  const { data } = useTimeline(id, { from: first, to: first + count * barMs }, barMs / 1000);
  const point = data?.points.find(({ at }) => Date.parse(at) === from);
  return (
    <PointDetails
      from={from}
      to={from + barMs}
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
