/** Routes of reports: as JSON, CSV and PDF, and by mail. */
import { z } from "zod";
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import type { ReportPrinter } from "./printer.ts";
import type { RateLimit } from "../http/access/rate-limit.ts";
import { HoldQuery } from "../http/held-changes/schema.ts";
import { downloadMailPdf, previewReportMail, sendReportMail } from "./mail-service.ts";
import {
  Report,
  ReportMailPreview,
  ReportMailQuery,
  ReportPdfQuery,
  ReportQuery,
  ReportToSend,
  SentReportMail,
  YearReport,
  YearReportQuery,
} from "./schema.ts";
import { getYearReport } from "./year-service.ts";
import { downloadReport, downloadReportAsPdf, getReport } from "./service.ts";

type ReportDependencies = {
  printer: ReportPrinter;
  /** Limit of reports sent on request, per organization. */
  reportLimit: RateLimit;
};

export const createReportRoutes = ({ printer, reportLimit }: ReportDependencies) =>
  createRouter("/api/v1/reports")
    .get(
      ...defineEndpoint("/", {
        name: "getReport",
        access: "read",
        limited: "filtered",
        long: true,
        summary: "Get the report of a month",
        description:
          "Covers the organization, or only the given monitor, monitor group or status page. A UTC hour belongs to the month in which it starts. Figures of groups, pages and the organization are sums of their monitors' figures, or are computed from such sums.",
        query: ReportQuery,
        data: Report,
        handle: ({ scope, query }) => getReport(scope, query),
      }),
    )
    .get(
      ...defineEndpoint("/year", {
        name: "getYearReport",
        access: "read",
        limited: "filtered",
        long: true,
        summary: "Get the report of a year",
        description:
          "The figures of the whole year, and the uptime of each month that has begun. An outage that continued into the next month counts in both months, and once in the year.",
        query: YearReportQuery,
        data: YearReport,
        handle: ({ scope, query }) => getYearReport(scope, query),
      }),
    )
    .get(
      ...defineEndpoint("/csv", {
        name: "getReportAsCsv",
        access: "read",
        limited: "filtered",
        bytes: "text/csv",
        long: true,
        summary: "Get the report of a month as CSV",
        description:
          "RFC 4180, in UTF-8: a line for the whole report, for each group and for each monitor. Cells that a spreadsheet could run as formulas start with an apostrophe.",
        query: ReportQuery,
        response: z.instanceof(File),
        handle: ({ scope, query }) => downloadReport(scope, query),
      }),
    )
    .get(
      ...defineEndpoint("/pdf", {
        name: "getReportAsPdf",
        access: "read",
        limited: "filtered",
        bytes: "application/pdf",
        timeoutSeconds: 120,
        errors: ["CONFLICT"],
        summary: "Get the report of a month as PDF",
        description:
          "Printed by the Chromium of this machine, one at a time. Without one, the response is 409. Lists at most 500 monitors, those with the most down time.",
        query: ReportPdfQuery,
        response: z.instanceof(File),
        handle: ({ scope, query }) => downloadReportAsPdf(scope, query, printer),
      }),
    )
    .get(
      ...defineEndpoint("/mail", {
        name: "previewReportMail",
        access: "read",
        limited: "denied",
        summary: "Preview the mail of a report",
        description:
          "The mail of the last week or month that is over, as it would be sent now. Nothing is sent, and the report need not be set up. Without `slaTarget` and `maintenance`, those of the report in the settings count.",
        query: ReportMailQuery,
        data: ReportMailPreview,
        handle: ({ scope, query }) => previewReportMail(scope, query, printer),
      }),
    )
    .get(
      ...defineEndpoint("/mail/pdf", {
        name: "getReportMailPdf",
        access: "read",
        limited: "denied",
        bytes: "application/pdf",
        timeoutSeconds: 120,
        errors: ["CONFLICT"],
        summary: "Get the PDF of the mail of a report",
        description:
          "The PDF that would be attached. Without Chromium on this machine, the response is 409.",
        query: ReportMailQuery,
        response: z.instanceof(File),
        handle: ({ scope, query }) => downloadMailPdf(scope, query, printer),
      }),
    )
    .post(
      ...defineEndpoint("/mail/send", {
        name: "sendReportMail",
        access: "write",
        limited: "denied",
        role: "admin",
        summary: "Send a report by mail now",
        description:
          "Sends the report of the last week or month that is over to all its recipients, also to those who already have it. It must be one of `reportMails` in the settings.",
        query: HoldQuery,
        body: ReportToSend,
        data: SentReportMail,
        errors: ["NOT_FOUND", "CONFLICT"],
        handle: ({ scope, body }) => sendReportMail(scope, body, reportLimit),
      }),
    );
