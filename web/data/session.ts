/** The session, the signed-in person, and the organization of this tab. */
import { useQuery } from "@tanstack/react-query";
import type { Presence } from "../../src/accounts/sign-in/schema.ts";
import type { Role } from "../../src/core/roles.ts";
import { roles } from "../../src/core/statuses.ts";
import type { WhereQuery } from "../../src/dashboard/schema.ts";
import { ApiError, dashboard, dataOf, setOrganization } from "./client.ts";
import { setDraftOwner } from "./drafts.ts";
import { queryClient } from "./query.ts";
import { remembered, rememberedOrganization, rememberOrganization } from "./remembered.ts";
import { signedOut } from "./signed-out.ts";
import { finishUndoable } from "./undoable.ts";

export type Session = Presence;
type Organization = Presence["organizations"][number];

/** Of this tab: others may look at another organization meanwhile. */
let chosenId = rememberedOrganization();
setOrganization(chosenId);

/** From now on, also after a reload; tabs that are opened later begin with it. */
function choose(id: string) {
  chosenId = id;
  setOrganization(id);
  rememberOrganization(id);
}

export async function loadSession(): Promise<Session> {
  const data = await dataOf(dashboard.session.get());
  if (data.state !== "signed-in") {
    localStorage.removeItem(remembered.here);
    return data;
  }
  localStorage.setItem(remembered.here, "yes");
  const id = chosenOf(data)?.id ?? null;
  // Where no organization was named, the server has answered for the first.
  const answered = chosenId ?? data.organizations[0]?.id ?? null;
  // What is there is of another organization: asked for early, or left by somebody who belongs to it no more.
  if (id !== answered) queryClient.removeQueries(ofOrganization);
  if (id !== null) choose(id);
  setDraftOwner(data.person?.id ?? "", id ?? "");
  signedOut.over();
  return data;
}

/** Who is there; on a page that somebody is using, whoever signs in again. */
async function presentSession(): Promise<Session> {
  const session = await loadSession();
  const before = queryClient.getQueryData<Session>(["session"]);
  if (session.state === "signed-in" || before?.state !== "signed-in") return session;
  await signedOut.wait();
  return loadSession();
}

/** The organization that was looked at last, or the person's first. */
function chosenOf({ organizations }: Session): Organization | undefined {
  return organizations.find(({ id }) => id === chosenId) ?? organizations[0];
}

export const sessionQuery = {
  queryKey: ["session"],
  queryFn: presentSession,
  staleTime: Infinity,
};

/** Whether somebody was signed in on this browser when it was last looked. */
export const wasSignedIn = (): boolean => localStorage.getItem(remembered.here) !== null;

export function useSession() {
  return useQuery(sessionQuery);
}

/** Who looks at which organization. Only below the shell, where somebody is signed in. */
export function useSignedIn() {
  const { data } = useSession();
  const organization = data && chosenOf(data);
  if (data?.person == null || organization === undefined)
    throw new Error("Nobody is signed in here.");
  const { person, organizations, version } = data;
  const atLeast = (role: Role) => roles.indexOf(organization.role) >= roles.indexOf(role);
  /** Whether they have this role in the organization, or run the appliance. */
  const may = (needed: Role | "administrator") =>
    needed === "administrator" ? person.administrator : atLeast(needed);
  const mayWrite = atLeast("member");
  return { person, organizations, organization, version, atLeast, may, mayWrite };
}

const ofOrganization = {
  predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== "session",
};

/** Everything on the page becomes the other organization's; nothing of this one is shown, asked or done there. */
export async function switchOrganization(id: string) {
  if (id === chosenId) return;
  finishUndoable();
  await queryClient.cancelQueries(ofOrganization);
  choose(id);
  const { person } = queryClient.getQueryData<Session>(["session"]) ?? {};
  setDraftOwner(person?.id ?? "", id);
  queryClient.removeQueries(ofOrganization);
  // The frame draws itself anew for whom it belongs to now.
  queryClient.setQueryData<Session>(["session"], (session) => session && { ...session });
  await queryClient.invalidateQueries({ queryKey: ["session"] });
}

/** Who is there, as they were just saved. */
export function keepPerson(saved: Partial<NonNullable<Session["person"]>>) {
  queryClient.setQueryData<Session>(["session"], (session) =>
    session?.person ? { ...session, person: { ...session.person, ...saved } } : session,
  );
}

/** Resolves with whether a code is needed next; else `renewSession` finds them signed in. */
export async function signIn(email: string, password: string): Promise<boolean> {
  const { state } = await dataOf(dashboard["sign-in"].post({ email, password }));
  return state === "two-factor";
}

export const signInWithCode = (code: string) => dataOf(dashboard["sign-in"].code.post({ code }));

/** Who is there is looked at anew: what they may, or where they belong, has changed. */
export async function renewSession() {
  queryClient.setQueryData(["session"], await loadSession());
}

/** Leaves nothing of the person in the page's memory. */
export async function signOut() {
  await dataOf(dashboard["sign-out"].post());
  localStorage.removeItem(remembered.here);
  location.assign("/");
}

/** The organization of the person's that has such a record; null when none has. */
export async function findOrganizationOf(
  kind: WhereQuery["kind"],
  id: string,
): Promise<string | null> {
  try {
    return (await dataOf(dashboard.where.get({ query: { kind, id } }))).organizationId;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
