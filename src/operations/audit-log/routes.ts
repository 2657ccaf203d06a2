/** Routes that list and download the audit log. */
import { z } from "zod";
import { isAtLeast } from "../../core/roles.ts";
import { pageOf } from "../../core/paging.ts";
import { signedInSession } from "../../http/access/authentication.ts";
import { endpoint } from "../../http/endpoint.ts";
import { type RequestContext, routesUnder } from "../../http/request-context.ts";
import type { Sessions } from "../../http/access/session.ts";
import { organizationOf } from "../../http/access/session.ts";
import { AuditEntry, AuditFilters, AuditQuery, exportFormats } from "./schema.ts";
import { downloadAuditLog, listAuditEntries } from "./service.ts";

/** Whether the client still has permission to read the log. */
function mayRead({
  request,
  requestContext,
  services: { sessions },
}: {
  request: Request;
  requestContext: RequestContext;
  services: { sessions: Sessions };
}): () => Promise<boolean> {
  const session = signedInSession(requestContext);
  const { id: organizationId } = organizationOf(request, session);
  return () =>
    sessions.isStillOpen(session.id, ({ organizations }) =>
      organizations.some(({ id, role }) => id === organizationId && isAtLeast(role, "admin")),
    );
}

export const auditLogRoutes = routesUnder("/audit-log")
  .get(
    ...endpoint("/", {
      name: "listAuditEntries",
      access: "read",
      role: "admin",
      summary: "List the audit log",
      description: "Newest first.",
      query: AuditQuery,
      response: pageOf(AuditEntry),
      handle: ({ scope, query }) => listAuditEntries(scope, query),
    }),
  )
  .get(
    ...endpoint("/export.csv", {
      name: "exportAuditLogAsCsv",
      access: "read",
      role: "admin",
      streams: exportFormats.csv,
      query: AuditFilters,
      summary: "Download the audit log as CSV, oldest first",
      response: z.never(),
      handle: async ({ scope, query, ...asked }) =>
        downloadAuditLog(scope, "csv", query, mayRead(asked)),
    }),
  )
  .get(
    ...endpoint("/export.jsonl", {
      name: "exportAuditLogAsJsonLines",
      access: "read",
      role: "admin",
      streams: exportFormats.jsonl,
      query: AuditFilters,
      summary: "Download the audit log as JSON Lines, oldest first",
      response: z.never(),
      handle: async ({ scope, query, ...asked }) =>
        downloadAuditLog(scope, "jsonl", query, mayRead(asked)),
    }),
  );
