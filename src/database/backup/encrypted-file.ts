import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import * as crypto from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import type { DataError } from "../../core/errors.ts";
import { refusedBackup } from "./refused-backup.ts";

declare module "node:crypto" {
  function argon2Sync(
    algorithm: "argon2id",
    parameters: Record<"parallelism" | "memory" | "passes" | "tagLength", number> &
      Record<"message" | "nonce", Uint8Array>,
  ): Buffer;
}

/**
 * A file under a passphrase: a header, then frames of AES-256-GCM in the STREAM construction (Hoang and
 * others, "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance", 2015). The nonce of a
 * frame counts it and says whether it is the last; every frame authenticates the whole header. So no
 * frame can be changed, moved, left out or added, and the end can't be cut off.
 */
const magic = Buffer.from("signalbox sealed");
const version = 1;
const tagBytes = 16;

/** Where the header's parts begin. Numbers are big-endian. */
const at = {
  version: 16,
  lanes: 17,
  passes: 18,
  memoryKiB: 20,
  frameBytes: 24,
  salt: 28,
  prefix: 44,
  /** Tells a wrong passphrase from a damaged file. */
  check: 52,
  end: 68,
} as const;

/** RFC 9106 §4, the second recommended option. */
const argon2 = { lanes: 4, passes: 3, memoryKiB: 64 * 1024 };
/** No file makes us work harder. */
const most = { lanes: 16, passes: 32, memoryKiB: 1024 * 1024, frameBytes: 16 * 1024 * 1024 };
const frameBytes = 1024 * 1024;

type Key = { key: Uint8Array; check: Uint8Array };

export function isEncrypted(start: Uint8Array): boolean {
  return magic.equals(start.subarray(0, magic.length));
}

/** Writes what comes in `chunks`, whatever their sizes, to a new file under a passphrase; memory is one frame. */
export function encryptTo(
  to: string,
  passphrase: string,
  chunks: Iterable<Uint8Array>,
  { lanes, passes, memoryKiB } = argon2,
) {
  const header = Buffer.alloc(at.end);
  magic.copy(header);
  header[at.version] = version;
  header[at.lanes] = lanes;
  header.writeUInt16BE(passes, at.passes);
  header.writeUInt32BE(memoryKiB, at.memoryKiB);
  header.writeUInt32BE(frameBytes, at.frameBytes);
  randomBytes(at.check - at.salt - 1).copy(header, at.salt);
  const { key, check } = keyOf(passphrase, header);
  header.set(check, at.check);
  const target = openSync(to, "wx", 0o600);
  try {
    writeSync(target, header);
    const frame = Buffer.alloc(frameBytes);
    let filled = 0;
    let count = 0;
    const write = (isLast: boolean) => {
      const nonce = nonceOf(header, count++, isLast);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(header);
      writeSync(target, cipher.update(frame.subarray(0, filled)));
      cipher.final();
      writeSync(target, cipher.getAuthTag());
      filled = 0;
    };
    for (const chunk of chunks)
      for (let done = 0; done < chunk.length;) {
        if (filled === frameBytes) write(false);
        const part = chunk.subarray(done, done + frameBytes - filled);
        frame.set(part, filled);
        filled += part.length;
        done += part.length;
      }
    write(true);
    fsyncSync(target);
  } finally {
    closeSync(target);
  }
}

/** What is in such a file, frame by frame, each of them authenticated. Throws DATA_UNUSABLE. */
export function* decrypted(file: string, passphrase: string): Generator<Uint8Array, void> {
  const source = openSync(file, "r");
  try {
    const { size } = fstatSync(source);
    const header = headerOf(source, file);
    const { key, check } = keyOf(passphrase, header);
    if (!header.subarray(at.check).equals(check))
      throw refusedBackup(
        file,
        "does not open with this passphrase",
        "Give the one it was made with",
      );
    const frame = Buffer.alloc(header.readUInt32BE(at.frameBytes) + tagBytes);
    let position: number = at.end;
    for (let count = 0; position < size; count++) {
      const length = readSync(source, frame, 0, frame.length, position);
      position += length;
      yield opened(frame.subarray(0, length), header, key, count, position >= size, file);
    }
    if (position === at.end) throw damaged(file);
  } finally {
    closeSync(source);
  }
}

/** How many bytes are in it, if it is whole. */
export function decryptedBytes(file: string): number {
  const source = openSync(file, "r");
  try {
    const frame = headerOf(source, file).readUInt32BE(at.frameBytes) + tagBytes;
    const sealed = fstatSync(source).size - at.end;
    return Math.max(0, sealed - Math.ceil(sealed / frame) * tagBytes);
  } finally {
    closeSync(source);
  }
}

function opened(
  frame: Buffer,
  header: Buffer,
  key: Uint8Array,
  count: number,
  isLast: boolean,
  file: string,
): Uint8Array {
  const end = frame.length - tagBytes;
  if (end < 0) throw damaged(file);
  const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(header, count, isLast))
    .setAAD(header)
    .setAuthTag(frame.subarray(end));
  const plain = decipher.update(frame.subarray(0, end));
  try {
    decipher.final();
  } catch {
    throw damaged(file);
  }
  return plain;
}

function headerOf(source: number, file: string): Buffer {
  const header = Buffer.alloc(at.end);
  if (readSync(source, header, 0, at.end, 0) < at.end) throw damaged(file);
  if (header[at.version] !== version)
    throw refusedBackup(file, "was encrypted by a newer Signalbox, or is damaged");
  const { lanes, passes, memoryKiB } = parametersOf(header);
  const frame = header.readUInt32BE(at.frameBytes);
  const isSane =
    lanes >= 1 &&
    lanes <= most.lanes &&
    passes >= 1 &&
    passes <= most.passes &&
    memoryKiB >= 8 * lanes &&
    memoryKiB <= most.memoryKiB &&
    frame >= 1024 &&
    frame <= most.frameBytes;
  if (!isSane) throw damaged(file);
  return header;
}

function parametersOf(header: Buffer) {
  return {
    lanes: header.readUInt8(at.lanes),
    passes: header.readUInt16BE(at.passes),
    memoryKiB: header.readUInt32BE(at.memoryKiB),
  };
}

function keyOf(passphrase: string, header: Buffer): Key {
  const { lanes, passes, memoryKiB } = parametersOf(header);
  const derived = crypto.argon2Sync("argon2id", {
    message: Buffer.from(passphrase.normalize("NFC")),
    nonce: header.subarray(at.salt, at.prefix),
    parallelism: lanes,
    memory: memoryKiB,
    passes,
    tagLength: 48,
  });
  return { key: derived.subarray(0, 32), check: derived.subarray(32) };
}

/** Seven bytes of the file, the number of the frame, and whether it is the last. */
function nonceOf(header: Buffer, count: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  header.copy(nonce, 0, at.prefix, at.prefix + 7);
  nonce.writeUInt32BE(count, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

const damaged = (file: string): DataError =>
  refusedBackup(file, "is damaged: it was changed or cut short");
