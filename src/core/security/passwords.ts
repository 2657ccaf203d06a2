/** Hashes and verifies passwords. */
import crypto, { randomBytes, timingSafeEqual } from "node:crypto";
import { type HashingClient, HashingQueue } from "./hashing-queue.ts";

const queue = new HashingQueue();

/** Number of passwords that wait for hashing. */
export const waitingPasswords = () => queue.waiting();

/** Normalizes a password, because keyboards encode the same characters differently. */
const plain = (password: string) => password.normalize("NFC");

/** Returns the algorithm, parameters and salt of a hash in PHC format. */
const recipeOf = (hash: string) => hash.slice(0, hash.lastIndexOf("$"));

const newRecipe = () => `$argon2id$v=19$m=65536,t=2,p=1$${unpadded(randomBytes(32))}`;

const unpadded = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64").replace(/=+$/, "");

/** Hashes a password with argon2id, in PHC format (RFC 9106). */
function hashed(password: string, recipe: string): Promise<string> {
  const [, memory, passes, parallelism, salt] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)$/.exec(recipe) ?? [];
  if (salt === undefined) return Promise.reject(new Error("A password's hash has no known form."));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const parameters = {
    message: plain(password),
    nonce: Buffer.from(salt, "base64"),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: 32,
  };
  crypto.argon2("argon2id", parameters, (error, tag) =>
    error ? reject(error) : resolve(`${recipe}$${unpadded(tag)}`),
  );
  return promise;
}

/**
 * Hashes a password with argon2id, in PHC format. With `like`, reuses its parameters and salt, so that one
 * computation compares a password with both. Throws RATE_LIMITED if too many passwords wait.
 */
export function hashPassword(password: string, client: HashingClient, like?: string) {
  const recipe = like === undefined ? newRecipe() : recipeOf(like);
  return queue.run(client, () => hashed(password, recipe));
}

/**
 * Whether a password matches a hash. Throws RATE_LIMITED if too many passwords wait, and Error for an invalid hash.
 */
export async function isPassword(password: string, hash: string, client: HashingClient) {
  return (await indexOfPassword(password, [hash], client)) === 0;
}

/** Returns the index of the first hash that matches a password; -1 for none. Throws the errors of `isPassword`. */
export function indexOfPassword(
  password: string,
  hashes: readonly string[],
  client: HashingClient,
): Promise<number> {
  return queue.run(client, async () => {
    const made = new Map<string, string>();
    for (const recipe of new Set(hashes.map(recipeOf)))
      made.set(recipe, await hashed(password, recipe));
    return hashes.findIndex((hash) => isSame(hash, made.get(recipeOf(hash)) ?? ""));
  });
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
