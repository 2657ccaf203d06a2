/** Routes that list and download the audit log. */
import { z } from "zod";
import { isAtLeast } from "../../core/roles.ts";
import { pageSchema } from "../../core/paging.ts";
import { getSignedInSession } from "../../http/access/authentication.ts";
import { defineEndpoint } from "../../http/endpoint.ts";
import { type RequestContext, createRouter } from "../../http/request-context.ts";
import type { Sessions } from "../../http/access/session.ts";
import { resolveOrganization } from "../../http/access/session.ts";
import { AuditEntry, AuditFilters, AuditQuery, exportFormats } from "./schema.ts";
import { downloadAuditLog, listAuditEntries } from "./service.ts";

/** Whether the client still has permission to read the log. */
function createReadCheck({
  request,
  requestContext,
  services: { sessions },
}: {
  request: Request;
  requestContext: RequestContext;
  services: { sessions: Sessions };
}): () => Promise<boolean> {
  const session = getSignedInSession(requestContext);
  const { id: organizationId } = resolveOrganization(request, session);
  return () =>
    sessions.isStillOpen(session.id, ({ organizations }) =>
      organizations.some(({ id, role }) => id === organizationId && isAtLeast(role, "admin")),
    );
}

export const auditLogRoutes = createRouter("/audit-log")
  .get(
    ...defineEndpoint("/", {
      name: "listAuditEntries",
      access: "read",
      limited: "denied",
      role: "admin",
      summary: "List the audit log",
      description: "Newest first.",
      query: AuditQuery,
      response: pageSchema(AuditEntry),
      handle: ({ scope, query }) => listAuditEntries(scope, query),
    }),
  )
  .get(
    ...defineEndpoint("/export.csv", {
      name: "exportAuditLogAsCsv",
      access: "read",
      limited: "denied",
      role: "admin",
      streams: exportFormats.csv,
      query: AuditFilters,
      summary: "Download the audit log as CSV, oldest first",
      response: z.never(),
      handle: async ({ scope, query, ...asked }) =>
        downloadAuditLog(scope, "csv", query, createReadCheck(asked)),
    }),
  )
  .get(
    ...defineEndpoint("/export.jsonl", {
      name: "exportAuditLogAsJsonLines",
      access: "read",
      limited: "denied",
      role: "admin",
      streams: exportFormats.jsonl,
      query: AuditFilters,
      summary: "Download the audit log as JSON Lines, oldest first",
      response: z.never(),
      handle: async ({ scope, query, ...asked }) =>
        downloadAuditLog(scope, "jsonl", query, createReadCheck(asked)),
    }),
  );
