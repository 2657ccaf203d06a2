import crypto from "node:crypto";

// Loaded before all tests. Lowers the work factor of passwords, which costs a seventh of a second
// of CPU time each. Tests create and compare hashes in the same process.
const realArgon2 = crypto.argon2;
const hashQuickly: typeof realArgon2 = (algorithm, parameters, done) =>
  realArgon2(algorithm, { ...parameters, memory: 64, passes: 1 }, done);
crypto.argon2 = hashQuickly;

/** Restores the product's password work factor until disposed. */
export function useFullHashing(): Disposable {
  crypto.argon2 = realArgon2;
  return { [Symbol.dispose]: () => void (crypto.argon2 = hashQuickly) };
}
