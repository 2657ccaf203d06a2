/** Describes a push monitor as a check of Healthchecks.io: https://healthchecks.io/docs/api/ */
import type { ReportKind } from "../../core/statuses.ts";

type BriefReport = { at: number; kind: ReportKind; durationMs: number | null };

/** Fields of a push monitor that a check shows. */
export type CheckedJob = {
  name: string;
  description: string;
  tags: readonly string[];
  status: string;
  interval: number;
  grace: number;
  slug: string | null;
  schedule: string | null;
  timeZone: string;
  successKeywords: readonly string[];
  failureKeywords: readonly string[];
  alertChannelIds: readonly string[];
};

/** State of a job according to its reports. */
type JobState = {
  reports: readonly BriefReport[];
  /** Start of the current run, and the next due time, in Unix milliseconds; null for none. */
  startedAt: number | null;
  dueAt: number | null;
};

/** Version 1 has a status `started`, later versions a field. */
export type ChecksVersion = "v1" | "v2" | "v3";

const isOutcome = ({ kind }: BriefReport) => kind === "success" || kind === "failure";

const toSecond = (at: number | null) =>
  at === null ? null : new Date(at).toISOString().replace(/\.\d+Z$/, "+00:00");

function statusOf({ status }: CheckedJob, { dueAt }: JobState, now: number): string {
  if (status === "paused" || status === "down") return status;
  if (status === "pending") return "new";
  return dueAt !== null && now >= dueAt ? "grace" : "up";
}

/** Derives a slug from a name, as versions 1 and 2 of Healthchecks do. */
const slugify = (name: string) =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\w\s-]/g, "")
    .trim()
    .replace(/[-\s]+/g, "-");

/** Returns the check without its addresses. */
export function toCheck(job: CheckedJob, state: JobState, version: ChecksVersion, now: number) {
  const status = statusOf(job, state, now);
  const isStarted = state.startedAt !== null;
  const last = state.reports.find(isOutcome);
  const isAwaited = status === "up" || status === "grace";
  const dueTimes = [isAwaited ? state.dueAt : null, status === "down" ? null : state.startedAt];
  const dueAt = dueTimes.reduce((one, other) =>
    one === null || (other !== null && other < one) ? other : one,
  );
  const keywords = job.successKeywords.length + job.failureKeywords.length;
  return {
    name: job.name,
    slug: job.slug ?? slugify(job.name),
    tags: job.tags.map((tag) => tag.replace(/\s+/g, "-")).join(" "),
    desc: job.description,
    grace: job.grace,
    n_pings: state.reports.length,
    status: version === "v1" && isStarted && status !== "down" ? "started" : status,
    ...(version !== "v1" && { started: isStarted }),
    last_ping: toSecond(last?.at ?? null),
    next_ping: toSecond(dueAt),
    ...(last?.durationMs != null && { last_duration: Math.floor(last.durationMs / 1000) }),
    // A ping at the end of a run resumes a paused monitor.
    manual_resume: false,
    methods: "",
    subject: "",
    subject_fail: "",
    start_kw: "",
    success_kw: job.successKeywords.join(","),
    failure_kw: job.failureKeywords.join(","),
    filter_subject: false,
    filter_body: keywords > 0,
    ...(job.schedule === null
      ? { timeout: job.interval }
      : { schedule: job.schedule, tz: job.timeZone }),
  };
}
