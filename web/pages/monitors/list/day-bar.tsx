/** The bars of a monitor's last 24 hours and 30 days, and its latency line. */
import { useNavigate } from "@tanstack/react-router";
import { lazy, memo, Suspense } from "react";
import { dayMs, hourMs } from "../../../../src/core/time/clock.ts";
import { Bars, type BarTone } from "../../../components/display/bars.tsx";
import { createChunk } from "../../../data/chunks.ts";
import { useTimeline } from "../data.ts";
import { t } from "../../../language/text.ts";

const PointDetails = lazy(
  createChunk(async () => ({ default: (await import("../point-details.tsx")).PointDetails })),
);

const tones: Record<string, BarTone> = { u: "up", g: "degraded", d: "down", m: "maintenance" };
type SlotCount = { found: number; count: number };
const words: [letter: string, describe: (found: SlotCount) => string][] = [
  ["d", ({ found, count }) => t("down in {found} of {count}", { found, count })],
  ["g", ({ found, count }) => t("degraded in {found} of {count}", { found, count })],
  ["m", ({ found, count }) => t("in maintenance in {found} of {count}", { found, count })],
];
type Bar = { name: string; problems: string };

/** A span of bars: the length of a bar and of the span, and their label. */
const spans = {
  day: {
    barMs: hourMs,
    count: 24,
    describe: ({ name, problems }: Bar) =>
      t("{name}, last 24 hours, one bar an hour: {problems}", { name, problems }),
  },
  month: {
    barMs: dayMs,
    count: 30,
    describe: ({ name, problems }: Bar) =>
      t("{name}, last 30 days, one bar a day: {problems}", { name, problems }),
  },
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
  const { barMs, count, describe } = spans[span];
  const bars = letters.padStart(count, "-").split("");
  const toneOf = (letter: string | undefined) => tones[letter ?? ""] ?? "none";
  const startOfSpan = () => (Math.floor(Date.now() / barMs) - count + 1) * barMs;
  const problems = words.flatMap(([letter, describeFound]) => {
    const found = bars.filter((one) => one === letter).length;
    return found === 0 ? [] : [describeFound({ found, count })];
  });
  return (
    <Bars
      tones={bars.map(toneOf)}
      label={describe({ name, problems: problems.join(", ") || t("no problems") })}
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
    <Suspense>
      <PointDetails
        from={from}
        to={from + barMs}
        point={data === undefined ? tone : point}
        incidents={data?.incidents ?? []}
      />
    </Suspense>
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
