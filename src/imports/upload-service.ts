/** Previews and imports uploaded files. */
import type { Scope } from "../events/scope.ts";
import type { ImportUploads } from "./uploads.ts";
import { openSource } from "./reading/open.ts";
import type { OpenSource } from "./reading/open-source.ts";
import type { ImportReport, ImportRun, ImportSource, NewUpload } from "./schema.ts";
import { runImport } from "./service.ts";
import { listImports } from "./undo-service.ts";

export type ImportDependencies = {
  uploads: ImportUploads;
  /** Retention of results and hourly values, in days. */
  keepResults: number;
  keepHours: number;
};

/** Starts an upload in parts. Throws CONFLICT if disk space is missing. */
export async function beginUpload(
  { organizationId }: Scope,
  { uploads }: ImportDependencies,
  file: NewUpload,
) {
  return { id: await uploads.beginUpload(organizationId, file), received: 0 };
}

/** Appends a part at `offset`. Throws NOT_FOUND, and CONFLICT for an unexpected offset. */
export async function continueUpload(
  { organizationId }: Scope,
  { uploads }: ImportDependencies,
  id: string,
  offset: number,
  bytes: Uint8Array,
) {
  return { id, received: await uploads.appendPart(organizationId, id, offset, bytes) };
}

function useUpload<T>(
  scope: Scope,
  { uploads }: ImportDependencies,
  id: string,
  source: ImportSource,
  use: (opened: OpenSource) => Promise<T>,
): Promise<T> {
  return uploads.useUpload(scope.organizationId, id, async ({ file, folder, name }) => {
    // Variables in an uploaded file must not expand to the appliance's environment.
    const opened = await openSource(source, file, {
      workIn: folder,
      now: scope.clock(),
      variables: {},
      limits: scope.limits,
      readsNamedFiles: false,
      name,
    });
    try {
      return await use(opened);
    } finally {
      await opened.close?.();
    }
  });
}

/**
 * Reports the effects of an import without changing anything. Throws NOT_FOUND, CONFLICT, and BAD_REQUEST for an
 * unreadable file.
 */
export function previewUpload(
  scope: Scope,
  dependencies: ImportDependencies,
  id: string,
  source: ImportSource,
) {
  const { keepResults, keepHours } = dependencies;
  return useUpload(
    scope,
    dependencies,
    id,
    source,
    async ({ plan, history, picture }): Promise<ImportReport> => {
      const options = { dryRun: true, keepResults, keepHours, ...(picture && { picture }) };
      return (await runImport(scope, plan, history, options)).report;
    },
  );
}

/** Imports the selected records of an upload and deletes the file. Throws the same errors as a preview. */
export async function importUpload(
  scope: Scope,
  dependencies: ImportDependencies,
  id: string,
  {
    source,
    only,
    paused,
  }: { source: ImportSource; only: readonly string[] | null; paused: boolean },
): Promise<ImportRun> {
  const { keepResults, keepHours, uploads } = dependencies;
  await useUpload(scope, dependencies, id, source, ({ plan, history, picture }) =>
    runImport(scope, plan, history, {
      keepResults,
      keepHours,
      paused,
      ...(only !== null && { only: new Set(only) }),
      ...(picture && { picture }),
    }),
  );
  await uploads.removeUpload(scope.organizationId, id);
  const [run] = await listImports(scope);
  if (run === undefined) throw new Error("The import was not recorded.");
  return run;
}
