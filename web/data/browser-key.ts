const storageKey = "signalbox.browser-key";

/** Public key of this browser's subscription, by which the page recognizes its contact method; null for none. */
export const readBrowserKey = (): string | null => localStorage.getItem(storageKey);

export function rememberBrowserKey(publicKey: string | null) {
  if (publicKey === null) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, publicKey);
}
