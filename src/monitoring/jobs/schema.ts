/** Wire format of jobs: the schedule of a push monitor, its next due times, and the reports of its runs. */
import { z } from "zod";
import { integer, line, nullable, Timestamp, TimeZone } from "../../core/fields.ts";
import { createCountField } from "../../core/paging.ts";
import { jobBounds } from "../../core/limits.ts";
import { reportKinds } from "../../core/statuses.ts";

const daySeconds = 86_400;

const slugPattern = /^[a-z0-9_-]+$/;

const keywords = z.array(line(200)).max(jobBounds.keywords.value).default([]);

const about = {
  schedule:
    "When the job is due: cron with five fields as in Debian's crontab(5), also with `L` and `#`, or OnCalendar of systemd. Null for every `interval`, counted from the last report.",
  timeZone: "IANA time zone of `schedule`.",
  maximumRunTime:
    "Seconds after a report of the start within which the end must be reported. Null for `grace`, as in Healthchecks, but at least a minute.",
  slug: "Name of the monitor in the addresses of pings with a ping key: `/ping/KEY/SLUG`.",
  successKeywords: "A success counts only if its body contains one of them.",
  failureKeywords: "A success counts as a failure if its body contains one of them.",
};

/** Fields of a push monitor about its job. */
export const jobFields = {
  schedule: nullable(line(500)).meta({ description: about.schedule, example: "30 2 * * *" }),
  timeZone: TimeZone.default("UTC").meta({ description: about.timeZone }),
  maximumRunTime: nullable(integer(1, 7 * daySeconds)).meta({ description: about.maximumRunTime }),
  slug: nullable(
    z.string().min(1).max(100).regex(slugPattern, "must be of a-z, 0-9, - and _"),
  ).meta({ description: about.slug, example: "database-backup" }),
  successKeywords: keywords.meta({ description: about.successKeywords }),
  failureKeywords: keywords.meta({ description: about.failureKeywords }),
};

/** The same fields in responses. */
export const shownJobFields = {
  schedule: z.string().nullable(),
  timeZone: z.string(),
  maximumRunTime: z.int().nullable(),
  slug: z.string().nullable(),
  successKeywords: z.array(z.string()),
  failureKeywords: z.array(z.string()),
};

const JobReport = z
  .object({
    at: Timestamp,
    kind: z.enum(reportKinds).meta({
      description: "`start` and `log` have no outcome, and don't change the monitor's status.",
    }),
    runId: z.string().nullable(),
    durationMs: z.int().nullable().meta({
      description: "Time since the start of the same run; null if no start was reported.",
    }),
    exitStatus: z.int().nullable(),
    body: z.string().nullable().meta({
      description: "Start of the body, or the message. Escape sequences are removed.",
    }),
    address: z.string().nullable(),
    userAgent: z.string().nullable(),
  })
  .meta({ id: "JobReport" });
export type JobReport = z.infer<typeof JobReport>;

export const Job = z
  .object({
    nextDueAt: z.array(Timestamp).meta({
      description:
        "The next three times at which a report is due. With an interval, they count from the last report.",
    }),
    overdueAt: Timestamp.nullable().meta({
      description: "Time at which the monitor becomes down without a report; null for never.",
    }),
    startedAt: Timestamp.nullable().meta({
      description: "Start of the current run; null if none was reported.",
    }),
    reports: z.array(JobReport).meta({ description: "Newest first." }),
  })
  .meta({
    id: "Job",
    example: {
      nextDueAt: [
        "2026-11-21T01:30:00.000Z",
        "2026-11-22T01:30:00.000Z",
        "2026-11-23T01:30:00.000Z",
      ],
      overdueAt: "2026-11-21T01:35:00.000Z",
      startedAt: null,
      reports: [
        {
          at: "2026-11-20T01:42:10.000Z",
          kind: "success",
          runId: null,
          durationMs: 730_000,
          exitStatus: 0,
          body: "12 tables copied",
          address: "192.168.1.20",
          userAgent: "curl/8.5.0",
        },
      ],
    },
  });
export type Job = z.infer<typeof Job>;

export const JobQuery = z.strictObject({
  limit: createCountField(jobBounds.reports.value, 20, "Reports"),
});

export const SchedulePreviewQuery = z.strictObject({
  schedule: line(500),
  timeZone: TimeZone.default("UTC"),
});

/** Next due times of a schedule that is not saved, or the reason why it is invalid. */
export const SchedulePreview = z.object({
  dueAt: z.array(Timestamp),
  issue: z.string().nullable(),
});
export type SchedulePreview = z.infer<typeof SchedulePreview>;
