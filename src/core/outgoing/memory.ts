import { release } from "../system/garbage.ts";

/** Counts what is kept of answers while they are read, so that many at once can't fill the machine. */
export type Memory = {
  /** Throws OwnTrouble where too much is kept already. */
  take(bytes: number): void;
  giveBack(bytes: number): void;
};

/** For what keeps little whatever comes. */
export const uncounted: Memory = { take() {}, giveBack() {} };

/** So little is kept of any answer that it need not be counted. */
const freeBytes = 8 * 1024;

/** Bytes that arrive piece by piece, however small, in one buffer of at most `max`; what comes beyond is left out. */
export function growingBuffer(max: number, memory: Memory) {
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;

  function grow(needed: number) {
    const size = Math.min(max, Math.max(needed, 2 * buffer.length, 1024));
    memory.take(Math.max(0, size - freeBytes) - Math.max(0, buffer.length - freeBytes));
    const larger = Buffer.allocUnsafeSlow(size);
    larger.set(buffer.subarray(0, length));
    release(buffer);
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
    /** Lets go of all of it. */
    drop() {
      memory.giveBack(Math.max(0, buffer.length - freeBytes));
      release(buffer);
      buffer = Buffer.alloc(0);
      length = 0;
    },
  };
}

/** From so many bytes on a piece is worth the work that is done for each of them. */
const minPiece = 4 * 1024;

/** Hands chunks on in pieces: many small ones together, but for the first, and large ones cut. */
export function inPieces(give: (piece: Buffer) => void, maxPiece: number) {
  let gathered: ReturnType<typeof growingBuffer> | null = null;

  function flush() {
    const piece = gathered?.bytes();
    if (piece === undefined || piece.length === 0) return;
    // Who is given it may keep it.
    gathered = growingBuffer(minPiece, uncounted);
    give(piece);
  }

  return {
    push(chunk: Buffer) {
      if (gathered !== null && chunk.length < minPiece) {
        if (gathered.bytes().length + chunk.length > minPiece) flush();
        gathered?.push(chunk);
        return;
      }
      flush();
      gathered ??= growingBuffer(minPiece, uncounted);
      for (let from = 0; from < chunk.length; from += maxPiece)
        give(chunk.length <= maxPiece ? chunk : chunk.subarray(from, from + maxPiece));
    },
    flush,
  };
}
