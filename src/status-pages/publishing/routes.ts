/** REST routes of the publication of a status page as static files. */
import { defineEndpoint } from "../../http/endpoint.ts";
import { createRouter } from "../../http/request-context.ts";
import { Publishing, PublishingPatch } from "./schema.ts";
import { getPublishing, updatePublishing } from "./service.ts";

type PublishingDependencies = {
  /** Folder of `--publish-dir`; null to disallow folders. */
  publishDir: string | null;
};

export const createPublishingRoutes = ({ publishDir }: PublishingDependencies) =>
  createRouter("/api/v1/status-pages")
    .get(
      ...defineEndpoint("/:id/publishing", {
        name: "getStatusPagePublishing",
        access: "read",
        role: "admin",
        limited: "denied",
        summary: "Get the publication of a status page as static files",
        data: Publishing,
        handle: ({ scope, params }) => getPublishing(scope, params.id, publishDir),
      }),
    )
    .patch(
      ...defineEndpoint("/:id/publishing", {
        name: "updateStatusPagePublishing",
        access: "write",
        role: "admin",
        limited: "denied",
        summary: "Update the publication of a status page as static files",
        description:
          "Absent fields keep their value. The secret access key belongs to its endpoint. A change of the endpoint must send it again. Turning publication off removes the files.",
        body: PublishingPatch,
        data: Publishing,
        errors: ["CONFLICT", "PRECONDITION_FAILED"],
        handle: ({ scope, params, body }) => updatePublishing(scope, params.id, body, publishDir),
      }),
    );
