/** Identifiers of problems of the appliance itself. */

export const problemNames = [
  "alerts",
  "backup",
  "certificate",
  "checks",
  "clock",
  "disk",
  "events",
  "loop",
  "node",
  "notices",
  "storage",
] as const;
export type ProblemName = (typeof problemNames)[number];

/** Severity, the same for every service that grades problems. */
export const problemSeverities = ["critical", "error", "warning", "info"] as const;
export type ProblemSeverity = (typeof problemSeverities)[number];

/** A problem of the appliance itself. */
export type Problem = {
  name: ProblemName;
  /** Id of the machine that has it, where several serve the same data; else it is everybody's. */
  node?: string;
  /** Stage of the problem; a change notifies again. */
  stage: string;
  severity: ProblemSeverity;
  /** One or two sentences: the problem and its remedy. */
  message: string;
  /** When it ends unless it is found again, in Unix milliseconds; null if it lasts until it is solved. */
  until: number | null;
};

/** Message at the end of the problem `storage`. */
export const storageEnds = "Results of checks are stored again.";
