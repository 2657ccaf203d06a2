/** Signs people in with password and two-factor code, and out. */
import { version } from "../../core/assets.ts";
import { networkOf } from "../../core/security/client-network.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { createToken } from "../../core/ids.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { findPasswordIndex } from "../../core/security/passwords.ts";
import { retryOnStaleRead, type Statement } from "../../database/store.ts";
import {
  buildHashingClient,
  tryWithLimits,
  tryWithinLimit,
} from "../../http/access/attempt-limits.ts";
import { passwordWay, signInRequiredError, type SignInWay } from "../../http/access/session.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { findRpId } from "../passkeys/rules.ts";
import { hasPasskeys } from "../passkeys/store.ts";
import { buildPendingLink, findPendingProvider } from "../identities/pending-link.ts";
import { listProviderButtons } from "../identity-providers/service.ts";
import { findProvider } from "../identity-providers/store.ts";
import { storeLanguage } from "../people/page-language.ts";
import { emailKeyOf, hasTwoFactor } from "../people/rules.ts";
import {
  findPerson,
  findPeopleByEmail,
  hasPeople,
  findOrganizationIds,
  guardPersonUnchanged,
  type PersonRow,
} from "../people/store.ts";
import { countWrongCode, findSessions, guardWaiting, removeSession } from "../sessions/store.ts";
import { buildAuditRows, buildPersonAudit, buildNewSession } from "../sessions/service.ts";
import {
  findClockIssue,
  recordWrongCode,
  clearWrongCodes,
  buildCodeUse,
} from "../two-factor/service.ts";
import type { Presence, SignIn, Stage } from "./schema.ts";

/** Wrong codes after which the person must enter the password again. */
const maxWrongCodes = 5;

/** Returns the session's person, and the view of the admin page for them. */
export async function describePresence(context: VisitorContext): Promise<Presence> {
  const { store, session } = context;
  if (session?.stage === "signed-in") {
    const { person, organizations } = session;
    return {
      state: "signed-in",
      version,
      person,
      organizations: [...organizations],
      ways: null,
      languageChanged: storeLanguage(context, person.language),
    };
  }
  const ways = await listSignInWays(context);
  const signedOut = { version, person: null, organizations: [], ways, languageChanged: false };
  if (session !== null) return { ...signedOut, state: "two-factor" };
  return { ...signedOut, state: (await hasPeople(store)) ? "signed-out" : "set-up" };
}

/** Returns the ways to sign in that this browser can offer, in addition to the password. */
async function listSignInWays({ store, origin, headerAccount }: VisitorContext) {
  const rpId = findRpId(origin);
  return {
    passkey: rpId !== null && (await hasPasskeys(store, rpId)),
    providers: await listProviderButtons(store),
    headerUser: headerAccount?.user ?? null,
  };
}

/** Hash that unknown addresses are compared with, so that their response takes as long. */
let dummyHash: Promise<string> | null = null;

/**
 * Finds the person with this address and password; null for none. Takes equally long for unknown,
 * unique and shared addresses. Throws RATE_LIMITED for unknown addresses too.
 */
export async function findPersonByPassword(
  context: VisitorContext,
  email: string,
  password: string,
) {
  // Hashed outside of the password queue, which could reject it.
  dummyHash ??= Bun.password.hash(createToken(43), "argon2id");
  const [candidates, hash] = await Promise.all([
    findPeopleByEmail(context.store, emailKeyOf(email)),
    dummyHash,
  ]);
  const hashes = candidates.length === 0 ? [hash] : candidates.map((one) => one.passwordHash);
  const client = buildHashingClient(context);
  const tryPasswords = async () =>
    candidates[await findPasswordIndex(password, hashes, client)] ?? null;
  // Networks with signed-in people skip the limit per address. A neighbor's failed attempts lock
  // them out for one minute at most.
  if (client.isKnown) return tryPasswords();
  return tryWithinLimit(
    context.passwordLimit,
    `${emailKeyOf(email)} ${client.client}`,
    tryPasswords,
  );
}

/**
 * Checks the password, then starts a session or waits for a code. Throws RATE_LIMITED, and the same
 * UNAUTHORIZED for a wrong address and a wrong password.
 */
export function signIn(context: VisitorContext, { email, password }: SignIn): Promise<Stage> {
  const { log, address, requestId } = context;
  return retryOnStaleRead(async () => {
    const person = await tryWithLimits(context, () =>
      findPersonByPassword(context, email, password),
    );
    if (person === null) {
      log.warn("sign-in failed", { address, requestId });
      throw new AppError("UNAUTHORIZED", "The e-mail address or the password is wrong.");
    }
    return admitPerson(context, person);
  });
}

/**
 * Starts a session after a correct password, or waits for a code if two-factor is on. Writes
 * `extraStatements` in the same batch.
 */
export async function admitPerson(
  context: VisitorContext,
  person: PersonRow,
  extraStatements?: readonly Statement[],
) {
  await assertPasswordAccepted(context, person);
  return startSession(
    context,
    person,
    hasTwoFactor(person) ? "two-factor" : "signed-in",
    extraStatements,
  );
}

/** Throws FORBIDDEN if all organizations of the person have turned password sign-in off. */
async function assertPasswordAccepted(context: VisitorContext, person: PersonRow) {
  if ((await context.sessions.listOpenMemberships(person.id, passwordWay)) !== null) return;
  // The password only confirms a link. The session is then one of the provider.
  if (findPendingProvider(context, person) !== null) return;
  throw new AppError(
    "FORBIDDEN",
    "Your organization has turned password sign-in off. Sign in through its sign-in provider or with a passkey. If neither works, the person who runs this Signalbox can create a link on its machine: signalbox users sign-in-link EMAIL.",
  );
}

/**
 * Starts a session, and writes `extraStatements` in the same batch. A complete sign-in without a
 * provider also links the provider account whose link is pending in this browser. Throws StaleRead if
 * the password, the factors or the address changed while they were checked.
 */
export async function startSession(
  context: VisitorContext,
  person: Pick<PersonRow, "id" | "name" | "emailKey" | "version">,
  stage: "signed-in" | "two-factor",
  extraStatements: readonly Statement[] = [],
  way: SignInWay = passwordWay,
): Promise<Stage> {
  const { store } = context;
  const { id, name } = person;
  const isComplete = stage === "signed-in";
  const pending =
    isComplete && way.providerId === null ? findPendingProvider(context, person) : null;
  const linked = pending === null ? [] : await buildPendingLink(context, person);
  const chosenWay = linked.length > 0 ? await chooseSignInWay(context, id, way, pending) : way;
  const { statements, handOver } = buildNewSession(context, id, stage, chosenWay);
  const organizationIds = isComplete ? await findOrganizationIds(store, id) : [];
  const provider = way.providerId === null ? null : await findProvider(store, way.providerId);
  const fields = provider && listChangedFields({}, { provider: provider.name }, ["provider"]);
  const buildAudit = (action: "person.signed-in" | "person.identity-linked") =>
    buildAuditRows(
      organizationIds,
      context,
      { type: "person", id, name },
      { action, subjectId: id, ...(fields && { fields }) },
    );
  await store.atomic([
    ...extraStatements,
    guardPersonUnchanged(person),
    ...statements,
    ...linked,
    ...buildAudit("person.signed-in"),
    ...(linked.length > 0 ? buildAudit("person.identity-linked") : []),
  ]);
  handOver();
  return stage;
}

/** Chooses the way of a session that links an account: the provider's, if no organization accepts passwords. */
async function chooseSignInWay(
  { sessions, headerAccount }: VisitorContext,
  personId: string,
  way: SignInWay,
  providerId: string | null,
): Promise<SignInWay> {
  const isOpen = (await sessions.listOpenMemberships(personId, way)) !== null;
  return isOpen ? way : { byPassword: false, providerId, headerUser: headerAccount?.user ?? null };
}

/** Completes a sign-in with a code. Throws UNAUTHORIZED for a wrong or unexpected code, RATE_LIMITED. */
export const enterCode = (context: VisitorContext, code: string): Promise<Stage> =>
  retryOnStaleRead(() => tryCode(context, code));

async function tryCode(context: VisitorContext, code: string): Promise<Stage> {
  const { store, session, log, address, requestId, clock } = context;
  const person =
    session?.stage === "two-factor" ? await findPerson(store, session.person.id) : null;
  if (session === null || person === null) throw signInRequiredError();
  const createWrongCodeError = () =>
    new AppError("UNAUTHORIZED", "This code is wrong or has already been used.");
  const now = clock();
  const codeUse = await tryWithLimits(
    context,
    () => buildCodeUse(context, person, code, now, createWrongCodeError),
    await buildCodeLimitKey(context, person.id),
  );
  if (codeUse !== null) {
    const statements = [
      guardWaiting(session.id, signInRequiredError),
      ...codeUse,
      clearWrongCodes(person.id, session.id),
    ];
    return startSession(context, person, "signed-in", statements, session.way);
  }
  log.warn("two-factor failed", { address, requestId, personId: person.id });
  const visitor = { type: "visitor" as const, id: null, name: `a person at ${address}` };
  await store.atomic([
    ...countWrongCode(store, session.id, maxWrongCodes),
    recordWrongCode(store, person.id, formatTimestamp(clock()), address),
    ...buildAuditRows(await findOrganizationIds(store, person.id), context, visitor, {
      action: "person.code-refused",
      subjectId: person.id,
    }),
  ]);
  const issue = await findClockIssue(context, person, code, now);
  throw issue === null
    ? createWrongCodeError()
    : new AppError("UNAUTHORIZED", `This code ${issue}.`);
}

/**
 * Returns the key by which wrong codes are limited: the person, from any address. Networks of the
 * person's sessions have separate limits, so that strangers can't lock the person out there.
 */
async function buildCodeLimitKey(
  { store, address }: VisitorContext,
  personId: string,
): Promise<string> {
  const network = networkOf(address);
  const sessions = await findSessions(store, personId);
  const isKnown = sessions.some((one) => networkOf(one.address) === network);
  return isKnown ? `codes ${personId} ${network}` : `codes ${personId}`;
}

/** Ends the current session, if there is one. */
export async function signOut(context: VisitorContext): Promise<Stage> {
  const { store, session } = context;
  if (session !== null) {
    const audit =
      session.stage === "signed-in"
        ? buildPersonAudit({ ...context, session }, "person.signed-out")
        : [];
    await store.atomic([removeSession(store, session.id), ...audit]);
  }
  context.clearSessionCookie();
  return "signed-out";
}
