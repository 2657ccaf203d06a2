/** Publishes pages as static files after each change, and each minute so that their time stays current. */
import type { Leases } from "../../cluster/leases.ts";
import type { Log } from "../../core/log.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { type LoggedEvent, stateTypes } from "../../events/catalogue.ts";
import { findLastSeq } from "../../events/log.ts";
import type { EventReader, Subscription } from "../../events/reader.ts";
import {
  createPublishDestination,
  type PublishDestination,
  removePublishedFiles,
  slugOfPlace,
} from "./destination.ts";
import { listPublishedFiles, type PublishedFile, type RenderingServices } from "./files.ts";
import { isRenderedAt, joinOccasions, type Occasion, retryDelayMs } from "./file-plan.ts";
import { openPublishing } from "./service.ts";
import type { PublishingPlan } from "./schema.ts";
import {
  findPublishing,
  isSlugUsed,
  listPublishedPages,
  type PublishingRow,
  recordPublication,
} from "./store.ts";
import { findSlug } from "../store.ts";

const tickMs = 500;
/** Wait after a change, so that changes of the same moment are published together. */
const settleMs = 1_000;
/** Minimum time between two publications of a page that changes all the time. */
const intervalMs = 5_000;
/** Maximum age of the published time. Readers are warned after five minutes. */
const refreshMs = 60_000;
const uploadsAtOnce = 6;
/** Pages that are published at the same time, so that a slow bucket does not delay the others. */
const pagesAtOnce = 4;

type Dependencies = RenderingServices & {
  vault: Vault;
  leases: Leases;
  targets: TargetGuard;
  log: Log;
  events: EventReader;
  publishDir: string | null;
  /** Monotonic clock in milliseconds. */
  monotonic?: () => number;
};

type Target = {
  organizationId: string;
  pageId: string;
  /** Time of the first change that is not published; null without one. */
  changedAt: number | null;
  /** What the unpublished changes need; null without one. */
  occasion: Occasion | null;
  startedAt: number;
  failures: number;
  retryAt: number;
  isRunning: boolean;
};

const keyOf = ({ organizationId, pageId }: Pick<Target, "organizationId" | "pageId">) =>
  `${organizationId} ${pageId}`;

export class PagePublisher {
  readonly #on: Dependencies;
  readonly #monotonic: () => number;
  #targets = new Map<string, Target>();
  #subscription: Subscription | null = null;
  #timer: ReturnType<typeof setInterval> | null = null;
  readonly #running = new Set<Promise<void>>();
  #isStopped = false;

  constructor(dependencies: Dependencies) {
    this.#on = dependencies;
    this.#monotonic = dependencies.monotonic ?? (() => performance.now());
  }

  async start() {
    const { store, events } = this.#on;
    const seq = await findLastSeq(store);
    await this.#refreshTargets();
    this.#subscription = events.subscribe("publishing", seq, (all) => this.handleEvents(all));
    this.#timer = setInterval(() => this.#startDue(), tickMs);
  }

  async stop() {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#subscription?.stop();
    await Promise.all(this.#running);
  }

  /** Marks the pages that events can change. */
  async handleEvents(events: readonly Pick<LoggedEvent, "organizationId" | "type">[]) {
    if (events.some(({ type }) => /^(?:status-page|organization)\./.test(type)))
      await this.#refreshTargets();
    for (const { organizationId, type } of events) this.#markChanged(organizationId, type);
  }

  /** Publishes everything that is due, and waits for it. Tests use it instead of `start`. */
  async runOnce() {
    do {
      this.#startDue();
      await Promise.all(this.#running);
    } while (this.#targets.values().some((target) => isDue(target, this.#monotonic())));
  }

  async #refreshTargets() {
    const pages = await listPublishedPages(this.#on.store);
    this.#targets = new Map(
      pages.map((page) => [
        keyOf(page),
        this.#targets.get(keyOf(page)) ?? {
          ...page,
          changedAt: -Infinity,
          occasion: "content",
          startedAt: -Infinity,
          failures: 0,
          retryAt: -Infinity,
          isRunning: false,
        },
      ]),
    );
  }

  /** Marks the pages of an organization. New settings are tried at once. */
  #markChanged(organizationId: string, type: LoggedEvent["type"]) {
    for (const target of this.#targets.values()) {
      if (target.organizationId !== organizationId) continue;
      target.changedAt ??= this.#monotonic();
      target.occasion = joinOccasions(target.occasion, isStateEvent(type) ? "state" : "content");
      if (type === "status-page.publishing-changed")
        Object.assign(target, { retryAt: -Infinity, startedAt: -Infinity });
    }
  }

  #startDue() {
    if (this.#targets.size === 0 || this.#on.leases.findNamed("subscribers") === null) return;
    const now = this.#monotonic();
    for (const target of this.#targets.values()) {
      if (this.#isStopped || this.#running.size >= pagesAtOnce) return;
      if (!isDue(target, now)) continue;
      const run = this.#run(target).finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
  }

  async #run(target: Target) {
    const occasion = target.occasion ?? "time";
    Object.assign(target, { isRunning: true, startedAt: this.#monotonic() });
    Object.assign(target, { changedAt: null, occasion: null });
    try {
      await this.#publish(target, occasion);
      target.failures = 0;
    } catch (error) {
      target.failures++;
      target.retryAt = this.#monotonic() + retryDelayMs(target.failures);
      target.changedAt ??= this.#monotonic();
      target.occasion = joinOccasions(target.occasion, occasion);
      await this.#recordFailure(target, error);
    } finally {
      target.isRunning = false;
    }
  }

  /** Publishes the files of a page that the occasion can have changed. */
  async #publish({ organizationId, pageId }: Target, occasion: Occasion) {
    const { store, vault, targets, clock, publishDir } = this.#on;
    const row = await findPublishing({ store, organizationId }, pageId);
    const slug = await findSlug({ store, organizationId }, pageId);
    if (row === null || slug === null) return;
    const plan = openPublishing(vault, row);
    if (!plan.enabled) return;
    const destination = await createPublishDestination(plan, { publishDir, slug, targets });
    const known = row.place === destination.place ? row.files : {};
    await this.#removeRenamed(row, slug, plan.to);
    const all = await listPublishedFiles(this.#on, { organizationId, pageId, url: plan.url });
    const files = all.filter((file) => isRenderedAt(file.occasion, occasion));
    const record = (result: Parameters<typeof recordPublication>[2]) =>
      store.atomic([recordPublication(store, row, result)]);
    // Recorded before the upload, so that a file is removed later even if this process is killed.
    const unknown = files.filter(({ path }) => !(path in known)).map(({ path }) => [path, ""]);
    const recorded = { ...known, ...(Object.fromEntries(unknown) as Record<string, string>) };
    if (unknown.length > 0) await record({ place: destination.place, files: recorded });
    const hashes = await putFiles(destination, files, recorded);
    const wanted = new Set(all.map(({ path }) => path));
    const outdated =
      occasion === "content" ? Object.keys(recorded).filter((path) => !wanted.has(path)) : [];
    for (const path of outdated) await destination.remove(path);
    const entries = Object.entries({ ...recorded, ...hashes });
    const kept = Object.fromEntries(entries.filter(([path]) => !outdated.includes(path)));
    await record({
      ...(!Bun.deepEquals(kept, row.files) && { place: destination.place, files: kept }),
      publishedAt: formatTimestamp(clock()),
      failingSince: null,
      lastError: null,
    });
  }

  /** Removes the files under the previous slug of a renamed page, unless another page has that slug now. */
  async #removeRenamed({ place, files }: PublishingRow, slug: string, to: PublishingPlan["to"]) {
    const { store, publishDir } = this.#on;
    const before = slugOfPlace(place);
    if (to !== "folder" || publishDir === null || before === null || before === slug) return;
    if (await isSlugUsed(store, before)) return;
    await removePublishedFiles(publishDir, before, Object.keys(files));
  }

  async #recordFailure({ organizationId, pageId }: Target, error: unknown) {
    const { store, log, clock } = this.#on;
    const lastError = error instanceof Error ? error.message : String(error);
    log.warn("a status page could not be published", { pageId, cause: lastError });
    const record = async () => {
      const row = await findPublishing({ store, organizationId }, pageId);
      if (row === null) return;
      const failingSince = row.failingSince ?? formatTimestamp(clock());
      await store.atomic([recordPublication(store, row, { failingSince, lastError })]);
    };
    await record().catch((cause: unknown) =>
      log.warn("a failed publication could not be recorded", { pageId, cause: String(cause) }),
    );
  }
}

/** Whether a monitor only changed its state, which changes no incident and no content. */
const isStateEvent = (type: LoggedEvent["type"]) => stateTypes.some((one) => one === type);

function isDue({ changedAt, startedAt, retryAt, isRunning }: Target, now: number): boolean {
  if (isRunning || now < retryAt) return false;
  if (now - startedAt >= refreshMs) return true;
  return changedAt !== null && now >= Math.max(changedAt + settleMs, startedAt + intervalMs);
}

/** Writes the files whose content differs, several at once in their order. Returns the hashes of all files. */
async function putFiles(
  destination: PublishDestination,
  files: readonly PublishedFile[],
  known: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  const queue = files.values();
  const errors: unknown[] = [];
  const work = async () => {
    for (const file of queue) {
      if (errors.length > 0) return;
      const hash = await putFile(destination, file, known[file.path] ?? "");
      if (hash !== null) hashes[file.path] = hash;
    }
  };
  const keep = (error: unknown) => void errors.push(error);
  // Waits for all, so that no upload of this publication follows one of the next.
  await Promise.all(Array.from({ length: uploadsAtOnce }, () => work().catch(keep)));
  if (errors.length > 0) throw errors[0];
  return hashes;
}

async function putFile(
  destination: PublishDestination,
  file: PublishedFile,
  known: string,
): Promise<string | null> {
  // The name of an unchanging file contains its hash.
  if (file.isImmutable && known !== "") return known;
  const content = await file.read();
  if (content === null) return null;
  const hash = Bun.hash(content).toString(36);
  const isTimed = file.occasion === "time";
  if (isTimed || hash !== known) await destination.put(file, content);
  return isTimed ? "" : hash;
}
