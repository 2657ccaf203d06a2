/** The child process that reads a source. */
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { createInterface } from "node:readline";
import { AppError } from "../../core/errors.ts";
import { importBounds } from "../../core/limits.ts";
import { formatBytes } from "../../core/text/formatting.ts";
import { openHere } from "./open-here.ts";
import type { OpenSource } from "./open-source.ts";
import type { Plan } from "../plan.ts";
import {
  batchBytes,
  type OpenRequest,
  type PlanHead,
  type PlanPart,
  type ReaderRequest,
  resultsPerBatch,
} from "./reader-messages.ts";

/** Serves one file to the parent process until it closes our input. */
export async function serveReader(): Promise<number> {
  yieldToOthers();
  const reader = new Reader();
  const output = Bun.stdout.writer();
  for await (const line of createInterface({ input: process.stdin })) {
    await output.write(`${await createResponse(reader, line)}\n`);
    await output.flush();
  }
  await reader.close();
  return 0;
}

/** Lowers our CPU priority, and lets the kernel kill this process first when memory is short. */
function yieldToOthers() {
  try {
    setPriority(10);
    writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch {
    // Only Linux has this file.
  }
}

async function createResponse(reader: Reader, line: string): Promise<string> {
  try {
    return `{"value":${await reader.handle(JSON.parse(line) as ReaderRequest)}}`;
  } catch (error) {
    const { code, message, details } =
      error instanceof AppError
        ? error
        : new AppError("BAD_REQUEST", `It can't be imported: ${(error as Error).message}`);
    return JSON.stringify({ error: { code, message, details } });
  }
}

type OpenedPlan = Omit<OpenSource, "plan"> & { name: string; plan: Plan | null };

class Reader {
  #opened: OpenedPlan | null = null;
  #batches: AsyncIterator<string> | null = null;

  /** Handles a request and returns the response as JSON. */
  async handle(request: ReaderRequest): Promise<string> {
    if (request.call === "open") return JSON.stringify(await this.#open(request));
    const opened = this.#opened;
    if (opened === null) throw new Error("Nothing is open.");
    const { history } = opened;
    switch (request.call) {
      case "plan":
        return this.#start(groupIntoBatches(splitPlan(opened)));
      case "beats":
        return this.#start(groupIntoSlices(history?.beats(request.since) ?? []));
      case "sums":
        return this.#start(groupIntoSlices(history?.sums?.(request.unit) ?? []));
      case "next":
        return this.#readNext();
      case "picture": {
        const picture = (await opened.picture?.(request.path)) ?? null;
        return JSON.stringify(picture && { ...picture, bytes: picture.bytes.toBase64() });
      }
    }
  }

  async #open({ source, from, ...opening }: OpenRequest): Promise<PlanHead> {
    const { plan, history, ...others } = await openHere(source, from, opening);
    this.#opened = { plan, history, name: plan.product, ...others };
    return {
      source: plan.source,
      product: plan.product,
      smtp: plan.smtp,
      history: history && { total: history.total, hasSums: history.sums !== null },
    };
  }

  #start(batches: AsyncIterable<string>): Promise<string> {
    this.#batches = batches[Symbol.asyncIterator]();
    return this.#readNext();
  }

  async #readNext(): Promise<string> {
    const result = await this.#batches?.next();
    return result === undefined || result.done === true ? "null" : result.value;
  }

  async close() {
    await this.#opened?.close?.();
  }
}

/** Yields the plan in parts and releases it. Throws if the plan exceeds the limits. */
function* splitPlan(opened: OpenedPlan): Generator<PlanPart> {
  const { plan } = opened;
  opened.plan = null;
  if (plan === null) return;
  let recordsLeft = importBounds.planned.value;
  const parts = [
    ...plan.records.map((record): PlanPart => ({ record })),
    ...plan.notTaken.map((notTaken): PlanPart => ({ notTaken })),
    ...plan.hints.map((hint): PlanPart => ({ hint })),
  ];
  for (const part of parts) {
    recordsLeft -= JSON.stringify(part).length;
    if (recordsLeft < 0)
      throw new AppError(
        "BAD_REQUEST",
        `${plan.product} can't be imported: its records have more than ${formatBytes(importBounds.planned.value)} together. Nothing was changed.`,
      );
    yield part;
  }
}

/** Groups parts into batches of about `batchBytes` of JSON. Measures each part, because records can be large. */
async function* groupIntoBatches(parts: Iterable<PlanPart>): AsyncGenerator<string> {
  let batch: string[] = [];
  let bytes = 0;
  for (const part of parts) {
    const text = JSON.stringify(part);
    batch.push(text);
    bytes += text.length;
    if (bytes < batchBytes) continue;
    yield `[${batch.join(",")}]`;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield `[${batch.join(",")}]`;
}

/** Groups heartbeats into batches by count, because they are small and of similar size. */
async function* groupIntoSlices(
  lists: AsyncIterable<readonly unknown[]> | Iterable<readonly unknown[]>,
): AsyncGenerator<string> {
  for await (const list of lists)
    for (let from = 0; from < list.length; from += resultsPerBatch)
      yield JSON.stringify(list.slice(from, from + resultsPerBatch));
}
