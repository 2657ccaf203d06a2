/** Lists and unlinks the signed-in person's accounts at sign-in providers. */
import { AppError } from "../../core/errors.ts";
import { deletedBody } from "../../core/paging.ts";
import type { SignedInContext } from "../../http/visitor-context.ts";
import { guardCanSignIn } from "../people/store.ts";
import { buildPersonAudit } from "../sessions/service.ts";
import { listIdentities, removeIdentity } from "./store.ts";

/** Lists the signed-in person's accounts, oldest first. */
export function listOwnIdentities({ store, session }: SignedInContext) {
  return listIdentities(store, session.person.id);
}

/**
 * Unlinks an account, and ends the other sessions of its provider. Throws NOT_FOUND, and CONFLICT
 * if the person could no longer sign in.
 */
export async function unlinkIdentity(context: SignedInContext, id: string) {
  const { store, session } = context;
  const personId = session.person.id;
  const ownIdentity = (await listIdentities(store, personId)).find((one) => one.id === id);
  if (ownIdentity === undefined)
    throw new AppError("NOT_FOUND", "You have no account at a sign-in provider with this id.");
  await store.atomic([
    ...removeIdentity(store, { id, personId, providerId: ownIdentity.provider.id }, session.id),
    guardCanSignIn(personId),
    ...buildPersonAudit(context, "person.identity-unlinked"),
  ]);
  return deletedBody;
}
