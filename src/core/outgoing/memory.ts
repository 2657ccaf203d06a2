/** Buffers received data, and counts its memory. */
import { releaseBuffer } from "../system/garbage-collection.ts";

/** Counts the bytes of responses in memory, so that concurrent responses can't exhaust it. */
export type Memory = {
  /** Throws LocalFailure if the limit is reached. */
  reserve(bytes: number): void;
  release(bytes: number): void;
};

/** Counts nothing, for callers with small buffers. */
export const uncountedMemory: Memory = { reserve() {}, release() {} };

/** Uncounted bytes per response. */
const freeBytes = 8 * 1024;

/** A growing buffer of at most `max` bytes. Drops further bytes. */
export function createGrowingBuffer(max: number, memory: Memory) {
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;

  function grow(needed: number) {
    const size = Math.min(max, Math.max(needed, 2 * buffer.length, 1024));
    memory.reserve(Math.max(0, size - freeBytes) - Math.max(0, buffer.length - freeBytes));
    const larger = Buffer.allocUnsafeSlow(size);
    larger.set(buffer.subarray(0, length));
    releaseBuffer(buffer);
    buffer = larger;
  }

  return {
    push(chunk: Uint8Array) {
      const part = chunk.length > max - length ? chunk.subarray(0, max - length) : chunk;
      if (length + part.length > buffer.length) grow(length + part.length);
      buffer.set(part, length);
      length += part.length;
    },
    bytes: () => buffer.subarray(0, length),
    drop() {
      memory.release(Math.max(0, buffer.length - freeBytes));
      releaseBuffer(buffer);
      buffer = Buffer.alloc(0);
      length = 0;
    },
  };
}

/** Minimum size of a chunk that is passed on immediately. Smaller chunks are collected. */
const minPiece = 4 * 1024;

/** Passes on data in pieces. Collects small chunks, except the first, and splits large ones. */
export function collectPieces(onPiece: (piece: Buffer) => void, maxPiece: number) {
  let gathered: ReturnType<typeof createGrowingBuffer> | null = null;

  function flush() {
    const piece = gathered?.bytes();
    if (piece === undefined || piece.length === 0) return;
    // Needs a new buffer, because the receiver can retain the piece.
    gathered = createGrowingBuffer(minPiece, uncountedMemory);
    onPiece(piece);
  }

  return {
    push(chunk: Buffer) {
      if (gathered !== null && chunk.length < minPiece) {
        if (gathered.bytes().length + chunk.length > minPiece) flush();
        gathered?.push(chunk);
        return;
      }
      flush();
      gathered ??= createGrowingBuffer(minPiece, uncountedMemory);
      for (let from = 0; from < chunk.length; from += maxPiece)
        onPiece(chunk.length <= maxPiece ? chunk : chunk.subarray(from, from + maxPiece));
    },
    flush,
  };
}
