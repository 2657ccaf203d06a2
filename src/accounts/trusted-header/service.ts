/** Signs in people whom a trusted proxy has identified by its headers. */
import { AppError } from "../../core/errors.ts";
import type { VisitorContext } from "../../http/visitor-context.ts";
import { openHeaderProvider } from "../identity-providers/service.ts";
import { ProviderFailure } from "../single-sign-on/failures.ts";
import { signInAccount } from "../single-sign-on/service.ts";
import { retryOnStaleRead } from "../../database/store.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import { addIdentity, findIdentity } from "../identities/store.ts";
import { buildPersonAudit } from "../sessions/service.ts";
import type { HeaderLink, HeaderSignIn } from "./schema.ts";

/**
 * Signs in the person of the proxy's header, under the rules of the sign-in provider for trusted
 * headers. An account with a password must enter it once. Throws UNAUTHORIZED without the header,
 * and FORBIDDEN if the rules admit no one.
 */
export async function signInByHeader(context: VisitorContext): Promise<HeaderSignIn> {
  const { headerAccount: account, log, address, requestId } = context;
  if (account === null)
    throw new AppError("UNAUTHORIZED", "No trusted proxy has named a person in this request.");
  const provider = await openHeaderProvider(context);
  if (provider === null)
    throw new AppError(
      "FORBIDDEN",
      "A proxy has signed you in, but no sign-in provider of the type “Trusted header of a proxy” is turned on. An administrator adds it under Settings → Single sign-on.",
    );
  const { user: subject, email, name, groups } = account;
  const claims = { issuer: provider.issuer, subject, email, isEmailVerified: true, name, groups };
  try {
    const outcome = await signInAccount(context, provider, claims);
    return outcome.type === "done"
      ? { state: "signed-in", consentFor: null }
      : { state: "signed-out", consentFor: outcome.email };
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    log.warn("sign-in by a trusted header failed", { reason: error.message, address, requestId });
    throw new AppError("FORBIDDEN", `${error.message} ${error.advice}`);
  }
}

/** Returns whether the proxy's header can be linked to the signed-in person, or is linked. */
export async function describeHeader(context: SignedInContext): Promise<HeaderLink> {
  const { headerAccount, store } = context;
  const provider = headerAccount === null ? null : await openHeaderProvider(context);
  if (headerAccount === null || provider === null) return { user: null, isLinked: false };
  const { user } = headerAccount;
  const known = await findIdentity(store, { providerId: provider.id, subject: user });
  return { user, isLinked: known !== null };
}

/**
 * Links the user of the proxy's header to the signed-in person. Throws CONFLICT without a header, and
 * for a user who is linked already.
 */
export function linkHeader(context: SignedInContext): Promise<HeaderLink> {
  const { headerAccount, store, session } = context;
  return retryOnStaleRead(async () => {
    const provider = headerAccount === null ? null : await openHeaderProvider(context);
    if (headerAccount === null || provider === null)
      throw new AppError("CONFLICT", "No trusted proxy has named a person in this request.");
    const { user: subject, email } = headerAccount;
    const account = { providerId: provider.id, subject, email };
    if ((await findIdentity(store, account)) !== null)
      throw new AppError("CONFLICT", "This user of the proxy is linked already.");
    await store.atomic([
      ...addIdentity(context, session.person.id, account),
      ...buildPersonAudit(context, "person.identity-linked"),
    ]);
    return { user: subject, isLinked: true };
  });
}
