/** The first run: creates the first organization and its owner, authorized by a token from the console. */
import { minuteMs } from "../../core/time/clock.ts";
import { timingSafeEqual } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../core/time/clock.ts";
import { createToken, sha256 } from "../../core/ids.ts";
import { AppError } from "../../core/errors.ts";
import { hashPassword } from "../../core/security/passwords.ts";
import { retryOnStaleRead } from "../../database/store.ts";
import { tryWithLimits, buildHashingClient } from "../../http/access/attempt-limits.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { buildFoundation } from "../people/service.ts";
import { hasPeople, assertStrongPassword, guardNoPeople, buildNewPerson } from "../people/store.ts";
import { buildNewSession } from "../sessions/service.ts";
import type { FirstRun, Stage } from "./schema.ts";

/** The token of the first run, which is printed on the console. */
export type SetUp = {
  /** Whether this is the printed token and still valid. */
  isToken(token: string): boolean;
  /** Revokes the token, because the set-up is complete. */
  endSetUp(): void;
};

const createAlreadySetUpError = () =>
  new AppError("CONFLICT", "This Signalbox is already set up. Sign in.");

/**
 * Creates the first organization and its owner, and signs the owner in. Throws CONFLICT if the
 * appliance has people, FORBIDDEN for a wrong or expired token, RATE_LIMITED, VALIDATION_ERROR.
 */
export async function completeSetUp(
  context: VisitorContext,
  setUp: SetUp,
  input: FirstRun,
): Promise<Stage> {
  const { store } = context;
  if (await hasPeople(store)) throw createAlreadySetUpError();
  const isValid = await tryWithLimits(context, async () =>
    setUp.isToken(input.token) ? true : null,
  );
  if (isValid === null)
    throw new AppError(
      "FORBIDDEN",
      "This set-up link is no longer valid. Restart Signalbox: it prints a new one.",
    );
  assertStrongPassword(input.password, [input.email, input.name, input.organization]);
  const passwordHash = await hashPassword(input.password, buildHashingClient(context));
  const handOver = await retryOnStaleRead(async () => {
    const person = buildNewPerson(context, input, passwordHash);
    const { statements } = await buildFoundation(
      context,
      input.organization,
      person.row,
      input.timeZone,
    );
    const session = buildNewSession(context, person.id, "signed-in");
    await store.atomic([
      guardNoPeople(createAlreadySetUpError),
      ...person.statements,
      ...statements,
      ...session.statements,
    ]);
    return session.handOver;
  });
  setUp.endSetUp();
  handOver();
  return "signed-in";
}

const tokenLifetimeMs = 30 * minuteMs;

/** Returns the path of the file with the token. Only the owner of the data directory can read it. */
const buildSetUpFilePath = (dataDir: string) => join(dataDir, "set-up-token");

/** Creates a set-up token and writes it to a file with mode 0600. */
export function createSetUp(dataDir: string, clock: Clock): SetUp & { token: string } {
  const token = createToken(43);
  const file = buildSetUpFilePath(dataDir);
  const temporaryFile = `${file}.new-${process.pid}`;
  rmSync(temporaryFile, { force: true });
  writeFileSync(temporaryFile, `${token}\n`, { mode: 0o600, flag: "wx" });
  renameSync(temporaryFile, file);
  return { token, ...createSetUpForToken(token, clock, () => rmSync(file, { force: true })) };
}

/** Accepts this token for 30 minutes or until `endSetUp` is called. */
export function createSetUpForToken(token: string, clock: Clock, remove: () => void): SetUp {
  let expiresAt = clock() + tokenLifetimeMs;
  const hashText = (text: string) => Buffer.from(sha256(text), "hex");
  const expectedHash = hashText(token);
  return {
    isToken: (given) => clock() < expiresAt && timingSafeEqual(hashText(given), expectedHash),
    endSetUp() {
      expiresAt = 0;
      remove();
    },
  };
}

/** Removes the token's file. The appliance already has people, so the returned set-up rejects every token. */
export function closeSetUp(dataDir: string): SetUp {
  rmSync(buildSetUpFilePath(dataDir), { force: true });
  return { isToken: () => false, endSetUp: () => {} };
}
