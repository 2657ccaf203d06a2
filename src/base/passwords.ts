// One hashing takes 150 ms of a core and 64 MB: a crowd of them must not starve the checks.
const maxAtOnce = 2;

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

/** The password as argon2id in PHC form, salt included; at most two are hashed at once. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, "argon2id"));
}

/** Whether this is the password that was hashed. Throws where the hash is none. */
export function isPassword(password: string, hash: string): Promise<boolean> {
  return inTurn(() => Bun.password.verify(password, hash));
}
