/** A binary heap. The earliest entry has index 0. */

export type Heap<T extends { at: number }> = T[];

export function push<T extends { at: number }>(heap: Heap<T>, entry: T) {
  let index = heap.push(entry) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (timeAt(heap, parent) <= entry.at) break;
    swap(heap, index, parent);
    index = parent;
  }
}

/** Removes and returns the earliest entry; undefined if there is none. */
export function pop<T extends { at: number }>(heap: Heap<T>): T | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  heap[0] = last;
  for (let index = 0; ;) {
    const left = 2 * index + 1;
    const least = timeAt(heap, left + 1) < timeAt(heap, left) ? left + 1 : left;
    if (timeAt(heap, least) >= last.at) return first;
    swap(heap, index, least);
    index = least;
  }
}

function timeAt(heap: readonly { at: number }[], index: number): number {
  return heap[index]?.at ?? Infinity;
}

function swap<T>(heap: T[], one: number, other: number) {
  [heap[one], heap[other]] = [heap[other] as T, heap[one] as T];
}
