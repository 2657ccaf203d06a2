/** Browser storage of the sign-in: the organization, and whether a person is signed in. */
const organizationKey = "signalbox.organization";
const signedInKey = "signalbox.here";

/** The organization last opened in this tab, otherwise in any tab. */
export function readOrganization(): string | null {
  return sessionStorage.getItem(organizationKey) ?? localStorage.getItem(organizationKey);
}

export function rememberOrganization(id: string) {
  sessionStorage.setItem(organizationKey, id);
  localStorage.setItem(organizationKey, id);
}

/** Whether a person was signed in on this browser at the last load of the session. */
export const wasSignedIn = (): boolean => localStorage.getItem(signedInKey) !== null;

export function rememberSignedIn(isSignedIn: boolean) {
  if (isSignedIn) localStorage.setItem(signedInKey, "yes");
  else localStorage.removeItem(signedInKey);
}
