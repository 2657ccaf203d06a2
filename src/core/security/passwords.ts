/** Hashes and verifies passwords. */
import crypto, { randomBytes, timingSafeEqual } from "node:crypto";
import { type HashingClient, HashingQueue } from "./hashing-queue.ts";

const queue = new HashingQueue();

/** Number of passwords that wait for hashing. */
export const countWaitingPasswords = () => queue.countWaiting();

/** Normalizes a password, because keyboards encode the same characters differently. */
const normalizePassword = (password: string) => password.normalize("NFC");

/** Returns the algorithm, parameters and salt of a hash in PHC format. */
const recipeOf = (hash: string) => hash.slice(0, hash.lastIndexOf("$"));

const createRecipe = () => `$argon2id$v=19$m=65536,t=2,p=1$${encodeUnpadded(randomBytes(32))}`;

const encodeUnpadded = (bytes: Uint8Array) =>
  Buffer.from(bytes).toString("base64").replace(/=+$/, "");

/** Hashes a password with argon2id, in PHC format (RFC 9106). */
function computeHash(password: string, recipe: string): Promise<string> {
  const [, memory, passes, parallelism, salt] =
    /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)$/.exec(recipe) ?? [];
  if (salt === undefined) return Promise.reject(new Error("A password's hash has no known form."));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const parameters = {
    message: normalizePassword(password),
    nonce: Buffer.from(salt, "base64"),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: 32,
  };
  crypto.argon2("argon2id", parameters, (error, tag) =>
    error ? reject(error) : resolve(`${recipe}$${encodeUnpadded(tag)}`),
  );
  return promise;
}

/**
 * Hashes a password with argon2id, in PHC format. With `like`, reuses its parameters and salt, so that one
 * computation compares a password with both. Throws RATE_LIMITED if too many passwords wait.
 */
export function hashPassword(password: string, client: HashingClient, like?: string) {
  const recipe = like === undefined ? createRecipe() : recipeOf(like);
  return queue.run(client, () => computeHash(password, recipe));
}

/**
 * Whether a password matches a hash. Throws RATE_LIMITED if too many passwords wait, and Error for an invalid hash.
 */
export async function isPassword(password: string, hash: string, client: HashingClient) {
  return (await findPasswordIndex(password, [hash], client)) === 0;
}

/** Returns the index of the first hash that matches a password; -1 for none. Throws the errors of `isPassword`. */
export function findPasswordIndex(
  password: string,
  hashes: readonly string[],
  client: HashingClient,
): Promise<number> {
  return queue.run(client, async () => {
    const hashByRecipe = new Map<string, string>();
    for (const recipe of new Set(hashes.map(recipeOf)))
      hashByRecipe.set(recipe, await computeHash(password, recipe));
    return hashes.findIndex((hash) => isSame(hash, hashByRecipe.get(recipeOf(hash)) ?? ""));
  });
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
