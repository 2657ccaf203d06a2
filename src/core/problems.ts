/** Problems of the appliance itself: their names, severities and fields. */

export const problemNames = [
  "alerts",
  "backup",
  "certificate",
  "checks",
  "clock",
  "disk",
  "drill",
  "events",
  "loop",
  "node",
  "notices",
  "on-call",
  "publishing",
  "storage",
  "unhandled",
] as const;
export type ProblemName = (typeof problemNames)[number];

/** Problems of one organization each. Only that organization, and for `unhandled` the administrators, are notified of them. */
export const organizationProblems: ReadonlySet<ProblemName> = new Set([
  "drill",
  "on-call",
  "publishing",
  "unhandled",
]);

/** Severities that all services with graded alerts support. */
export const problemSeverities = ["critical", "error", "warning", "info"] as const;
export type ProblemSeverity = (typeof problemSeverities)[number];

/** A problem of the appliance itself. */
export type Problem = {
  name: ProblemName;
  /** ID of the affected machine in a cluster; absent if the problem affects all machines. */
  node?: string;
  /** The only organization that it concerns; absent if it concerns the appliance. */
  organizationId?: string;
  /** Stage of the problem. Each change of the stage sends another notification. */
  stage: string;
  severity: ProblemSeverity;
  /** One or two sentences: the problem and its remedy. */
  message: string;
  /** Expiry in Unix milliseconds if the problem is not found again; null if it lasts until it is solved. */
  until: number | null;
};

/** Message when the problem `storage` is over. */
export const storageRecoveredMessage = "Results of checks are stored again.";
