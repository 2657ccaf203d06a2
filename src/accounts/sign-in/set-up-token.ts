import { timingSafeEqual } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../core/clock.ts";
import { randomToken, sha256 } from "../../core/ids.ts";
import type { SetUp } from "../../http/services.ts";

const validMs = 30 * 60_000;

/** Where the token lies for whoever may read the data directory. */
const setUpFile = (dataDir: string) => join(dataDir, "set-up-token");

/** A new token for a first run, in its 0600 file until it is over. */
export function newSetUp(dataDir: string, clock: Clock): SetUp & { token: string } {
  const token = randomToken(43);
  const file = setUpFile(dataDir);
  const fresh = `${file}.new-${process.pid}`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, `${token}\n`, { mode: 0o600, flag: "wx" });
  renameSync(fresh, file);
  return { token, ...setUpOf(token, clock, () => rmSync(file, { force: true })) };
}

/** Takes this token for 30 minutes, until it is over. */
export function setUpOf(token: string, clock: Clock, remove: () => void): SetUp {
  let until = clock() + validMs;
  const digest = (text: string) => Buffer.from(sha256(text), "hex");
  const wanted = digest(token);
  return {
    isToken: (given) => clock() < until && timingSafeEqual(digest(given), wanted),
    end() {
      until = 0;
      remove();
    },
  };
}

/** Where somebody signs in already: no token is any. */
export function noSetUp(dataDir: string): SetUp {
  rmSync(setUpFile(dataDir), { force: true });
  return { isToken: () => false, end: () => {} };
}
