/** The session, the signed-in person, and the organization of this tab. */
import { useQuery } from "@tanstack/react-query";
import type { Presence } from "../../src/accounts/sign-in/schema.ts";
import type { Role } from "../../src/core/roles.ts";
import { roles } from "../../src/core/statuses.ts";
import type { WhereQuery } from "../../src/dashboard/schema.ts";
import { createChunk } from "./chunks.ts";
import { ApiError, dashboard, unwrapData, setOrganization } from "./client.ts";
import { setDraftOwner } from "./drafts.ts";
import { queryClient } from "./query.ts";
import { readOrganization, rememberOrganization, rememberSignedIn } from "./stored-organization.ts";
import { signedOut } from "./signed-out.ts";
import { finishUndoable } from "./undoable.ts";

const loadReload = createChunk(() => import("./reload-once.ts"));

export type Session = Presence;
type Organization = Presence["organizations"][number];

/** The organization of this tab. Other tabs can show other organizations. */
let chosenId = readOrganization();
setOrganization(chosenId);

/** Sets the organization of this tab, even after a reload. New tabs start with it. */
function chooseOrganization(id: string) {
  chosenId = id;
  setOrganization(id);
  rememberOrganization(id);
}

export async function loadSession(): Promise<Session> {
  const data = await unwrapData(dashboard.session.get());
  const isSignedIn = data.state === "signed-in";
  rememberSignedIn(isSignedIn);
  if (!isSignedIn) return data;
  const id = findChosenOrganization(data)?.id ?? null;
  // Without an organization ID, the server used the person's first one.
  const answered = chosenId ?? data.organizations[0]?.id ?? null;
  // Cached data belongs to another organization: from early requests, or after the person left an
  // organization.
  if (id !== answered) queryClient.removeQueries(organizationQueries);
  if (id !== null) chooseOrganization(id);
  setDraftOwner(data.person?.id ?? "", id ?? "");
  if (data.languageChanged) void loadReload().then(({ reloadOnce }) => reloadOnce());
  signedOut.endWait();
  return data;
}

/** Loads the session. If it ended while the page is in use, waits for the next sign-in. */
async function loadPresentSession(): Promise<Session> {
  const session = await loadSession();
  const before = queryClient.getQueryData<Session>(["session"]);
  if (session.state === "signed-in" || before?.state !== "signed-in") return session;
  await signedOut.wait();
  return loadSession();
}

/** The organization last opened, or the person's first. */
function findChosenOrganization({ organizations }: Session): Organization | undefined {
  return organizations.find(({ id }) => id === chosenId) ?? organizations[0];
}

export const sessionQuery = {
  queryKey: ["session"],
  queryFn: loadPresentSession,
  staleTime: Infinity,
};

/** Whether the person sees only the monitors of some groups of this tab's organization. */
export function isLimitedToGroups(): boolean {
  const session = queryClient.getQueryData<Session>(["session"]);
  return session !== undefined && findChosenOrganization(session)?.groupIds != null;
}

export function useSession() {
  return useQuery(sessionQuery);
}

/**
 * The signed-in person, their organization and rights. Throws outside the shell, where no one may
 * be signed in.
 */
export function useSignedInPerson() {
  const { data } = useSession();
  const organization = data && findChosenOrganization(data);
  if (data?.person == null || organization === undefined)
    throw new Error("No person is signed in.");
  const { person, organizations, version } = data;
  const hasRole = (role: Role) => roles.indexOf(organization.role) >= roles.indexOf(role);
  /** Whether the person has this role in the organization, is an administrator, or sees all monitors. */
  const hasRight = (needed: Role | "administrator" | "unlimited") =>
    needed === "administrator"
      ? person.administrator
      : needed === "unlimited"
        ? organization.groupIds === null
        : hasRole(needed);
  const mayWrite = hasRole("member");
  const isLimited = organization.groupIds !== null;
  return {
    person,
    organizations,
    organization,
    version,
    atLeast: hasRole,
    may: hasRight,
    mayWrite,
    /** Whether the person sees only the monitors of some groups. */
    isLimited,
    /** Whether the person can change records that concern all monitors. */
    mayWriteAll: mayWrite && !isLimited,
  };
}

const organizationQueries = {
  predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== "session",
};

/**
 * Switches the page to another organization. Completes pending actions and removes all cached data
 * first.
 */
export async function switchOrganization(id: string) {
  if (id === chosenId) return;
  finishUndoable();
  await queryClient.cancelQueries(organizationQueries);
  chooseOrganization(id);
  const { person } = queryClient.getQueryData<Session>(["session"]) ?? {};
  setDraftOwner(person?.id ?? "", id);
  queryClient.removeQueries(organizationQueries);
  // A new object makes the frame render again for the new organization.
  queryClient.setQueryData<Session>(["session"], (session) => session && { ...session });
  await queryClient.invalidateQueries({ queryKey: ["session"] });
}

/** Updates the cached person with saved values. */
export function cachePerson(saved: Partial<NonNullable<Session["person"]>>) {
  queryClient.setQueryData<Session>(["session"], (session) =>
    session?.person ? { ...session, person: { ...session.person, ...saved } } : session,
  );
}

/** Signs in. Returns true if a two-factor code is needed; otherwise `renewSession` completes it. */
export async function signInWithPassword(email: string, password: string): Promise<boolean> {
  const { state } = await unwrapData(dashboard["sign-in"].post({ email, password }));
  return state === "two-factor";
}

export const signInWithCode = (code: string) =>
  unwrapData(dashboard["sign-in"].code.post({ code }));

/** Reloads the session after a change of rights or organizations. */
export async function renewSession() {
  queryClient.setQueryData(["session"], await loadSession());
}

/**
 * Signs out, also at the provider of the session, and leaves so that no data stays in memory. The sign-in page then waits
 * for the person, because a direct provider would sign them in again at once.
 */
export async function signOut() {
  const { providerUrl } = await unwrapData(dashboard["sign-out"].post());
  rememberSignedIn(false);
  location.assign(providerUrl ?? "/sign-in?password");
}

/** ID of the person's organization that contains the record; null if none does. */
export async function findOrganizationId(
  kind: WhereQuery["kind"],
  id: string,
): Promise<string | null> {
  try {
    return (await unwrapData(dashboard.where.get({ query: { kind, id } }))).organizationId;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
