/** Reads lists and records from the database while their response is sent. */
import { forEachYielding } from "../time/event-loop.ts";

/**
 * A list that is read in portions during the response, so that it is never completely in memory. Each call of `read`
 * starts at the first entry.
 */
export class StreamedList<T> {
  readonly read: () => AsyncIterable<readonly T[]>;

  constructor(read: () => AsyncIterable<readonly T[]>) {
    this.read = read;
  }
}

/** An object whose fields are read in portions during the response. */
export class StreamedRecord {
  readonly read: () => AsyncIterable<readonly (readonly [name: string, value: unknown])[]>;

  constructor(read: StreamedRecord["read"]) {
    this.read = read;
  }
}

/** A list in memory, or one that is read during the response. */
export type ListOrStream<T> = readonly T[] | StreamedList<T>;

/** Calls `use` for each entry. Only one portion is in memory at a time. */
export async function forEachListed<T>(
  list: ListOrStream<T>,
  use: (entry: T) => void,
): Promise<void> {
  if (!(list instanceof StreamedList)) return forEachYielding(list, use);
  for await (const portion of list.read()) await forEachYielding(portion, use);
}

/** Appends an entry. A streamed list is read later and already contains it. */
export const appendEntry = <T>(list: ListOrStream<T>, entry: T): ListOrStream<T> =>
  list instanceof StreamedList ? list : [...list, entry];

/** Replaces the entry with the same ID. A streamed list is read later and already contains it. */
export const replaceEntry = <T extends { id: string }>(
  list: ListOrStream<T>,
  entry: T,
): ListOrStream<T> =>
  list instanceof StreamedList ? list : list.map((one) => (one.id === entry.id ? entry : one));

/** Maps a list. A streamed list is mapped portion by portion as it is read. */
export function mapListed<T, U>(
  list: ListOrStream<T>,
  use: (entry: T) => U,
): U[] | StreamedList<U> {
  if (!(list instanceof StreamedList)) return list.map(use);
  return new StreamedList(async function* () {
    for await (const portion of list.read()) yield portion.map(use);
  });
}

/** Splits entries into portions of about `maxBytes`, with at least one entry each. */
export function* splitByBytes<T extends { bytes: number }>(
  entries: readonly T[],
  maxBytes: number,
) {
  let portion: T[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (portion.length > 0 && (bytes + entry.bytes > maxBytes || portion.length === maxEntries)) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(entry);
    bytes += entry.bytes;
  }
  if (portion.length > 0) yield portion;
}

const maxEntries = 500;
