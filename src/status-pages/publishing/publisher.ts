/**
 * Publishes pages as static files after each change, and each minute so that their time stays current. Removes the files
 * from places that no page uses any more.
 */
import type { Leases } from "../../cluster/leases.ts";
import type { Log } from "../../core/log.ts";
import type { Vault } from "../../core/security/secrets.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import { formatTimestamp, dayMs } from "../../core/time/clock.ts";
import { computeBackoffMs } from "../../core/time/pace.ts";
import { type LoggedEvent, stateTypes } from "../../events/catalog.ts";
import { findLastSeq } from "../../events/log.ts";
import type { EventReader, Subscription } from "../../events/reader.ts";
import { createPublishDestination, type PublishDestination } from "./destination.ts";
import type { PublishedFile, RenderingServices } from "./files.ts";
import { asOfFile, isRenderedAt, joinOccasions, type RenderOccasion } from "./occasion-rules.ts";
import { folderRoot, isSamePlace, locatePlace, type Place, removalDays } from "./rules.ts";
import type { PublishingPlan } from "./schema.ts";
import { openBucket, openPublishing, toPlaceValues } from "./service.ts";
import {
  changePlace,
  claimPlace,
  findPublishing,
  forgetPlace,
  isFolderTaken,
  listPlaces,
  listPublishedPages,
  type PlaceRow,
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
/** Wait before files are removed, so that undoing a deletion leaves no gap. */
const removalDelayMs = 15_000;
const computeRetryMs = (failures: number) => computeBackoffMs(failures, 10_000, 600_000);
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
  /** Time of the first change that is not published; null if there is none. */
  changedAt: number | null;
  /** The kind of publication that the unpublished changes need; null for none. */
  occasion: RenderOccasion | null;
  startedAt: number;
  failures: number;
  retryAt: number;
  isRunning: boolean;
};

/** A place that no page uses, until its files are removed. */
type Removal = { place: Place; failures: number; retryAt: number };

const buildPlaceKey = ({ root, prefix }: Place) => `${root} ${prefix}`;
const buildPageKey = ({ organizationId, pageId }: Pick<Target, "organizationId" | "pageId">) =>
  `${organizationId} ${pageId}`;

export class PagePublisher {
  readonly #dependencies: Dependencies;
  readonly #monotonic: () => number;
  #targets = new Map<string, Target>();
  #removals = new Map<string, Removal>();
  /** Places to which files are being written, and from which they are being removed: never both. */
  readonly #writing = new Set<string>();
  readonly #removing = new Map<string, Promise<void>>();
  #subscription: Subscription | null = null;
  #timer: ReturnType<typeof setInterval> | null = null;
  readonly #running = new Set<Promise<void>>();
  #isStopped = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#monotonic = dependencies.monotonic ?? (() => performance.now());
  }

  async start() {
    const { store, events } = this.#dependencies;
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
    } while (
      this.#targets.values().some((target) => isDue(target, this.#monotonic())) ||
      this.#removals.values().some((removal) => this.#isRemovalDue(removal))
    );
  }

  async #refreshTargets() {
    const { store } = this.#dependencies;
    const pages = await listPublishedPages(store);
    const abandoned = selectAbandoned(await listPlaces(store), pages);
    const removals = await Promise.all(
      abandoned.map(async (row): Promise<[string, Removal]> => {
        const isUrgent = Object.keys(row.files).length === 0 || (await isFolderTaken(store, row));
        const known = this.#removals.get(buildPlaceKey(row)) ?? {
          place: { root: row.root, prefix: row.prefix },
          failures: 0,
          retryAt: this.#monotonic() + removalDelayMs,
        };
        if (isUrgent && known.failures === 0) known.retryAt = -Infinity;
        return [buildPlaceKey(row), known];
      }),
    );
    this.#removals = new Map(removals);
    this.#targets = new Map(
      pages.map((page) => [
        buildPageKey(page),
        this.#targets.get(buildPageKey(page)) ?? {
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
    if (this.#targets.size === 0 && this.#removals.size === 0) return;
    if (!this.#isLeader()) return;
    const now = this.#monotonic();
    for (const removal of this.#removals.values()) {
      if (this.#isStopped || this.#running.size >= pagesAtOnce) return;
      if (!this.#isRemovalDue(removal)) continue;
      const key = buildPlaceKey(removal.place);
      const run = this.#runRemoval(removal).finally(() => {
        this.#running.delete(run);
        this.#removing.delete(key);
      });
      this.#running.add(run);
      this.#removing.set(key, run);
    }
    for (const target of this.#targets.values()) {
      if (this.#isStopped || this.#running.size >= pagesAtOnce) return;
      if (!isDue(target, now)) continue;
      const run = this.#run(target).finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
  }

  #isLeader() {
    return this.#dependencies.leases.findNamed("subscribers") !== null;
  }

  #isRemovalDue({ place, retryAt }: Removal) {
    const key = buildPlaceKey(place);
    return this.#monotonic() >= retryAt && !this.#writing.has(key) && !this.#removing.has(key);
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
      target.retryAt = this.#monotonic() + computeRetryMs(target.failures);
      target.changedAt ??= this.#monotonic();
      target.occasion = joinOccasions(target.occasion, occasion);
      await this.#recordFailure(target, error);
    } finally {
      target.isRunning = false;
    }
  }

  async #publish({ organizationId, pageId }: Target, occasion: RenderOccasion) {
    const { store, vault } = this.#dependencies;
    const row = await findPublishing({ store, organizationId }, pageId);
    const slug = await findSlug({ store, organizationId }, pageId);
    if (row === null || slug === null) return;
    const plan = openPublishing(vault, row);
    const place = locatePlace(plan, slug);
    if (place === null) return;
    const key = buildPlaceKey(place);
    while (this.#removing.has(key)) await this.#removing.get(key);
    this.#writing.add(key);
    try {
      await this.#publishTo(place, plan, row, occasion);
    } finally {
      this.#writing.delete(key);
    }
  }

  /** Publishes the files of a page that the occasion can have changed. */
  async #publishTo(
    place: Place,
    plan: PublishingPlan,
    row: PublishingRow,
    occasion: RenderOccasion,
  ) {
    const { store, targets, clock, publishDir } = this.#dependencies;
    const { organizationId, pageId } = row;
    const destination = await createPublishDestination(place, plan.s3, { publishDir, targets });
    const known = await this.#claim(row, place);
    const { listPublishedFiles } = await import("./files.ts");
    const all = await listPublishedFiles(this.#dependencies, {
      organizationId,
      pageId,
      url: plan.url,
    });
    const files = all.filter((file) => isRenderedAt(file.occasion, occasion));
    const key = { ...place, organizationId, pageId };
    const record = (stored: Hashes) => store.atomic([changePlace(store, key, { files: stored })]);
    // Recorded before the upload, so that a file is removed later even if this process is killed.
    const unknown = files.filter(({ path }) => !(path in known)).map(({ path }) => [path, ""]);
    const recorded = { ...known, ...(Object.fromEntries(unknown) as Record<string, string>) };
    if (unknown.length > 0) await record(recorded);
    const currentPaths = new Set(all.map(({ path }) => path));
    const outdated =
      occasion === "content" ? Object.keys(recorded).filter((path) => !currentPaths.has(path)) : [];
    const changes = new FileChanges(recorded, record);
    const changeable = files.filter(({ isImmutable }) => isImmutable !== true);
    changes.paths = [...changeable.map(({ path }) => path), ...outdated];
    try {
      await putFiles(destination, sortForWriting(files, known), changes);
      if (outdated.length > 0) await changes.begin();
      for (const path of outdated) await destination.remove(path);
    } catch (error) {
      await changes.giveUp();
      throw error;
    }
    const entries = Object.entries({ ...recorded, ...changes.hashes });
    const remainingEntries = Object.fromEntries(
      entries.filter(([path]) => !outdated.includes(path)),
    );
    await store.atomic([
      ...(!changes.hasStarted && Bun.deepEquals(remainingEntries, recorded)
        ? []
        : [changePlace(store, key, { files: remainingEntries })]),
      recordPublication(store, row, {
        publishedAt: formatTimestamp(clock()),
        failingSince: null,
        lastError: null,
      }),
    ]);
  }

  /** Reserves the place for the page, before the first file is written. Returns the hashes of its files there. */
  async #claim(row: PublishingRow, place: Place): Promise<Record<string, string>> {
    const { store } = this.#dependencies;
    const values = toPlaceValues(row);
    const find = async () => (await listPlaces(store, row)).find((one) => isSamePlace(one, place));
    const known = await find();
    const isClaimed =
      known?.removingSince === null &&
      known.bucket === values.bucket &&
      known.secrets === values.secrets;
    if (isClaimed) return known.files;
    await store.atomic(claimPlace(store, { ...place, ...values }));
    return (await find())?.files ?? {};
  }

  async #runRemoval(removal: Removal) {
    const { store, log } = this.#dependencies;
    try {
      // A page can use the place again, for example because it was restored.
      const all = await listPlaces(store);
      const rows = selectAbandoned(all, await listPublishedPages(store));
      const row = rows.find((one) => isSamePlace(one, removal.place));
      if (row === undefined || (await this.#remove(row)))
        this.#removals.delete(buildPlaceKey(removal.place));
      else removal.retryAt = this.#monotonic() + refreshMs;
      removal.failures = 0;
    } catch (error) {
      removal.failures++;
      removal.retryAt = this.#monotonic() + computeRetryMs(removal.failures);
      log.warn("the files of a status page could not be removed", { cause: describeError(error) });
    }
  }

  /** Removes the files that pages have published to a place, and forgets it. Returns false if that is not possible yet. */
  async #remove(row: PlaceRow): Promise<boolean> {
    const { store, vault, targets, clock, publishDir, log } = this.#dependencies;
    if (row.root === folderRoot && publishDir === null) return false;
    const now = formatTimestamp(clock());
    const paths = Object.keys(row.files);
    const removingSince = row.removingSince ?? now;
    // Without hashes, a page that uses the place again writes all files.
    const files = Object.fromEntries(paths.map((path) => [path, ""]));
    await store.atomic([changePlace(store, row, { removingSince, files })]);
    try {
      const destination = await createPublishDestination(row, openBucket(vault, row), {
        publishDir,
        targets,
      });
      for (const path of paths) {
        if (!this.#isLeader()) return false;
        await destination.remove(path);
      }
      await destination.tidy(paths);
    } catch (error) {
      const isHopeless = Date.parse(removingSince) + removalDays * dayMs <= clock();
      if (row.root === folderRoot || !isHopeless) {
        const failure = { failingSince: row.failingSince ?? now, lastError: describeError(error) };
        await store.atomic([changePlace(store, row, failure)]);
        throw error;
      }
      log.warn("the files of a status page were given up, and stay in their bucket", {
        pageId: row.pageId,
        cause: describeError(error),
      });
    }
    await store.atomic([forgetPlace(store, row)]);
    return true;
  }

  async #recordFailure({ organizationId, pageId }: Target, error: unknown) {
    const { store, log, clock } = this.#dependencies;
    const lastError = describeError(error);
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

const describeError = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Selects the places that their page does not use any more. */
const selectAbandoned = (
  places: readonly PlaceRow[],
  pages: Awaited<ReturnType<typeof listPublishedPages>>,
) =>
  places.filter((row) => {
    const page = pages.find((one) => buildPageKey(one) === buildPageKey(row));
    return page === undefined || !isSamePlace(page.place, row);
  });

/** Whether a monitor only changed its state, which changes no incident and no content. */
const isStateEvent = (type: LoggedEvent["type"]) => stateTypes.some((one) => one === type);

function isDue({ changedAt, startedAt, retryAt, isRunning }: Target, now: number): boolean {
  if (isRunning || now < retryAt) return false;
  if (now - startedAt >= refreshMs) return true;
  return changedAt !== null && now >= Math.max(changedAt + settleMs, startedAt + intervalMs);
}

/** Sorts files so that none is written before those that it uses or links. The time of the publication comes last. */
function sortForWriting(
  files: readonly PublishedFile[],
  known: Readonly<Record<string, string>>,
): PublishedFile[] {
  const groups = Object.groupBy(files, ({ path, isImmutable }) => {
    if (isImmutable === true) return "immutable";
    if (path === asOfFile) return "time";
    return path in known ? "known" : "new";
  });
  const { immutable = [], new: added = [], known: changed = [], time = [] } = groups;
  return [...immutable, ...added.toReversed(), ...changed, ...time];
}

type Hashes = Record<string, string>;

/**
 * The hashes of a place during a publication. Before the first file changes, the stored hashes of all files that can
 * change are removed. So after a failure or a kill, these files are written again, even with unchanged content.
 */
class FileChanges {
  readonly known: Readonly<Hashes>;
  /** Hashes of the files that this publication has written or found unchanged. */
  readonly hashes: Hashes = {};
  /** The files that can change. */
  paths: readonly string[] = [];
  readonly #record: (hashes: Hashes) => Promise<void>;
  #begun: Promise<void> | null = null;

  constructor(known: Readonly<Hashes>, record: (hashes: Hashes) => Promise<void>) {
    this.known = known;
    this.#record = record;
  }

  get hasStarted() {
    return this.#begun !== null;
  }

  begin(): Promise<void> {
    return (this.#begun ??= this.#forget());
  }

  async giveUp() {
    if (this.hasStarted) await this.#forget();
  }

  /** A full disk must not stop the copy, which reports it. */
  async #forget() {
    const forgotten = Object.fromEntries(this.paths.map((path) => [path, ""]));
    await this.#record({ ...this.known, ...forgotten, ...this.hashes }).catch(() => {});
  }
}

/** Writes the files whose content differs, several at once in their order. */
async function putFiles(
  destination: PublishDestination,
  files: readonly PublishedFile[],
  changes: FileChanges,
): Promise<void> {
  const queue = files.values();
  const errors: unknown[] = [];
  const putNext = async () => {
    for (const file of queue) {
      if (errors.length > 0) return;
      const hash = await putFile(destination, file, changes);
      if (hash !== null) changes.hashes[file.path] = hash;
    }
  };
  const keep = (error: unknown) => void errors.push(error);
  // Waits for all, so that no upload of this publication follows one of the next.
  await Promise.all(Array.from({ length: uploadsAtOnce }, () => putNext().catch(keep)));
  if (errors.length > 0) throw errors[0];
}

async function putFile(
  destination: PublishDestination,
  file: PublishedFile,
  changes: FileChanges,
): Promise<string | null> {
  const known = changes.known[file.path] ?? "";
  // The name of an unchanging file contains its hash.
  if (file.isImmutable && known !== "" && (await destination.has(file.path))) return known;
  const content = await file.read();
  if (content === null) return null;
  const hash = Bun.hash(content).toString(36);
  const isTimed = file.occasion === "time";
  if (!isTimed && hash === known && (await destination.has(file.path, content))) return hash;
  if (known !== "") await changes.begin();
  await destination.put(file, content);
  return isTimed ? "" : hash;
}
