/** Routes of the admin page for imports. */
import { z } from "zod";
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import {
  ImportReport,
  ImportRun,
  ImportStart,
  NewUpload,
  Upload,
  UploadPart,
  UploadSource,
} from "./schema.ts";
import {
  beginUpload,
  continueUpload,
  type ImportDependencies,
  importUpload,
  previewUpload,
} from "./upload-service.ts";
import { listImports, undoImport } from "./undo-service.ts";

/** Request timeout in seconds. Importing millions of heartbeats can take minutes. */
const timeoutSeconds = 240;

export const createImportRoutes = (dependencies: ImportDependencies) =>
  createRouter("/imports")
    .get(
      ...defineEndpoint("/", {
        name: "listImports",
        access: "read",
        limited: "denied",
        role: "admin",
        summary: "List the imports, newest first",
        data: z.array(ImportRun),
        handle: ({ scope }) => listImports(scope),
      }),
    )
    .post(
      ...defineEndpoint("/uploads", {
        name: "beginUpload",
        access: "write",
        limited: "denied",
        role: "admin",
        summary: "Start the upload of a file to import",
        body: NewUpload,
        data: Upload,
        status: 201,
        isLocated: false,
        errors: ["CONFLICT"],
        handle: ({ scope, body }) => beginUpload(scope, dependencies, body),
      }),
    )
    .put(
      ...defineEndpoint("/uploads/:id", {
        name: "continueUpload",
        access: "write",
        limited: "denied",
        role: "admin",
        summary: "Send the next part of the file",
        query: UploadPart,
        upload: ["application/octet-stream"],
        data: Upload,
        errors: ["CONFLICT"],
        handle: ({ scope, params, query, upload }) =>
          continueUpload(scope, dependencies, params.id, query.offset, upload.bytes),
      }),
    )
    .post(
      ...defineEndpoint("/uploads/:id/preview", {
        name: "previewImport",
        access: "write",
        limited: "denied",
        role: "admin",
        timeoutSeconds: timeoutSeconds,
        summary: "Preview the import of the file",
        body: UploadSource,
        data: ImportReport,
        errors: ["CONFLICT"],
        handle: ({ scope, params, body }) =>
          previewUpload(scope, dependencies, params.id, body.source),
      }),
    )
    .post(
      ...defineEndpoint("/uploads/:id/import", {
        name: "startImport",
        access: "write",
        limited: "denied",
        role: "admin",
        timeoutSeconds: timeoutSeconds,
        summary: "Import the file, or selected records of it",
        body: ImportStart,
        data: ImportRun,
        errors: ["CONFLICT"],
        handle: ({ scope, params, body }) => importUpload(scope, dependencies, params.id, body),
      }),
    )
    .post(
      ...defineEndpoint("/:id/undo", {
        name: "undoImport",
        access: "write",
        limited: "denied",
        role: "admin",
        summary: "Remove the records that an import created",
        data: ImportRun,
        errors: ["CONFLICT"],
        handle: ({ scope, params }) => undoImport(scope, params.id),
      }),
    );
