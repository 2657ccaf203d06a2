import type { TargetFailure } from "../failures.ts";

/** Reads a binary message from start to end. Throws `invalid()` if the message is too short. */
export class ByteReader {
  private at = 0;
  private readonly message: Buffer;
  private readonly invalid: () => TargetFailure;

  constructor(message: Buffer, invalid: () => TargetFailure) {
    this.message = message;
    this.invalid = invalid;
  }

  get left(): number {
    return this.message.length - this.at;
  }

  /** Returns the next byte without consuming it; undefined at the end. */
  peek(): number | undefined {
    return this.message[this.at];
  }

  readBytes(count: number): Buffer {
    if (count < 0 || count > this.left) throw this.invalid();
    this.at += count;
    return this.message.subarray(this.at - count, this.at);
  }

  readRest(): Buffer {
    return this.readBytes(this.left);
  }

  /** Reads a big-endian signed integer. */
  readInt(size: number): number {
    return this.readBytes(size).readIntBE(0, size);
  }

  /** Reads a little-endian unsigned integer. */
  readUintLE(size: number): number {
    return this.readBytes(size).readUIntLE(0, size);
  }

  /** Reads UTF-8 text up to the next NUL. */
  readText(): string {
    const end = this.message.indexOf(0, this.at);
    if (end === -1) throw this.invalid();
    const text = this.message.toString("utf8", this.at, end);
    this.at = end + 1;
    return text;
  }
}
