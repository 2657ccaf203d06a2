// One hashing takes 150 ms of a core and 64 MB: a crowd of them must not starve the checks.
const maxAtOnce = 2;

const busy = new Set<string>();
const waiting = new Map<string, (() => void)[]>();

/** Whoever asks has one hashed at a time, and all who wait take turns: nobody's many hold up another's one. */
async function inTurn<T>(who: string, work: () => Promise<T>): Promise<T> {
  if (busy.has(who) || busy.size >= maxAtOnce) {
    await new Promise<void>((go) => waiting.set(who, [...(waiting.get(who) ?? []), go]));
  } else busy.add(who);
  try {
    return await work();
  } finally {
    busy.delete(who);
    callNext();
  }
}

function callNext() {
  for (const [who, [go, ...others]] of waiting) {
    if (busy.size >= maxAtOnce) return;
    if (busy.has(who)) continue;
    // Set anew, it stands behind all the others.
    waiting.delete(who);
    if (others.length > 0) waiting.set(who, others);
    busy.add(who);
    go?.();
  }
}

/** The same characters typed on another keyboard are the same password. */
const plain = (password: string) => password.normalize("NFC");

/** The password as argon2id in PHC form, salt included; at most two are hashed at once, one of them for each `who`. */
export function hashPassword(password: string, who = ""): Promise<string> {
  return inTurn(who, () => Bun.password.hash(plain(password), "argon2id"));
}

/** Whether this is the password that was hashed. Throws where the hash is none. */
export function isPassword(password: string, hash: string, who = ""): Promise<boolean> {
  return inTurn(who, () => Bun.password.verify(plain(password), hash));
}
