/** So many bytes may wait to be collected. */
const collectedAfter = 64 * 1024 * 1024;
/** What a heap may hold whose collection is not felt: some 30 ms. */
const smallHeap = 96 * 1024 * 1024;

let waiting = 0;

/** Counts bytes outside of the heap that nobody holds any more: the engine lets 300 MB of them gather before it looks for them. */
export function discarded(bytes: number) {
  waiting += bytes;
  if (waiting < collectedAfter) return;
  waiting = 0;
  const { heapUsed, external } = process.memoryUsage();
  if (heapUsed - external < smallHeap) Bun.gc(true);
}
