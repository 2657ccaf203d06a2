const key = "signalbox.organization";

/** What this browser remembers of who used it. */
export const remembered = { here: "signalbox.here" };

/** The organization that this tab looked at last, or any other tab. */
export function rememberedOrganization(): string | null {
  return sessionStorage.getItem(key) ?? localStorage.getItem(key);
}

export function rememberOrganization(id: string) {
  sessionStorage.setItem(key, id);
  localStorage.setItem(key, id);
}
