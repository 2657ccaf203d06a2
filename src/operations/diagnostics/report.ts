import type { Finding } from "../../core/finding.ts";
import type { Report } from "./diagnostic.ts";

const columns = 80;
const verdictWidth =
  Math.max(...["skipped", "warning", "problem", "unusable"].map(({ length }) => length)) + 1;

/** Renders the report for a terminal, with one paragraph per area and arrows in front of advice. */
export function formatReport(report: Report): string {
  const areas = Map.groupBy(report, ({ area }) => area);
  const paragraphs = [...areas].map(([area, findings]) =>
    [area, ...findings.flatMap(formatFinding)].join("\n"),
  );
  return `${paragraphs.join("\n\n")}\n`;
}

function formatFinding({ verdict, subject, message, advice }: Finding): string[] {
  const lines = wrapText(`${subject}: ${message}`, verdict.padEnd(verdictWidth));
  return advice === null ? lines : [...lines, ...wrapText(advice, `${" ".repeat(verdictWidth)}→ `)];
}

/** Wraps text at spaces. Words longer than a line, such as paths and commands, are not split. */
function wrapText(text: string, lead: string): string[] {
  const lines: string[] = [];
  let line = lead;
  for (const word of text.split(" ")) {
    if (line.trim() !== lead.trim() && line.length + word.length > columns) {
      lines.push(line.trimEnd());
      line = " ".repeat(lead.length);
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}

/** Summarizes a report, such as `1 problem and 2 warnings`; null without problems and warnings. */
export function summarizeReport(report: Report): string | null {
  const counted = (["unusable", "problem", "warning"] as const).flatMap((verdict) => {
    const count = report.filter((finding) => finding.verdict === verdict).length;
    if (count === 0) return [];
    return verdict === "unusable"
      ? [`${count} that keep \`serve\` from starting`]
      : [`${count} ${verdict}${count === 1 ? "" : "s"}`];
  });
  return counted.length === 0 ? null : counted.join(" and ");
}
