import { type HashingClient, hashingQueue } from "./hashing-queue.ts";

const queue = hashingQueue();

/** The same characters typed on another keyboard are the same password. */
const plain = (password: string) => password.normalize("NFC");

/** The password as argon2id in PHC form, salt included. Throws RATE_LIMITED where too many wait to be hashed. */
export function hashPassword(password: string, client: HashingClient): Promise<string> {
  return queue.run(client, () => Bun.password.hash(plain(password), "argon2id"));
}

/** Whether this is the password that was hashed. Throws RATE_LIMITED likewise, and where the hash is none. */
export function isPassword(
  password: string,
  hash: string,
  client: HashingClient,
): Promise<boolean> {
  return queue.run(client, () => Bun.password.verify(plain(password), hash));
}
