import { z } from "zod";
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { Report, ReportQuery } from "./schema.ts";
import { downloadReport, getReport } from "./service.ts";

export const reportRoutes = createRouter("/api/v1/reports")
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
  );
