import { describe, expect, test } from "bun:test";
import * as crypto from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  decrypted,
  decryptedBytes,
  encryptTo,
  isEncrypted,
} from "../../src/database/backup/encrypted-file.ts";
import { scratch } from "../support/scratch.ts";

const newDirectory = scratch();
const passphrase = "correct horse battery";
/** Deriving the key is meant to take a while: not in every one of these tests. */
const cheap = { lanes: 1, passes: 1, memoryKiB: 8 };
const frame = 1024 * 1024;
const header = 68;

const chunksOf = (bytes: Uint8Array, length: number) =>
  Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  );
const encrypt = (plain: Uint8Array, cost = cheap, length = 300_000) => {
  const file = join(newDirectory(), "sealed");
  encryptTo(file, passphrase, chunksOf(plain, length), cost);
  return file;
};
const plainOf = (file: string, words = passphrase) =>
  Buffer.concat([...decrypted(file, words)].map((part) => Buffer.from(part)));
const random = (length: number) => crypto.randomBytes(length);

test("the key comes from argon2id as RFC 9106 has it", () => {
  const tag = crypto.argon2Sync("argon2id", {
    message: Buffer.alloc(32, 1),
    nonce: Buffer.alloc(16, 2),
    secret: Buffer.alloc(8, 3),
    associatedData: Buffer.alloc(12, 4),
    parallelism: 4,
    memory: 32,
    passes: 3,
    tagLength: 32,
  } as Parameters<typeof crypto.argon2Sync>[1]);
  expect(tag.toString("hex")).toBe(
    "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659",
  );
});

describe("what is encrypted", () => {
  test("comes back as it was, whatever its length", () => {
    for (const length of [0, 1, frame - 1, frame, frame + 1, 2 * frame, 2.5 * frame]) {
      const plain = random(length);
      const file = encrypt(plain);
      expect(isEncrypted(readFileSync(file))).toBe(true);
      expect([length, plainOf(file).equals(plain)]).toEqual([length, true]);
      expect(decryptedBytes(file)).toBe(length);
    }
  });

  test("is never twice the same, and holds nothing of what was plain", () => {
    const plain = Buffer.from("a secret that is long enough to be found ".repeat(99));
    const [one, other] = [readFileSync(encrypt(plain)), readFileSync(encrypt(plain))];
    expect(one.equals(other)).toBe(false);
    expect(one.includes("a secret that")).toBe(false);
  });

  test("opens with its passphrase alone, however its letters were composed", () => {
    const file = join(newDirectory(), "sealed");
    encryptTo(file, "caf\u00e9 caf\u00e9 caf\u00e9", [random(9)], cheap);
    expect(plainOf(file, "cafe\u0301 cafe\u0301 cafe\u0301")).toHaveLength(9);
    expect(() => plainOf(file, "cafe cafe cafe")).toThrow("does not open with this passphrase");
  });

  test("takes the work that RFC 9106 recommends, where nothing else is said", () => {
    const file = join(newDirectory(), "sealed");
    encryptTo(file, passphrase, [random(9)]);
    const bytes = readFileSync(file);
    const [version, lanes] = bytes.subarray(16, 18);
    expect([version, lanes, bytes.readUInt16BE(18), bytes.readUInt32BE(20)]).toEqual([
      1, 4, 3, 65_536,
    ]);
    expect(plainOf(file)).toHaveLength(9);
  });
});

describe("what was changed is refused", () => {
  const whole = random(2.5 * frame);
  const sealedFrame = frame + 16;

  const tampered = (change: (bytes: Buffer) => Uint8Array) => {
    const file = encrypt(whole);
    writeFileSync(file, change(readFileSync(file)));
    try {
      return plainOf(file).length;
    } catch (error) {
      return {
        code: (error as { code?: string }).code,
        hint: /damaged|passphrase/.test(String(error)),
      };
    } finally {
      rmSync(file);
    }
  };
  const refused = { code: "DATA_UNUSABLE", hint: true };

  test("by one bit, in any part of the header or of a frame", () => {
    const frames = [0, 1, 2].flatMap((index) =>
      [0, 1, 5_000, frame - 1, frame, frame + 15].map(
        (offset) =>
          header + index * sealedFrame + Math.min(offset, index === 2 ? frame / 2 : offset),
      ),
    );
    // Not what the file is told by, without which it is none of these.
    const all = [...Array(header).keys()].slice(16).concat(frames);
    for (const spot of all)
      for (const bit of spot < header ? [0, 3, 7] : [spot % 8])
        expect([
          spot,
          bit,
          tampered((bytes) => {
            bytes[spot] = (bytes[spot] ?? 0) ^ (1 << bit);
            return bytes;
          }),
        ]).toEqual([spot, bit, refused]);
  });

  test("cut short, also between two frames, or made longer", () => {
    const ends = [
      16,
      header - 1,
      header,
      header + 5,
      header + sealedFrame,
      header + 2 * sealedFrame,
    ];
    for (const end of [...ends, header + 2 * sealedFrame + 17])
      expect([end, tampered((bytes) => bytes.subarray(0, end))]).toEqual([end, refused]);
    const more = [random(1), random(16), random(sealedFrame)];
    for (const extra of more)
      expect(tampered((bytes) => Buffer.concat([bytes, extra]))).toEqual(refused);
  });

  test("with frames swapped, left out or repeated", () => {
    const at = (index: number) => header + index * sealedFrame;
    const changes: ((bytes: Buffer) => Uint8Array[])[] = [
      (all) => [
        all.subarray(0, at(0)),
        all.subarray(at(1), at(2)),
        all.subarray(at(0), at(1)),
        all.subarray(at(2)),
      ],
      (all) => [all.subarray(0, at(1)), all.subarray(at(2))],
      (all) => [all.subarray(0, at(1)), all.subarray(at(0))],
      (all) => [all, all.subarray(at(2))],
    ];
    for (const change of changes)
      expect(tampered((bytes) => Buffer.concat(change(bytes)))).toEqual(refused);
  });

  test("to ask for more memory than any file of ours needs, before any is taken", () => {
    const asks = tampered((bytes) => {
      bytes.writeUInt32BE(4 * 1024 ** 2 - 1, 20);
      return bytes;
    });
    expect(asks).toEqual(refused);
  });
});
