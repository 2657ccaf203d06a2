/** The subscription of this browser to messages of Signalbox. The service worker and the page share this file. */
import { rememberBrowserKey } from "./browser-key.ts";
import { buildRequestHeaders } from "./early-requests.ts";

/** The fields of a contact method that a subscription determines. All are Base64url or a URL. */
export type SubscriptionFields = { endpoint: string; publicKey: string; auth: string };

/** A contact method of the signed-in person, with its organization. */
type BrowserMethod = { organizationId: string; id: string; name: string };

export function describeSubscription(subscription: PushSubscription): SubscriptionFields {
  return {
    endpoint: subscription.endpoint,
    publicKey: publicKeyOf(subscription),
    auth: encodeBase64Url(subscription.getKey("auth")),
  };
}

export const publicKeyOf = (subscription: PushSubscription): string =>
  encodeBase64Url(subscription.getKey("p256dh"));

const encodeBase64Url = (bytes: ArrayBuffer | null): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0))))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** Finds the person's contact methods with one of these keys, in all their organizations. None without a session. */
export async function findBrowserMethods(...keys: string[]): Promise<BrowserMethod[]> {
  const session = (await readData("/dashboard/session", null)) as {
    organizations?: { id: string }[];
  } | null;
  const lists = (session?.organizations ?? []).map(async ({ id: organizationId }) => {
    const methods = await readData(methodsPath, organizationId);
    return (methods as { id: string; name: string; publicKey?: string }[] | null)
      ?.filter(({ publicKey }) => publicKey !== undefined && keys.includes(publicKey))
      .map(({ id, name }) => ({ organizationId, id, name }));
  });
  return (await Promise.all(lists)).flatMap((methods) => methods ?? []);
}

const methodsPath = "/dashboard/api/v1/contact-methods";

/** Returns the data of a response; null for an error. */
async function readData(path: string, organizationId: string | null): Promise<unknown> {
  const response = await fetch(path, { headers: buildRequestHeaders(organizationId) });
  return response.ok ? ((await response.json()) as { data: unknown }).data : null;
}

/** Saves a change to a contact method, as the signed-in person. Returns whether it succeeded. */
export async function changeBrowserMethod(
  method: "PATCH" | "POST" | "DELETE",
  { organizationId, id }: Pick<BrowserMethod, "organizationId" | "id">,
  { path = "", body }: { path?: "" | "/code" | "/verify"; body?: object } = {},
): Promise<boolean> {
  const headers = buildRequestHeaders(organizationId);
  const { ok } = await fetch(`${methodsPath}/${id}${path}`, {
    method,
    headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return ok;
}

/** Stores the new subscription of this browser in the person's contact methods that have the previous one. */
export async function renewBrowserMethods(
  previousKey: string,
  fields: SubscriptionFields,
): Promise<BrowserMethod[]> {
  const renewed: BrowserMethod[] = [];
  for (const method of await findBrowserMethods(previousKey, fields.publicKey))
    if (await changeBrowserMethod("PATCH", method, { body: fields })) renewed.push(method);
  return renewed;
}

/** Ends the subscription of this browser, and deletes the person's contact methods that use it. */
export async function endSubscription(publicKey: string) {
  const methods = await findBrowserMethods(publicKey);
  await Promise.all(methods.map((method) => changeBrowserMethod("DELETE", method)));
  await unsubscribeBrowser();
}

/** Ends the subscription of this browser if no contact method of the person uses it. */
export async function endUnusedSubscription(publicKey: string) {
  if ((await findBrowserMethods(publicKey)).length === 0) await unsubscribeBrowser();
}

async function unsubscribeBrowser() {
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  // Without the push service, the browser can't unsubscribe. Nothing is sent to it any more.
  await subscription?.unsubscribe().catch(() => false);
  rememberBrowserKey(null);
}
