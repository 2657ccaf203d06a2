/** REST routes of status pages and their files. */
import { z } from "zod";
import { Deleted } from "../core/paging.ts";
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { fontType, logoTypes } from "./rules.ts";
import { NewStatusPage, StatusPage, StatusPagePatch } from "./schema.ts";
import {
  createStatusPage,
  deleteStatusPage,
  getStatusPage,
  listStatusPages,
  removeFile,
  setFile,
  updateStatusPage,
} from "./service.ts";

export const statusPageRoutes = createRouter("/api/v1/status-pages")
  .get(
    ...defineEndpoint("/", {
      name: "listStatusPages",
      access: "read",
      limited: "filtered",
      cached: true,
      summary: "List all status pages",
      description: "The organization's default page first, then newest first.",
      data: z.array(StatusPage),
      handle: ({ scope }) => listStatusPages(scope),
    }),
  )
  .post(
    ...defineEndpoint("/", {
      name: "createStatusPage",
      access: "write",
      limited: "denied",
      summary: "Create a status page",
      description: "A slug or host of another page, in any organization, is a conflict.",
      body: NewStatusPage,
      data: StatusPage,
      status: 201,
      errors: ["NOT_FOUND", "CONFLICT"],
      handle: ({ scope, body }) => createStatusPage(scope, body),
    }),
  )
  .get(
    ...defineEndpoint("/:id", {
      name: "getStatusPage",
      access: "read",
      limited: "denied",
      cached: true,
      summary: "Get a status page",
      data: StatusPage,
      handle: ({ scope, params }) => getStatusPage(scope, params.id),
    }),
  )
  .patch(
    ...defineEndpoint("/:id", {
      name: "updateStatusPage",
      access: "write",
      limited: "denied",
      summary: "Update a status page",
      description:
        "Absent fields keep their value; null clears the password. `sections` and `hosts` are replaced as a whole.",
      body: StatusPagePatch,
      data: StatusPage,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params, body }) => updateStatusPage(scope, params.id, body),
    }),
  )
  .delete(
    ...defineEndpoint("/:id", {
      name: "deleteStatusPage",
      access: "write",
      limited: "denied",
      summary: "Delete a status page",
      description: "Deleting the organization's default page is a conflict. Hide it instead.",
      response: Deleted,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: ({ scope, params }) => deleteStatusPage(scope, params.id),
    }),
  )
  .put(
    ...defineEndpoint("/:id/logo", {
      name: "setStatusPageLogo",
      access: "write",
      limited: "denied",
      summary: "Set the logo of a status page",
      description:
        "The body is the image itself, at most 256 KiB. It is served unchanged, with a policy that blocks scripts and external content. An SVG can have at most 5,000 elements and no entities of its own.",
      upload: logoTypes,
      data: StatusPage,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params, upload }) => setFile(scope, params.id, "logo", upload),
    }),
  )
  .delete(
    ...defineEndpoint("/:id/logo", {
      name: "removeStatusPageLogo",
      access: "write",
      limited: "denied",
      summary: "Remove the logo of a status page",
      data: StatusPage,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => removeFile(scope, params.id, "logo"),
    }),
  )
  .put(
    ...defineEndpoint("/:id/favicon", {
      name: "setStatusPageFavicon",
      access: "write",
      limited: "denied",
      summary: "Set the favicon of a status page",
      description:
        "The icon of browser tabs, instead of a dot in the color of the state. The same limits as for a logo apply.",
      upload: logoTypes,
      data: StatusPage,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params, upload }) => setFile(scope, params.id, "favicon", upload),
    }),
  )
  .delete(
    ...defineEndpoint("/:id/favicon", {
      name: "removeStatusPageFavicon",
      access: "write",
      limited: "denied",
      summary: "Remove the favicon of a status page",
      data: StatusPage,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => removeFile(scope, params.id, "favicon"),
    }),
  )
  .put(
    ...defineEndpoint("/:id/font", {
      name: "setStatusPageFont",
      access: "write",
      limited: "denied",
      summary: "Set the font of a status page",
      description:
        "The body is a WOFF2 file, at most 256 KiB. It is served unchanged, and used before the `font` of the look.",
      upload: [fontType],
      data: StatusPage,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params, upload }) => setFile(scope, params.id, "font", upload),
    }),
  )
  .delete(
    ...defineEndpoint("/:id/font", {
      name: "removeStatusPageFont",
      access: "write",
      limited: "denied",
      summary: "Remove the font of a status page",
      data: StatusPage,
      errors: ["PRECONDITION_FAILED"],
      handle: ({ scope, params }) => removeFile(scope, params.id, "font"),
    }),
  );
