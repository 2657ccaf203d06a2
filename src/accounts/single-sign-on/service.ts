/** Signs people in through a provider, and links accounts of providers to people. */
import { AppError } from "../../core/errors.ts";
import { EmailAddress } from "../../core/fields.ts";
import { retryOnStaleRead, type Statement } from "../../database/store.ts";
import type { SignInWay } from "../../http/access/session.ts";
import { consumeLimit } from "../../http/access/rate-limit.ts";
import type { SignedInContext, VisitorContext } from "../../http/visitor-context.ts";
import { rememberPendingLink } from "../identities/pending-link.ts";
import {
  type Account,
  addIdentity,
  findIdentity,
  type IdentityRow,
  recordIdentityUse,
} from "../identities/store.ts";
import { type OpenedProvider, openProvider } from "../identity-providers/service.ts";
import { findProvider, guardProviderUnchanged } from "../identity-providers/store.ts";
import { callbackPath, passwordPath } from "../identity-providers/preset-rules.ts";
import { buildJoinStatements, findOpenInvitation } from "../invitations/service.ts";
import { emailKeyOf } from "../people/rules.ts";
import {
  findMemberByEmail,
  findOrganizationIds,
  findPerson,
  type PersonRow,
} from "../people/store.ts";
import { buildAuditRows } from "../sessions/service.ts";
import { startSession } from "../sign-in/service.ts";
import { type Attempt, type Purpose, rememberAttempt, takeAttempt } from "./attempts.ts";
import type { ProviderDocuments } from "./documents.ts";
import { explainError, ProviderFailure, startAgain } from "./failures.ts";
import { buildAuthorizationUrl, parseEndpoint, redeemResponse } from "./protocol.ts";
import { applyGroups, buildPersonWithoutPassword, buildProvisioning } from "./provisioning.ts";
import { isDomainAllowed, toLocalPath, type VerifiedClaims } from "./rules.ts";

/** A visitor whom a provider has identified. They are not a person of the appliance yet, and have no session. */
export type IdentifiedVisitor = {
  pageId: string;
  provider: OpenedProvider;
  claims: VerifiedClaims;
};

export type SingleSignOnDependencies = {
  providerDocuments: ProviderDocuments;
  /**
   * Admits an identified visitor to a restricted page, for example by setting a cookie in the context. Throws
   * ProviderFailure if they may not see it.
   */
  admitVisitor?: (context: VisitorContext, visitor: IdentifiedVisitor) => Promise<void>;
  /** Shows a visitor of a status page, in its language, that the sign-in failed. */
  respondVisitorFailure?: (
    context: VisitorContext,
    pageId: string,
    failure: ProviderFailure,
  ) => Promise<Response>;
};

/**
 * Starts a sign-in at a provider, and returns the address to which the browser has to go. The
 * attempt is stored in a cookie of the context, and ends at the callback path of the same origin.
 *
 * For a restricted status page, pass `{ type: "visitor", pageId }` as the purpose. After the
 * sign-in, `admitVisitor` receives the verified claims, and the browser opens `returnTo`, which must
 * be a path. Whether the page accepts this provider is the caller's decision.
 *
 * Throws NOT_FOUND for a provider that was deleted or turned off, RATE_LIMITED, and UNAVAILABLE if
 * the provider can't be reached.
 */
export async function startAttempt(
  context: VisitorContext,
  { providerDocuments }: Pick<SingleSignOnDependencies, "providerDocuments">,
  wanted: { providerId: string; purpose: Purpose; returnTo: string | undefined },
): Promise<string> {
  consumeLimit(context.providerLimit, context.address);
  const provider = await openProvider(context, wanted.providerId);
  try {
    const metadata = await providerDocuments.get(provider, context);
    const returnTo = toLocalPath(wanted.returnTo);
    const attempt = rememberAttempt(context, { ...wanted, returnTo });
    return await buildAuthorizationUrl(provider, metadata, attempt);
  } catch (error) {
    const explained = explainError(error, provider.name);
    if (!(explained instanceof ProviderFailure)) throw explained;
    logFailure(context, provider, explained);
    throw new AppError("UNAVAILABLE", `${explained.message} ${explained.advice}`);
  }
}

/** Starts linking an account at a provider to the signed-in person. Throws the errors of `startAttempt`. */
export function startLink(
  context: SignedInContext,
  dependencies: Pick<SingleSignOnDependencies, "providerDocuments">,
  providerId: string,
) {
  const { session } = context;
  const purpose = { type: "link", personId: session.person.id, sessionId: session.id } as const;
  return startAttempt(context, dependencies, {
    providerId,
    purpose,
    returnTo: "/settings/profile",
  });
}

function logFailure(
  { log, address, requestId }: VisitorContext,
  { name }: OpenedProvider,
  failure: ProviderFailure,
) {
  const reason = failure.cause instanceof Error ? failure.cause.message : failure.message;
  log.warn("sign-in through a provider failed", { provider: name, reason, address, requestId });
}

/** The end of an attempt: a path to open, or a password to enter first. Visitors have no strict cookies. */
export type Outcome =
  | { type: "done"; returnTo: string; isVisitor?: boolean }
  | { type: "consent"; provider: string; email: string };

/**
 * Ends an attempt with the response that the provider sent through the browser. Throws
 * ProviderFailure and RATE_LIMITED.
 */
export async function finishAttempt(
  context: VisitorContext,
  dependencies: SingleSignOnDependencies,
  response: URLSearchParams,
): Promise<Outcome> {
  consumeLimit(context.providerLimit, context.address);
  const attempt = takeAttempt(context, response.get("state") ?? "");
  if (attempt === null)
    throw new ProviderFailure(
      "This sign-in was not started in this browser, or it took too long.",
      {
        advice: startAgain,
      },
    );
  const { purpose } = attempt;
  try {
    const started = { ...context, replacedSessionId: attempt.sessionId };
    return await finishStarted(started, dependencies, response, attempt);
  } catch (error) {
    if (error instanceof ProviderFailure && purpose.type === "visitor")
      error.pageId = purpose.pageId;
    throw error;
  }
}

async function finishStarted(
  context: VisitorContext,
  dependencies: SingleSignOnDependencies,
  response: URLSearchParams,
  attempt: Attempt,
): Promise<Outcome> {
  const provider = await openStartedProvider(context, attempt);
  try {
    const metadata = await dependencies.providerDocuments.get(provider, context);
    const claims = await redeemResponse(context, provider, metadata, response, attempt);
    assertDomain(provider, claims);
    return await finishFor(context, dependencies, provider, attempt, claims);
  } catch (error) {
    const explained = explainError(error, provider.name);
    if (explained instanceof ProviderFailure) {
      explained.providerName = provider.name;
      logFailure(context, provider, explained);
    }
    throw explained;
  }
}

async function openStartedProvider(context: VisitorContext, { providerId }: Attempt) {
  try {
    return await openProvider(context, providerId);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "NOT_FOUND") throw error;
    throw new ProviderFailure("This sign-in provider was removed or turned off.", {
      advice: "Sign in another way.",
    });
  }
}

/** Throws ProviderFailure unless the address is verified and in an allowed domain, if any are listed. */
function assertDomain({ name, allowedDomains }: OpenedProvider, claims: VerifiedClaims) {
  if (allowedDomains.length === 0) return;
  if (claims.isEmailVerified && isDomainAllowed(claims.email, allowedDomains)) return;
  throw new ProviderFailure(
    claims.isEmailVerified
      ? `Your address at ${name} is not in an allowed domain.`
      : `${name} does not assert that your address is verified.`,
    {
      isAboutAccount: true,
      advice: `Use an account with an address of ${allowedDomains.join(", ")}, or ask an administrator to change the allowed domains.`,
    },
  );
}

async function finishFor(
  context: VisitorContext,
  { admitVisitor }: SingleSignOnDependencies,
  provider: OpenedProvider,
  { purpose, returnTo }: Attempt,
  claims: VerifiedClaims,
): Promise<Outcome> {
  switch (purpose.type) {
    case "visitor":
      if (admitVisitor === undefined) throw new Error("No part of the appliance admits visitors.");
      await admitVisitor(context, { pageId: purpose.pageId, provider, claims });
      return { type: "done", returnTo, isVisitor: true };
    case "link":
      await repeatWith(context, provider, () => linkAccount(context, provider, purpose, claims));
      return { type: "done", returnTo };
    case "invitation":
      await repeatWith(context, provider, () =>
        joinThrough(context, provider, purpose.token, claims),
      );
      return { type: "done", returnTo };
    case "sign-in":
      return repeatWith(context, provider, () =>
        signInThrough(context, provider, returnTo, claims),
      );
  }
}

/** Repeats `finish` on StaleRead. Throws ProviderFailure if the provider was changed since it was read. */
const repeatWith = <T>(
  { store }: VisitorContext,
  { id, version, name }: OpenedProvider,
  finish: () => Promise<T>,
): Promise<T> =>
  retryOnStaleRead(async () => {
    const now = await findProvider(store, id);
    if (now?.version === version) return finish();
    throw new ProviderFailure(`The settings of ${name} were changed during this sign-in.`, {
      advice: startAgain,
    });
  });

/**
 * Signs in the account that a trusted proxy has identified. Throws ProviderFailure, as after a
 * sign-in at a provider.
 */
export function signInAccount(
  context: VisitorContext,
  provider: OpenedProvider,
  claims: VerifiedClaims,
): Promise<Outcome> {
  assertDomain(provider, claims);
  return repeatWith(context, provider, () => signInThrough(context, provider, "/", claims));
}

const accountOf = ({ id }: OpenedProvider, { subject, email }: VerifiedClaims): Account => ({
  providerId: id,
  subject,
  email,
});

/** Links an account to the person who started this in the profile and is still signed in. */
async function linkAccount(
  context: VisitorContext,
  provider: OpenedProvider,
  { personId, sessionId }: Extract<Purpose, { type: "link" }>,
  claims: VerifiedClaims,
) {
  const { store, sessions } = context;
  const person = await findPerson(store, personId);
  const isOpen = await sessions.isStillOpen(sessionId, (one) => one.person.id === personId);
  if (person === null || !isOpen)
    throw new ProviderFailure("You signed out before the account was linked.", {
      advice: "Sign in, and link the account in your profile again.",
    });
  const known = await findIdentity(store, accountOf(provider, claims));
  if (known?.personId === personId) return;
  if (known !== null)
    throw new ProviderFailure(`This account at ${provider.name} belongs to another person here.`, {
      advice: `Sign in to another account at ${provider.name}, or let the other person unlink it.`,
    });
  const { id, name } = person;
  await store.atomic([
    guardProviderUnchanged(provider),
    ...addIdentity(context, id, accountOf(provider, claims)),
    ...buildAuditRows(
      await findOrganizationIds(store, id),
      context,
      { type: "person", id, name },
      { action: "person.identity-linked", subjectId: id },
    ),
  ]);
}

/**
 * Accepts an invitation with an account at a provider of its organization. The link proves the invited address, so the
 * account can have another one. An unknown account becomes that of a new person.
 */
async function joinThrough(
  context: VisitorContext,
  provider: OpenedProvider,
  token: string,
  claims: VerifiedClaims,
) {
  const { store } = context;
  const { invitation } = await findOpenInvitation(context, token);
  if (!provider.organizations.some((one) => one.organizationId === invitation.organizationId))
    throw createNoOrganizationFailure(provider);
  const account = accountOf(provider, claims);
  const identity = await findIdentity(store, account);
  const known = identity === null ? null : await findPerson(store, identity.personId);
  if (identity !== null && known !== null) {
    const granted = JSON.parse(identity.grantedOrganizations) as string[];
    const statements = recordIdentityUse(context, identity, claims.email, granted);
    return startSession(
      context,
      known,
      "signed-in",
      [
        guardProviderUnchanged(provider),
        ...statements,
        ...buildJoinStatements(context, invitation, known),
      ],
      buildSignInWay(context, provider),
    );
  }
  const { email } = invitation;
  const added = await buildPersonWithoutPassword(context, claims.name, email);
  return startSession(
    context,
    added.row,
    "signed-in",
    [
      guardProviderUnchanged(provider),
      ...added.statements,
      ...addIdentity(context, added.row.id, account),
      ...buildJoinStatements(context, invitation, added.row),
    ],
    buildSignInWay(context, provider),
  );
}

async function signInThrough(
  context: VisitorContext,
  provider: OpenedProvider,
  returnTo: string,
  claims: VerifiedClaims,
): Promise<Outcome> {
  const identity = await findIdentity(context.store, accountOf(provider, claims));
  if (identity !== null) return signInLinkedPerson(context, provider, identity, returnTo, claims);
  const email = getVerifiedEmail(provider, claims);
  const person = await findPersonToLink(context, provider, email);
  if (person === null) return signInNew(context, provider, returnTo, claims, email);
  if (person.hasPassword) {
    rememberPendingLink(context, { ...accountOf(provider, claims), email });
    return { type: "consent", provider: provider.name, email };
  }
  return signInWithRoles(context, provider, person, returnTo, claims, [], (granted) =>
    addIdentity(context, person.id, accountOf(provider, claims), granted),
  );
}

async function signInLinkedPerson(
  context: VisitorContext,
  provider: OpenedProvider,
  identity: IdentityRow,
  returnTo: string,
  claims: VerifiedClaims,
) {
  const person = await findPerson(context.store, identity.personId);
  if (person === null) throw createNoOrganizationFailure(provider);
  const granted = JSON.parse(identity.grantedOrganizations) as string[];
  return signInWithRoles(context, provider, person, returnTo, claims, granted, (now) =>
    recordIdentityUse(context, identity, claims.email, now),
  );
}

/** Applies the groups, then starts a session if the provider opens an organization of the person. */
async function signInWithRoles(
  context: VisitorContext,
  provider: OpenedProvider,
  person: PersonRow,
  returnTo: string,
  { groups }: VerifiedClaims,
  granted: readonly string[],
  buildIdentity: (granted: readonly string[]) => Statement[],
): Promise<Outcome> {
  const { store } = context;
  const grantedOrganizationIds = await applyGroups(context, provider, person.id, groups, granted);
  const currentOrganizationIds = new Set(await findOrganizationIds(store, person.id));
  if (
    !provider.organizations.some(({ organizationId }) => currentOrganizationIds.has(organizationId))
  )
    throw createNoOrganizationFailure(provider);
  await startSession(
    context,
    person,
    "signed-in",
    [guardProviderUnchanged(provider), ...buildIdentity(grantedOrganizationIds)],
    buildSignInWay(context, provider),
  );
  return { type: "done", returnTo };
}

const buildSignInWay = (
  { headerAccount }: VisitorContext,
  provider: OpenedProvider,
): SignInWay => ({
  byPassword: false,
  providerId: provider.id,
  headerUser: provider.preset === "proxy" ? (headerAccount?.user ?? null) : null,
});

const createNoOrganizationFailure = ({ name }: OpenedProvider) =>
  new ProviderFailure(`${name} opens no organization for you here.`, {
    advice:
      "Ask an owner of your organization to add you, or to add you to a group at the provider.",
  });

/** Returns the address by which an unknown account is linked or added. Throws ProviderFailure for an unverified one. */
function getVerifiedEmail({ name }: OpenedProvider, { email, isEmailVerified }: VerifiedClaims) {
  const address = EmailAddress.safeParse(email);
  if (email === null || !address.success)
    throw new ProviderFailure(`${name} sent no e-mail address.`, {
      advice: "The scopes of the provider need email, and your account there needs an address.",
    });
  if (!isEmailVerified)
    throw new ProviderFailure(`${name} does not assert that your address is verified.`, {
      advice: `Sign in another way and link your account in your profile. Or an administrator lets Signalbox trust the addresses of ${name}.`,
    });
  return address.data;
}

/**
 * Finds the person with this address in the organizations of the provider; null for none. Throws
 * ProviderFailure if there are several, or if the person also belongs to organizations that the
 * provider does not open and has no password to agree with.
 */
async function findPersonToLink(
  { store }: VisitorContext,
  { name, organizations }: OpenedProvider,
  email: string,
): Promise<PersonRow | null> {
  const found = new Map<string, PersonRow>();
  for (const { organizationId } of organizations) {
    const person = await findMemberByEmail({ store, organizationId }, emailKeyOf(email));
    if (person !== null) found.set(person.id, person);
  }
  const [person = null, ...others] = found.values();
  if (others.length > 0)
    throw new ProviderFailure("Several people here have your address.", {
      advice: `Sign in another way, and link your account at ${name} in your profile.`,
    });
  if (person === null || person.hasPassword) return person;
  const opened = new Set(organizations.map((one) => one.organizationId));
  const organizationIds = await findOrganizationIds(store, person.id);
  if (organizationIds.every((id) => opened.has(id))) return person;
  throw new ProviderFailure(`${name} does not open all organizations of your account here.`, {
    advice: `Sign in another way, and link your account at ${name} in your profile.`,
  });
}

async function signInNew(
  context: VisitorContext,
  provider: OpenedProvider,
  returnTo: string,
  claims: VerifiedClaims,
  email: string,
): Promise<Outcome> {
  const added = await buildProvisioning(context, provider, claims, email);
  if (added === null)
    throw new ProviderFailure(`Nobody here has your address at ${provider.name}.`, {
      advice:
        "Ask an owner of your organization to invite you. An administrator can also let the provider add people.",
    });
  const { row, statements, granted } = added;
  const linked = addIdentity(context, row.id, accountOf(provider, claims), granted);
  const way = buildSignInWay(context, provider);
  try {
    const further = [guardProviderUnchanged(provider), ...statements, ...linked];
    await startSession(context, row, "signed-in", further, way);
  } catch (error) {
    // Another tab can have added the person a moment ago.
    const identity = await findIdentity(context.store, accountOf(provider, claims));
    if (identity === null) throw error;
    return signInLinkedPerson(context, provider, identity, returnTo, claims);
  }
  return { type: "done", returnTo };
}

/**
 * Returns the address at which the browser signs out of the provider of this session (OpenID
 * Connect RP-Initiated Logout); null for another session. If the provider offers none, it is the
 * sign-in page, which then waits for a click. Never waits for the provider.
 */
export async function findSignOutUrl(
  context: VisitorContext,
  { providerDocuments }: Pick<SingleSignOnDependencies, "providerDocuments">,
): Promise<string | null> {
  const { session, origin, headerAccount, trustedHeader } = context;
  // Without the address of the proxy, its header would sign the person in again at once.
  if (headerAccount !== null) return trustedHeader.signOutUrl ?? passwordPath;
  const providerId = session?.way.providerId ?? null;
  return providerId === null
    ? null
    : buildSignOutUrl(context, providerDocuments, providerId, origin);
}

async function buildSignOutUrl(
  context: VisitorContext,
  documents: ProviderDocuments,
  id: string,
  origin: string,
): Promise<string | null> {
  try {
    const provider = await openProvider(context, id);
    const metadata = await documents.find(provider);
    if (metadata?.end_session_endpoint === undefined) return passwordPath;
    const url = parseEndpoint(provider, metadata.end_session_endpoint);
    url.searchParams.set("client_id", provider.clientId);
    url.searchParams.set("post_logout_redirect_uri", `${origin}${callbackPath}`);
    return url.href;
  } catch {
    // Signing out here must not fail because of the provider.
    return passwordPath;
  }
}
