/** Defines diagnostics, and runs a list of them within a time budget. */
import { type Finding, createProblemFinding, createSkippedFinding } from "../../core/finding.ts";
import type { Problem } from "../../core/problems.ts";
import { runAsOwnerAdvice } from "../../database/examine.ts";

/** The areas of the report, in display order. */
export const areas = [
  "Data",
  "Disk",
  "Backups",
  "Machine",
  "Server",
  "Settings",
  "Clock",
  "Network",
  "Mail",
  "Alert channels",
  "On call",
  "Status pages",
] as const;
type Area = (typeof areas)[number];

/** A finding, with the problem that the running appliance opens for it, if any. */
export type Diagnosis = Finding & { problem?: Problem };

/** One examination of the appliance. It runs on demand or at an interval. */
export type Diagnostic<Context> = {
  /** Subject of the finding if the examination itself fails. */
  id: string;
  area: Area;
  /** Whether it contacts other machines. `doctor --offline` skips it then. */
  leavesMachine?: boolean;
  examine: (context: Context) => Diagnosis[] | Promise<Diagnosis[]>;
};

export type Report = ({ area: string } & Finding)[];

const concurrency = 8;
/** Time after which no further examination starts, in milliseconds. One examination takes at most 10 s. */
const budgetMs = 45_000;

/** Runs up to eight diagnostics at the same time, and returns their findings in the order of the list. */
export async function runDiagnostics<Context>(
  diagnostics: readonly Diagnostic<Context>[],
  context: Context,
  timeMs = budgetMs,
): Promise<Report> {
  const results: Report[] = [];
  const deadline = performance.now() + timeMs;
  const remaining = diagnostics.entries();
  const runWorker = async () => {
    for (const [index, diagnostic] of remaining) {
      const findings =
        performance.now() < deadline
          ? await collectFindings(diagnostic, context)
          : [createSkippedFinding(diagnostic.id, "not examined: the others took too long")];
      results[index] = findings.map(({ verdict, subject, message, advice }) => ({
        area: diagnostic.area,
        verdict,
        subject,
        message,
        advice,
      }));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runWorker));
  return results.flat();
}

async function collectFindings<Context>({ id, examine }: Diagnostic<Context>, context: Context) {
  try {
    return await examine(context);
  } catch (error) {
    // Reports only the error's code, because the message can contain a secret.
    const { code, name } = error as NodeJS.ErrnoException;
    return [
      createProblemFinding(id, `it could not be examined (${code ?? name})`, runAsOwnerAdvice),
    ];
  }
}
