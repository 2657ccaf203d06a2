import crypto from "node:crypto";

// Loaded before all tests. Lowers the work factor of passwords, which costs a seventh of a second
// of CPU time each. Tests create and compare hashes in the same process.
const inFull = crypto.argon2;
const hashQuickly: typeof inFull = (algorithm, parameters, done) =>
  inFull(algorithm, { ...parameters, memory: 64, passes: 1 }, done);
crypto.argon2 = hashQuickly;

/** Restores the product's password work factor until disposed. */
export function useFullHashing(): Disposable {
  crypto.argon2 = inFull;
  return { [Symbol.dispose]: () => void (crypto.argon2 = hashQuickly) };
}
