/** Released bytes that trigger a collection. */

const collectAfterBytes = 64 * 1024 * 1024;

let releasedBytes = 0;

/** Counts released bytes outside the heap, and collects garbage above a limit. The engine would wait for 300 MB. */
export function countReleased(bytes: number) {
  releasedBytes += bytes;
  if (releasedBytes < collectAfterBytes) return;
  releasedBytes = 0;
  // Asynchronous, because a synchronous collection also discards compiled code, and blocks the event loop for 20 ms.
  Bun.gc(false);
}

/** Frees the memory of a buffer immediately, unless it is shared with other buffers. */
export function releaseBuffer({ buffer, length }: Uint8Array) {
  if (buffer instanceof ArrayBuffer && length > 0 && length === buffer.byteLength)
    buffer.transfer(0);
}
