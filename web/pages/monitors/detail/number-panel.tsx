/** The number of a monitor: its last value, and its history as a chart or a table. */
import { minuteMs } from "../../../../src/core/time/clock.ts";
import { lazy, Suspense, useState } from "react";
import { formatNumber } from "../../../../src/monitoring/checks/number-rules.ts";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import type { NumberRule } from "../../../../src/monitoring/monitors/numbers-schema.ts";
import type { NumberPoint } from "../../../../src/monitoring/uptime/schema.ts";
import { createChunk } from "../../../data/chunks.ts";
import { v1 } from "../../../data/client.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { Panel } from "../../../components/page.tsx";
import { Time, useNow } from "../../../components/display/time.tsx";
import { toSpanQuery, useNumbers } from "../data.ts";
import type { PageSpan } from "./spans.ts";
import { t } from "../../../language/text.ts";

const NumberChart = lazy(createChunk(() => import("./number-chart.tsx")));

type Props = { monitor: Monitor; span: PageSpan };

/** Null for a monitor without a number. */
export function NumberPanel({ monitor, span }: Props) {
  const rule = (monitor["number"] ?? null) as NumberRule | null;
  return rule === null ? null : <NumberHistory monitor={monitor} rule={rule} span={span} />;
}

function NumberHistory({ monitor: { id, numberValue }, rule, span }: Props & { rule: NumberRule }) {
  const [isTable, setTable] = useState(false);
  const now = useNow();
  const { data: points } = useNumbers(id, span);
  const { organization } = useSignedInPerson();
  const query = new URLSearchParams({ organization: organization.id, ...toSpanQuery(span) });
  const value = numberValue === null ? t("no number") : formatNumber(rule, numberValue);
  return (
    <Panel
      title={`${rule.name}: ${value}`}
      actions={
        <div className="chart-lines">
          <a className="chart-line" href={`${v1.monitors({ id }).numbers.csv["~path"]}?${query}`}>
            CSV
          </a>
          <button
            type="button"
            className="chart-line"
            aria-pressed={isTable}
            onClick={() => setTable(!isTable)}
          >
            {t("Table")}
          </button>
        </div>
      }
    >
      {points === undefined ? (
        <div className="number-room" />
      ) : points.length === 0 ? (
        <p className="chart-none">{t("No numbers in this time range.")}</p>
      ) : isTable ? (
        <NumberTable points={points} rule={rule} />
      ) : (
        <div className="number-room">
          <Suspense fallback={<div className="chart-coming" />}>
            <NumberChart
              points={points}
              rule={rule}
              from={span.from}
              to={span.to ?? Math.ceil(now / minuteMs) * minuteMs}
            />
          </Suspense>
        </div>
      )}
    </Panel>
  );
}

/** The chart as a table. */
const NumberTable = ({ points, rule }: { points: readonly NumberPoint[]; rule: NumberRule }) => (
  <div
    className="chart-table"
    tabIndex={0}
    role="region"
    aria-label={t("{name} as a table", { name: rule.name })}
  >
    <table>
      <thead>
        <tr>
          <th scope="col">{t("Time")}</th>
          <th scope="col">{t("Average")}</th>
          <th scope="col">{t("Lowest")}</th>
          <th scope="col">{t("Highest")}</th>
        </tr>
      </thead>
      <tbody>
        {points.toReversed().map(({ at, average, min, max }) => (
          <tr key={at}>
            <th scope="row">
              <Time at={at} as="short" />
            </th>
            <td>{formatNumber(rule, Number(average.toPrecision(6)))}</td>
            <td>{formatNumber(rule, min)}</td>
            <td>{formatNumber(rule, max)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
