/** What may be wrong with the appliance itself. */
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

/** How bad something is: the same for every service that grades what it takes. */
export const problemSeverities = ["critical", "error", "warning", "info"] as const;
export type ProblemSeverity = (typeof problemSeverities)[number];

/** What is wrong with the appliance itself. */
export type Problem = {
  name: ProblemName;
  /** Id of the machine that has it, where several serve the same data; else it is everybody's. */
  node?: string;
  /** How far it has come: told again where that changes. */
  stage: string;
  severity: ProblemSeverity;
  /** One sentence or two: what is wrong, and what to do. */
  message: string;
  /** When it is over unless it shows again, in Unix milliseconds; null for what lasts until it is mended. */
  until: number | null;
};

/** Message at the end of the problem `storage`. */
export const storageEnds = "Results of checks are stored again.";
