/** Bytes that can wait for a collection. */

const collectedAfter = 64 * 1024 * 1024;

let waiting = 0;

/** Counts released bytes outside of the heap, and then collects garbage: the engine would wait for 300 MB of them. */
export function discarded(bytes: number) {
  waiting += bytes;
  if (waiting < collectedAfter) return;
  waiting = 0;
  // Not synchronously: that would discard compiled code, too, and block the event loop for 20 ms.
  Bun.gc(false);
}

/** Frees unused bytes at once, unless they share a buffer with others. */
export function release({ buffer, length }: Uint8Array) {
  if (buffer instanceof ArrayBuffer && length > 0 && length === buffer.byteLength)
    buffer.transfer(0);
}
