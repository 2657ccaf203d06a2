import { configurationBounds } from "../core/limits.ts";
import { defineEndpoint } from "../http/endpoint.ts";
import { createRouter } from "../http/request-context.ts";
import { ConfigDocument, ConfigExport, ConfigQuery, ConfigResult } from "./schema.ts";

export const configRoutes = createRouter("/api/v1/config")
  .get(
    ...defineEndpoint("/", {
      name: "exportConfig",
      access: "read",
      limited: "denied",
      long: true,
      summary: "Get the organization as a configuration",
      description: "Secrets are replaced by their paths. `signalbox export` writes it as YAML.",
      data: ConfigExport,
      // The request can wait for other changes to the organization.
      timeoutSeconds: 120,
      handle: async ({ scope }) => {
        const { exportConfiguration } = await import("./export-service.ts");
        return exportConfiguration(scope);
      },
    }),
  )
  .put(
    ...defineEndpoint("/", {
      name: "applyConfig",
      access: "write",
      limited: "denied",
      summary: "Apply a configuration to the organization",
      description:
        "Atomic: applies all changes or none. `/api/v1/config.schema.json` is the schema; `signalbox apply` sends it from YAML files. Bodies can have up to 8 MiB.",
      query: ConfigQuery,
      body: ConfigDocument,
      maxBodyBytes: configurationBounds.body.value,
      timeoutSeconds: 120,
      data: ConfigResult,
      errors: ["CONFLICT", "PRECONDITION_FAILED"],
      handle: async ({ scope, query, body }) => {
        const { applyConfiguration, parseApplyOptions } = await import("./service.ts");
        return applyConfiguration(scope, body, parseApplyOptions(query));
      },
    }),
  );
