/** Composes a report as an HTML document for paper. It loads nothing and contains no script. */
import { toneColors, escapeEntities } from "../alerting/providers/formatting.ts";
import { reportBounds } from "../core/limits.ts";
import type { Language } from "../status-pages/languages/language.ts";
import {
  composeReportTitle,
  describeDuration,
  type Interval,
  listReportedGroups,
  listReportFacts,
} from "./mail-message.ts";
import { findBarPart } from "./bar-rules.ts";
import type { DayTone, Report, ReportDay, ReportFigures } from "./schema.ts";

const maxRows = reportBounds.printedRows.value;

const tones: Record<DayTone, string> = {
  up: toneColors.up,
  degraded: toneColors.degraded,
  down: toneColors.down,
  maintenance: "#2e90fa",
  none: "#d0d5dd",
};

const style = `@page { size: A4; margin: 16mm 14mm }
body { margin: 0; font: 10.5pt/1.45 system-ui, "Noto Sans", "Liberation Sans", "Noto Sans CJK SC", sans-serif; color: #101828 }
h1 { font-size: 16pt; line-height: 1.25; margin: 0 0 4mm }
table { width: 100%; border-collapse: collapse; margin: 0 0 6mm; font-variant-numeric: tabular-nums }
th, td { padding: 1.4mm 3mm 1.4mm 0; text-align: start; vertical-align: top; font-weight: 400; border-bottom: 0.2mm solid #d0d5dd }
thead th { font-weight: 600; border-bottom-color: #667085 }
thead { display: table-header-group }
tr { break-inside: avoid }
.facts th { width: 34%; color: #475467 }
.rows th:first-child { width: 52%; overflow-wrap: anywhere }
.rows td, .rows th { white-space: nowrap }
.rows th:first-child { white-space: normal }
.days { display: flex; gap: 0.6mm; height: 9mm; margin: 0 0 6mm; print-color-adjust: exact }
.days i { flex: 1; border-radius: 0.5mm }`;

type Frame = { interval: Interval; organization: string; language: Language };

/** Composes the document of a report. Text by people is escaped. */
export function composePdfDocument(report: Report, frame: Frame): string {
  const { language } = frame;
  const groups = listReportedGroups(report, language);
  const facts = listReportFacts(report, frame).map(
    ({ label, value }) =>
      `<tr><th>${escapeEntities(label)}</th><td>${escapeEntities(value)}</td></tr>`,
  );
  const days = report.days.map((day) => `<i style="background:${paintDay(day)}"></i>`);
  return `<!doctype html>
<html lang="${language.tag}" dir="${language.dir}">
<head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeEntities(composeReportTitle(report, frame))}</title>
<style>${style}</style></head>
<body>
<h1>${escapeEntities(composeReportTitle(report, frame))}</h1>
<table class="facts">${facts.join("\n")}</table>
<div class="days">${days.join("")}</div>
${renderRows(language.translate("reportGroups"), groups, language)}
${renderRows(language.translate("reportMonitors"), sortByDownTime(report.monitors), language)}
</body>
</html>
`;
}

/** Colors a day with problems from the top, by the share of the time with problems. */
function paintDay(day: ReportDay): string {
  const part = findBarPart(day);
  if (part === null) return tones[day.tone];
  return `linear-gradient(${tones[day.tone]} ${part}%,${tones.up} 0)`;
}

const sortByDownTime = (monitors: Report["monitors"]) =>
  monitors.length <= maxRows
    ? monitors
    : monitors.toSorted((one, other) => other.downSeconds - one.downSeconds);

function renderRows(
  title: string,
  rows: readonly (ReportFigures & { name: string })[],
  language: Language,
): string {
  if (rows.length === 0) return "";
  const heads = [
    title,
    language.translate("uptime"),
    language.translate("outages"),
    language.translate("downTime"),
  ];
  const body = rows.slice(0, maxRows).map((row) => {
    const cells = [
      language.percent(row.ratio),
      row.outages === null ? "–" : language.number(row.outages),
      describeDuration(row.downSeconds, language),
    ];
    return `<tr><th><bdi>${escapeEntities(row.name)}</bdi></th>${cells.map((cell) => `<td>${escapeEntities(cell)}</td>`).join("")}</tr>`;
  });
  const omittedCount = rows.length - maxRows;
  const more =
    omittedCount > 0 ? `<tr><th colspan="4">${language.count("more", omittedCount)}</th></tr>` : "";
  return `<table class="rows"><thead><tr>${heads.map((head) => `<th>${escapeEntities(head)}</th>`).join("")}</tr></thead>
<tbody>${body.join("\n")}${more}</tbody></table>`;
}
