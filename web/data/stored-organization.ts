const key = "signalbox.organization";

/** Local storage key that is set while a person is signed in on this browser. */
export const remembered = { here: "signalbox.here" };

/** The organization last opened in this tab, otherwise in any tab. */
export function readOrganization(): string | null {
  return sessionStorage.getItem(key) ?? localStorage.getItem(key);
}

export function rememberOrganization(id: string) {
  sessionStorage.setItem(key, id);
  localStorage.setItem(key, id);
}
