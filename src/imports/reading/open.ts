/** Opens a source in a child process. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SourceOptions, OpenSource } from "./open-source.ts";
import type { Beat, History, Plan, Sum } from "../plan.ts";
import type { PlanHead, PlanPart, ReaderRequest } from "./reader-messages.ts";
import {
  describeSource,
  type ReaderProcess,
  type ReadingBounds,
  startReader,
} from "./reader-process.ts";
import type { ImportSource } from "../schema.ts";

type OpenOptions = SourceOptions & {
  /** Overrides the default limits of the reading process. */
  readingBounds?: Partial<ReadingBounds>;
};

/**
 * Opens a source in a child process. A hostile file can't block the server or exhaust its memory. Throws
 * VALIDATION_ERROR and BAD_REQUEST for an unreadable file.
 */
export async function openSource(
  source: ImportSource,
  from: string,
  { workIn, readingBounds, ...opening }: OpenOptions,
): Promise<OpenSource> {
  const folder = mkdtempSync(join(workIn, "import-"));
  const reader = startReader(opening.name ?? describeSource(from), readingBounds);
  const close = async () => {
    await reader.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { history, ...head } = (await reader.request({
      call: "open",
      source,
      from,
      workIn: folder,
      ...opening,
    })) as PlanHead;
    return {
      plan: await readPlan(reader, head),
      history: history && createHistory(reader, history),
      picture: (path) => requestPicture(reader, path),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readPlan(
  reader: ReaderProcess,
  head: Pick<Plan, "source" | "product" | "smtp">,
): Promise<Plan> {
  const plan: Plan = { ...head, records: [], notTaken: [], hints: [] };
  for await (const parts of readBatches<PlanPart>(reader, { call: "plan" }))
    for (const part of parts)
      if ("record" in part) plan.records.push(part.record);
      else if ("notTaken" in part) plan.notTaken.push(part.notTaken);
      else plan.hints.push(part.hint);
  return plan;
}

const createHistory = (
  reader: ReaderProcess,
  { total, hasSums }: NonNullable<PlanHead["history"]>,
): History => ({
  total,
  beats: (since) => readBatches<Beat>(reader, { call: "beats", since }),
  sums: hasSums ? (unit) => readBatches<Sum>(reader, { call: "sums", unit }) : null,
});

async function requestPicture(reader: ReaderProcess, path: string) {
  const picture = (await reader.request({ call: "picture", path })) as {
    type: string;
    bytes: string;
  } | null;
  return picture && { ...picture, bytes: Uint8Array.fromBase64(picture.bytes) };
}

/** Prefetches the next batch while the caller processes one. At most two batches are in memory. */
async function* readBatches<T>(reader: ReaderProcess, first: ReaderRequest): AsyncGenerator<T[]> {
  for (let request = reader.request(first); ;) {
    const batch = await request;
    if (batch === null) return;
    request = reader.request({ call: "next" });
    // If the caller stops early, no one awaits this request.
    request.catch(() => {});
    yield batch as T[];
  }
}
