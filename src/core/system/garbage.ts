/** So many bytes may wait to be collected. */
const collectedAfter = 64 * 1024 * 1024;

let waiting = 0;

/** Counts bytes outside of the heap that nobody holds any more: the engine lets 300 MB of them gather before it looks for them. */
export function discarded(bytes: number) {
  waiting += bytes;
  if (waiting < collectedAfter) return;
  waiting = 0;
  // Beside the event loop: forced to end at once it throws compiled code away, too, and holds the loop for 20 ms.
  Bun.gc(false);
}

/** Gives bytes back at once that nobody reads any more, unless they share a buffer with others. */
export function release({ buffer, length }: Uint8Array) {
  if (buffer instanceof ArrayBuffer && length > 0 && length === buffer.byteLength)
    buffer.transfer(0);
}
