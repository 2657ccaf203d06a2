/** Whether an organization accepts sign-ins by password. */
import { eq, sql } from "drizzle-orm";
import { AppError } from "../../core/errors.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { guard } from "../../database/store.ts";
import { organizationSettings } from "../../database/tables/accounts.ts";
import { commit } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import type { Session } from "../../http/access/session.ts";
import { findSettings } from "../settings/service.ts";
import type { PasswordPolicy } from "./schema.ts";

/** SQL condition: an enabled sign-in provider opens the organization. */
const hasProvider = (organizationId: string) =>
  sql`exists (select 1 from identity_provider_organizations opened
    join identity_providers usable on usable.id = opened.provider_id and usable.enabled
    where opened.organization_id = ${organizationId})`;

/** Returns whether the organization accepts passwords, and whether this session can turn them off. */
export async function describePasswordPolicy(
  { store, organizationId }: Scope,
  session: Session | null,
): Promise<PasswordPolicy> {
  const { passwordSignIn } = await findSettings(store, organizationId);
  const [row] = await store.db
    .select({ found: hasProvider(organizationId).mapWith(Boolean) })
    .from(organizationSettings)
    .where(eq(organizationSettings.organizationId, organizationId));
  return {
    passwordSignIn,
    hasProvider: row?.found === true,
    isThroughProvider: session !== null && session.way.providerId !== null,
  };
}

/**
 * Turns password sign-in on or off for the organization. Off needs a session through a sign-in
 * provider of the organization, which proves that it works; without one, throws CONFLICT.
 */
export async function setPasswordSignIn(
  scope: Scope,
  session: Session | null,
  passwordSignIn: boolean,
): Promise<PasswordPolicy> {
  const { store, organizationId } = scope;
  const createUnprovenError = () =>
    new AppError(
      "CONFLICT",
      "Sign in through a sign-in provider of this organization first. That proves that an owner gets in without a password.",
    );
  const before = await describePasswordPolicy(scope, session);
  if (!passwordSignIn && !before.isThroughProvider) throw createUnprovenError();
  if (before.passwordSignIn === passwordSignIn) return before;
  return commit(
    scope,
    [
      ...(passwordSignIn ? [] : [guard(hasProvider(organizationId), createUnprovenError)]),
      store.db
        .update(organizationSettings)
        .set({ passwordSignIn })
        .where(eq(organizationSettings.organizationId, organizationId)),
    ],
    {
      action: "settings.updated",
      subjectId: organizationId,
      fields: listChangedFields(before, { passwordSignIn }, ["passwordSignIn"]),
    },
    { ...before, passwordSignIn },
  );
}
