/** Downloads the database of a cluster, and replaces it. */
import { Database } from "bun:sqlite";
import { rmSync, statSync } from "node:fs";
import { formatBytes } from "../../core/text/formatting.ts";
import { type Content, readContent, listDifferences } from "../backup/content.ts";
import { unusableError } from "../file/data-files.ts";
import type { RqliteClient } from "./client.ts";

/**
 * Maximum bytes for several nodes, as measured. Replication through the log stores the data in memory several times.
 */
export const maxSharedBytes = 256 * 1024 * 1024;

/** Downloads a consistent snapshot of the cluster. */
export async function downloadSnapshot(client: RqliteClient, to: string): Promise<void> {
  // Finds the leader first, because any other node would buffer the whole download in memory.
  await client.query([["select 1"]]);
  await Bun.write(to, await client.sendRaw("/db/backup"));
  using database = new Database(to, { strict: true });
  // Leaves WAL mode, which rqlite can't load and which creates additional files.
  database.run("pragma journal_mode = delete");
}

export function readContentOfFile(file: string): Content {
  using database = new Database(file, { readonly: true });
  return readContent(database);
}

type Replacement = {
  /** Path of the database file. `wanted` is its content. */
  image: string;
  wanted: Content;
  /** Path of a backup of the current data. */
  before: string;
  /** Aborts the load. */
  signal?: AbortSignal;
  print?: (line: string) => void;
};

/**
 * Replaces all data of a cluster and verifies the result. Throws DATA_UNUSABLE if the cluster still has its previous
 * data, and another error if its state is unknown.
 */
export async function replaceAll(
  client: RqliteClient,
  { image, wanted, before, signal, print = () => {} }: Replacement,
): Promise<void> {
  await assertFits(client, image);
  let failure: Error | null = null;
  print(`Loading ${formatBytes(statSync(image).size)} into the cluster …`);
  try {
    await client.load(Bun.file(image), signal);
  } catch (error) {
    const { cause, message } = error as Error;
    failure = new Error(cause instanceof Error ? cause.message : message);
  }
  print("Reading it back and comparing it …");
  const after = `${image}.after`;
  try {
    await downloadSnapshot(client, after).catch((error: unknown) => {
      const { message } = failure ?? (error as Error);
      throw new Error(`It is unknown whether the cluster has the new or the old data: ${message}.`);
    });
    const wrong = listDifferences(wanted, readContentOfFile(after));
    if (wrong.length === 0) return;
    if (
      failure !== null &&
      listDifferences(readContentOfFile(before), readContentOfFile(after)).length === 0
    )
      throw unusableError(`The cluster rejected it and is unchanged: ${failure.message}.`);
    await client.load(Bun.file(before));
    throw unusableError(
      `The cluster's data differs from the loaded data (${wrong.join(", ")}). Its previous data was restored.`,
    );
  } finally {
    rmSync(after, { force: true });
  }
}

async function assertFits(client: RqliteClient, image: string) {
  const bytes = statSync(image).size;
  if (bytes <= maxSharedBytes || (await client.listNodes()).length === 1) return;
  throw unusableError(
    `These are ${formatBytes(bytes)}, and several nodes take at most ${formatBytes(maxSharedBytes)} at once. Nothing was changed. Load it into one node that is alone, and have the others join it.`,
  );
}
