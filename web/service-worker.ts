/** Service worker of the admin page: shows pushed messages, and acknowledges alerts from them. It caches nothing. */
import type { PushedMessage } from "../src/alerting/pushed-message.ts";
import {
  changeBrowserMethod,
  describeSubscription,
  publicKeyOf,
  renewBrowserMethods,
} from "./data/push-subscription.ts";

/** Path of the icon, which the build inserts. */
declare const ICON_PATH: string;

// The types of service workers contradict those of pages, so only the used parts are declared.
type LastingEvent = Event & { waitUntil(work: Promise<unknown>): void };
type PushEvent = LastingEvent & { data: { json(): PushedMessage } | null };
type ClickEvent = LastingEvent & { action: string; notification: Notification };
type ChangeEvent = LastingEvent & {
  oldSubscription?: PushSubscription | null;
  newSubscription?: PushSubscription | null;
};
type OpenPage = { url: string; focus(): Promise<unknown> };

const worker = self as unknown as {
  skipWaiting(): Promise<void>;
  registration: ServiceWorkerRegistration;
  clients: {
    matchAll(options: { type: "window"; includeUncontrolled: true }): Promise<OpenPage[]>;
    openWindow(path: string): Promise<unknown>;
  };
};

/** Without buttons, as in Safari, a click opens the page that acknowledges. */
const hasButtons =
  ((globalThis as { Notification?: { maxActions?: number } }).Notification?.maxActions ?? 0) > 0;

/** Adds a listener that the browser waits for. */
function addWaitingListener<E extends LastingEvent>(
  type: string,
  handle: (event: E) => Promise<unknown>,
) {
  addEventListener(type, (event) => (event as E).waitUntil(handle(event as E)));
}

// A new version must not wait until all pages are closed: it belongs to the messages of the server.
addWaitingListener<LastingEvent>("install", () => worker.skipWaiting());

addWaitingListener<PushEvent>("push", async ({ data }) => {
  if (data === null) return;
  const message = data.json();
  await showMessage(message);
  await sendVerification(message);
});

addWaitingListener<ClickEvent>("notificationclick", async ({ action, notification }) => {
  const message = notification.data as PushedMessage;
  notification.close();
  if (action === "acknowledge") return acknowledgeMessage(message);
  const { path, acknowledgePath } = message;
  return openPage(hasButtons ? path : (acknowledgePath ?? path));
});

addWaitingListener<ChangeEvent>("pushsubscriptionchange", ({ oldSubscription, newSubscription }) =>
  renewSubscription(oldSubscription ?? null, newSubscription ?? null),
);

/** Shows a message. It replaces an earlier one about the same alert. */
function showMessage(message: PushedMessage, isSilent = false) {
  const { title, text, tag, isOver, isUrgent, acknowledgePath } = message;
  const acknowledging = { action: "acknowledge", title: "Acknowledge" };
  // `actions` and `renotify` are missing in the types of pages.
  const options: NotificationOptions & { renotify: boolean; actions: object[] } = {
    body: text,
    tag,
    data: message,
    icon: ICON_PATH,
    silent: isSilent,
    renotify: !isOver && !isSilent,
    requireInteraction: isUrgent,
    actions: [
      ...(acknowledgePath === null ? [] : [acknowledging]),
      { action: "open", title: "Open" },
    ],
  };
  return worker.registration.showNotification(title, options);
}

/** Acknowledges an alert with the signed link of its message, which needs no session. */
async function acknowledgeMessage(message: PushedMessage) {
  const { acknowledgePath, title } = message;
  if (acknowledgePath === null) return;
  const response = await fetch(acknowledgePath, { method: "POST", credentials: "omit" }).catch(
    () => null,
  );
  if (response?.ok === true)
    return showMessage(
      { ...message, title: `Acknowledged: ${title}`, isUrgent: false, acknowledgePath: null },
      true,
    );
  const isAlertOver = response?.status === 404;
  return showMessage({
    ...message,
    title: `Not acknowledged: ${title}`,
    text: isAlertOver ? "The alert has ended, or its link was revoked." : explainFailure(response),
    acknowledgePath: isAlertOver ? null : acknowledgePath,
  });
}

const explainFailure = (response: Response | null) =>
  response === null
    ? "Signalbox can't be reached from here. Try again."
    : `Signalbox responded with status ${response.status}. Try again.`;

/** Shows a page of Signalbox: in its tab if it is open, else in a new one. */
async function openPage(path: string) {
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const open = pages.find(({ url }) => new URL(url).pathname === path);
  return open === undefined ? worker.clients.openWindow(path) : open.focus();
}

/** Sends a verification code back, which proves that messages arrive. Without a session, the person can enter it. */
async function sendVerification(message: PushedMessage) {
  if (message.verification === null) return;
  const { organizationId, contactMethodId: id, code } = message.verification;
  const change = { path: "/verify", body: { code } } as const;
  if (await changeBrowserMethod("POST", { organizationId, id }, change).catch(() => false))
    await showMessage({ ...message, title: "This browser shows your alerts", text: "" }, true);
}

/** Stores a subscription that the browser has replaced. It is verified again with the code of the next message. */
async function renewSubscription(before: PushSubscription | null, after: PushSubscription | null) {
  if (before === null) return;
  const fields = describeSubscription(
    after ?? (await worker.registration.pushManager.subscribe(before.options)),
  );
  for (const method of await renewBrowserMethods(publicKeyOf(before), fields))
    await changeBrowserMethod("POST", method, { path: "/code" });
}
