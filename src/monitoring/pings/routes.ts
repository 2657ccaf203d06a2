import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { Job, JobQuery, SchedulePreview, SchedulePreviewQuery } from "../jobs/schema.ts";
import { getJob, previewSchedule } from "./service.ts";

export const jobRoutes = createRouter("/api/v1/monitors").get(
  ...defineEndpoint("/:id/job", {
    name: "getJob",
    access: "read",
    limited: "monitor",
    summary: "Get the next due times and the last reports of a push monitor",
    description:
      "The last 100 reports are stored, each with the first 10,000 bytes of its body. The reports of one run have the same run ID, or none.",
    query: JobQuery,
    data: Job,
    errors: ["CONFLICT"],
    handle: ({ scope, params, query }) => getJob(scope, params.id, query.limit),
  }),
);

export const jobDashboardRoutes = createRouter("/job-schedule").get(
  ...defineEndpoint("/", {
    name: "previewJobSchedule",
    access: "read",
    limited: "unrelated",
    summary: "Get the next due times of a schedule",
    query: SchedulePreviewQuery,
    data: SchedulePreview,
    handle: async ({ scope, query }) => previewSchedule(scope, query),
  }),
);
