import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { refusedBackupError } from "./refused-backup.ts";

/** First bytes of a file in the age format (age-encryption.org/v1). */
const magic = Buffer.from("age-encryption.org/v1\n");

/** Exponent of the scrypt cost. The OWASP recommendation of 17 takes 128 MiB of memory and about 0.5 s. */
const scryptWorkFactor = 17;

export function isEncrypted(start: Uint8Array): boolean {
  return magic.equals(start.subarray(0, magic.length));
}

/** Encrypts a file with a passphrase, in chunks of 64 KiB. Any `age` program can decrypt the result. */
export async function encryptFile(
  from: string,
  to: string,
  passphrase: string,
  workFactor = scryptWorkFactor,
) {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase.normalize("NFC"));
  encrypter.setScryptWorkFactor(workFactor);
  await writeChunks(to, await encrypter.encrypt(Bun.file(from).stream()));
}

/** Decrypts a file into a new file, and authenticates each chunk. Throws DATA_UNUSABLE. */
export async function decryptFile(from: string, to: string, passphrase: string) {
  await writeChunks(to, decryptChunks(from, passphrase));
}

async function* decryptChunks(file: string, passphrase: string) {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase.normalize("NFC"));
  try {
    yield* await decrypter.decrypt(Bun.file(file).stream());
  } catch (error) {
    const isWrongPassphrase = (error as Error).message.startsWith("no identity matched");
    throw isWrongPassphrase
      ? refusedBackupError(
          file,
          "does not open with this passphrase",
          "Use the one from when it was created",
        )
      : refusedBackupError(file, "is damaged: it was changed or cut short");
  }
}

async function writeChunks(to: string, chunks: AsyncIterable<Uint8Array>) {
  const target = openSync(to, "wx", 0o600);
  try {
    for await (const chunk of chunks) writeSync(target, chunk);
    fsyncSync(target);
  } finally {
    closeSync(target);
  }
}
