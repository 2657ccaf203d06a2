import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decryptFile, encryptFile, isEncrypted } from "../../src/database/backup/encrypted-file.ts";
import { defineTestWith } from "../support/real-targets.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const passphrase = "correct horse battery";
/** A low work factor, because deriving the key is slow by design. */
const cheapWorkFactor = 2;
const chunk = 64 * 1024;
const sealedChunk = chunk + 16;

async function encrypt(plain: Uint8Array, words = passphrase, workFactor = cheapWorkFactor) {
  const folder = newDirectory();
  const [from, to] = [join(folder, "plain"), join(folder, "encrypted")];
  writeFileSync(from, plain);
  await encryptFile(from, to, words, workFactor);
  return to;
}

async function decrypt(file: string, words = passphrase): Promise<Buffer> {
  const to = `${file}.plain`;
  rmSync(to, { force: true });
  await decryptFile(file, to, words);
  return readFileSync(to);
}

/** Offset of the first chunk, after the age header and the nonce of the payload. */
const findPayloadStart = (file: Buffer) => file.indexOf("\n", file.indexOf("\n---") + 1) + 1 + 16;

/** Runs `age` with a terminal, from which it reads the passphrase. */
async function runAge(args: string[], words: string) {
  let output = "";
  let answered = 0;
  const child = Bun.spawn(["age", ...args], {
    terminal: {
      data(terminal, bytes) {
        output += new TextDecoder().decode(bytes);
        for (; answered < output.split("passphrase").length - 1; answered++)
          terminal.write(`${words}\n`);
      },
    },
  });
  return { exitCode: await child.exited, output };
}

defineTestWith(["age"], "the age program opens an encrypted file, and vice versa", async () => {
  const plain = randomBytes(3 * chunk + 5);
  const file = await encrypt(plain, passphrase, 12);
  expect(await runAge(["-d", "-o", `${file}.opened`, file], passphrase)).toMatchObject({
    exitCode: 0,
  });
  expect(readFileSync(`${file}.opened`).equals(plain)).toBe(true);
  expect((await runAge(["-d", file], "another passphrase")).exitCode).toBe(1);

  await runAge(["-p", "-o", `${file}.theirs`, `${file}.opened`], passphrase);
  expect((await decrypt(`${file}.theirs`)).equals(plain)).toBe(true);
});

describe("an encrypted file", () => {
  test("is decrypted to the same bytes, for any length", async () => {
    for (const length of [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 2.5 * chunk]) {
      const plain = randomBytes(length);
      const file = await encrypt(plain);
      expect(isEncrypted(readFileSync(file))).toBe(true);
      expect([length, (await decrypt(file)).equals(plain)]).toEqual([length, true]);
    }
  });

  test("is different each time, and contains nothing of the plain text", async () => {
    const plain = Buffer.from("a secret that is long enough to be found ".repeat(99));
    const [one, other] = [readFileSync(await encrypt(plain)), readFileSync(await encrypt(plain))];
    expect(one.equals(other)).toBe(false);
    expect(one.includes("a secret that")).toBe(false);
  });

  test("opens only with its passphrase, in any Unicode form", async () => {
    const file = await encrypt(randomBytes(9), "caf\u00e9 caf\u00e9 caf\u00e9");
    expect(await decrypt(file, "cafe\u0301 cafe\u0301 cafe\u0301")).toHaveLength(9);
    expect(decrypt(file, "cafe cafe cafe")).rejects.toThrow("does not open with this passphrase");
  });

  test("costs 128 MiB of scrypt per guess by default", async () => {
    const folder = newDirectory();
    writeFileSync(join(folder, "plain"), "plain");
    await encryptFile(join(folder, "plain"), join(folder, "encrypted"), passphrase);
    expect(readFileSync(join(folder, "encrypted"), "latin1")).toMatch(/\n-> scrypt \S{22} 17\n/);
  });
});

describe("an encrypted file is rejected", () => {
  const whole = encrypt(randomBytes(2.5 * chunk)).then((file) => readFileSync(file));
  const assertRejected = async (change: (bytes: Buffer) => Uint8Array, what: unknown = null) => {
    const file = join(newDirectory(), "changed");
    writeFileSync(file, change(Buffer.from(await whole)));
    const error: unknown = await decrypt(file).catch((reason: unknown) => reason);
    expect([what, (error as { code?: string }).code, String(error)]).toEqual([
      what,
      "DATA_UNUSABLE",
      expect.stringMatching(/damaged|passphrase/),
    ]);
  };

  test("with one bit changed, in any part of the header or of a chunk", async () => {
    const start = findPayloadStart(Buffer.from(await whole));
    const inChunks = [0, 1, 2].flatMap((index) =>
      [0, 1, 5_000, chunk / 2, chunk / 2 + 15].map(
        (offset) => start + index * sealedChunk + offset,
      ),
    );
    for (const position of [...Array(start).keys(), ...inChunks])
      await assertRejected((bytes) => {
        bytes[position] = (bytes[position] ?? 0) ^ (1 << (position % 8));
        return bytes;
      }, position);
  });

  test("if it was cut, also between two chunks, or extended", async () => {
    const start = findPayloadStart(Buffer.from(await whole));
    const chunkEnds = [start + sealedChunk, start + 2 * sealedChunk];
    for (const end of [0, 22, start - 17, start - 1, start, start + 5, ...chunkEnds])
      await assertRejected((bytes) => bytes.subarray(0, end), end);
    for (const extra of [1, 16, sealedChunk])
      await assertRejected((bytes) => Buffer.concat([bytes, randomBytes(extra)]), extra);
  });

  test("with chunks swapped, left out or repeated", async () => {
    const start = findPayloadStart(Buffer.from(await whole));
    const buildParts = (bytes: Buffer) =>
      [0, 1, 2, 3].map((index) =>
        index === 0
          ? bytes.subarray(0, start)
          : bytes.subarray(start + (index - 1) * sealedChunk, start + index * sealedChunk),
      );
    for (const order of [
      [0, 2, 1, 3],
      [0, 1, 3],
      [0, 1, 1, 2, 3],
      [0, 1, 2, 3, 3],
    ])
      await assertRejected(
        (bytes) => Buffer.concat(order.map((index) => buildParts(bytes)[index] as Buffer)),
        order,
      );
  });

  test("if its key needs more memory than 1 GiB, before any is allocated", async () => {
    await assertRejected((bytes) =>
      Buffer.from(bytes.toString("latin1").replace(/(-> scrypt \S+) 2\n/, "$1 21\n"), "latin1"),
    );
  });
});
