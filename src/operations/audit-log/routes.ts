import { Elysia } from "elysia";
import { pageOf } from "../../core/paging.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestContext } from "../../http/request-context.ts";
import { AuditEntry, AuditQuery } from "./schema.ts";
import { listAuditEntries } from "./service.ts";

export const auditLogRoutes = new Elysia({ prefix: "/audit-log" }).use(requestContext).get(
  ...endpoint(
    "/",
    {
      name: "listAuditEntries",
      access: "read",
      role: "admin",
      summary: "List who changed what",
      description: "Newest first.",
      query: AuditQuery,
      response: pageOf(AuditEntry),
    },
    ({ scope, query }) => listAuditEntries(scope, query),
  ),
);
