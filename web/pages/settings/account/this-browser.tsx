/** Makes this browser a contact method of the signed-in person, or explains why it can't be one. */
import { Button, Modal } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type {
  ContactMethod,
  ContactOutcome,
} from "../../../../src/alerting/contact-methods/schema.ts";
import { readBrowserKey, rememberBrowserKey } from "../../../data/browser-key.ts";
import { dashboard, unwrapData, v1 } from "../../../data/client.ts";
import {
  changeBrowserMethod,
  describeSubscription,
  findBrowserMethods,
  publicKeyOf,
  renewBrowserMethods,
  type SubscriptionFields,
} from "../../../data/push-subscription.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { notifyError } from "../../../components/toasts.tsx";
import { describeBrowser } from "./browser-name.ts";
import { HttpsRecipe } from "./https-recipe.tsx";
import { t, tNode } from "../../../language/text.ts";

const route = v1["contact-methods"];

/** A contact method that was created or renewed, and the outcome of its verification code. */
type EnabledBrowser = { method: ContactMethod; sent: ContactOutcome };

/** Whether this browser has this subscription. */
export const isThisBrowser = (method: ContactMethod): boolean =>
  method.type === "webpush" && method["publicKey"] === readBrowserKey();

/** Offers this browser as a contact method, unless it is one that works. */
export function ThisBrowserButton({
  methods,
  onEnabled,
}: {
  methods: readonly ContactMethod[];
  onEnabled: (enabled: EnabledBrowser) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const isWorking = (method: ContactMethod) =>
    method.verifiedAt !== null && method.enabled && method.lastError === null;
  if (methods.some((method) => isThisBrowser(method) && isWorking(method))) return null;
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("This browser")}</Button>
      {isOpen && (
        <ThisBrowserDialog
          methods={methods}
          onClose={close}
          onEnabled={(enabled) => {
            close();
            onEnabled(enabled);
          }}
        />
      )}
    </>
  );
}

/** Asks for the permission to show notifications, and subscribes. */
function ThisBrowserDialog({
  methods,
  onClose,
  onEnabled,
}: {
  methods: readonly ContactMethod[];
  onClose: () => void;
  onEnabled: (enabled: EnabledBrowser) => void;
}) {
  const { organization } = useSignedInPerson();
  const enabling = useMutation({
    mutationFn: () => enableBrowser(organization.id, methods),
    onSuccess: onEnabled,
    onError: notifyError,
  });
  const obstacle = findObstacle();
  return (
    <Modal opened onClose={onClose} title={t("This browser")} size={460}>
      <div className="mb-14 text-s quiet">
        {obstacle === null ? (
          <p>
            {t(
              "It shows your alerts as notifications, even while Signalbox is closed. You can acknowledge them there without signing in, so use a browser that only you use. Texts are encrypted for this browser, and pass through the servers of its maker.",
            )}
          </p>
        ) : (
          obstacles[obstacle]
        )}
      </div>
      <div className="form-buttons">
        <div className="form-extra" />
        <Button onClick={onClose} data-autofocus={obstacle !== null || undefined}>
          {obstacle === null ? t("Cancel") : t("Close")}
        </Button>
        {obstacle === null && (
          <BusyButton
            variant="filled"
            loading={enabling.isPending}
            onClick={() => enabling.mutate()}
            data-autofocus
          >
            {t("Allow notifications")}
          </BusyButton>
        )}
      </div>
    </Modal>
  );
}

type Obstacle = "insecure" | "home-screen" | "unsupported" | "blocked";

/** Returns why this browser can't show notifications; null if it can. */
function findObstacle(): Obstacle | null {
  if (!isSecureContext) return "insecure";
  const hasAll =
    "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  if (!hasAll) return isAppleMobile() ? "home-screen" : "unsupported";
  return Notification.permission === "denied" ? "blocked" : null;
}

/** An iPad reports a Mac with a touch screen. */
const isAppleMobile = () =>
  /iPhone|iPad/.test(navigator.userAgent) ||
  (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);

const obstacles: Record<Obstacle, ReactNode> = {
  insecure: (
    <>
      <p className="mb-14">
        {tNode(
          "Browsers show notifications only for pages over HTTPS. You opened this one over plain HTTP, at {host}.",
          { host: <code>{location.host}</code> },
        )}
      </p>
      <p>
        {tNode(
          "Start Signalbox with {certificate} and {key}, or put a proxy with HTTPS in front of it. {recipe} has recipes, also for a network without a public name.",
          {
            certificate: <code>--tls-cert</code>,
            key: <code>--tls-key</code>,
            recipe: <HttpsRecipe />,
          },
        )}
      </p>
    </>
  ),
  "home-screen": (
    <p>
      {t(
        "On an iPhone or iPad, only apps on the home screen show notifications. Tap Share, then “Add to Home Screen”. Open Signalbox from there, sign in, and return to this page.",
      )}
    </p>
  ),
  unsupported: <p>{t("This browser can’t receive messages while a page is closed.")}</p>,
  blocked: (
    <p>
      {t(
        "Notifications of this page are blocked. Allow them in the browser’s settings of this site, and reload the page.",
      )}
    </p>
  ),
};

/** Subscribes this browser, and creates or renews its contact method, which needs no code by hand. */
async function enableBrowser(
  organizationId: string,
  methods: readonly ContactMethod[],
): Promise<EnabledBrowser> {
  if ((await Notification.requestPermission()) !== "granted")
    throw new Error(t("The browser did not allow notifications."));
  const previousKey = readBrowserKey();
  const isFailing = methods.some((method) => isThisBrowser(method) && method.lastError !== null);
  const fields = describeSubscription(await subscribeBrowser(isFailing));
  const renewed = await renewBrowserMethods(previousKey ?? fields.publicKey, fields);
  rememberBrowserKey(fields.publicKey);
  for (const method of renewed)
    if (method.organizationId !== organizationId)
      await changeBrowserMethod("POST", method, { path: "/code" });
  const ownMethod = renewed.find((method) => method.organizationId === organizationId);
  const method = await (ownMethod === undefined
    ? createMethod(fields)
    : unwrapData(route({ id: ownMethod.id }).get()));
  return { method, sent: await unwrapData(route({ id: method.id }).code.post()) };
}

const createMethod = (fields: SubscriptionFields) =>
  unwrapData(
    route.post({ type: "webpush", name: describeBrowser(navigator.userAgent), ...fields }),
  );

/** Returns the subscription of this browser. One that fails, or belongs to another person or key, is replaced. */
async function subscribeBrowser(isFailing: boolean): Promise<PushSubscription> {
  const registration = await navigator.serviceWorker.register("/service-worker.js");
  await navigator.serviceWorker.ready;
  const { publicKey: applicationServerKey } = await unwrapData(dashboard["web-push"].get());
  const create = () =>
    registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  const current = await registration.pushManager.getSubscription();
  if (current === null) return create();
  const isOwn = (await findBrowserMethods(publicKeyOf(current))).length > 0;
  if (!isFailing && isOwn) return create().catch(() => replaceSubscription(current, create));
  return replaceSubscription(current, create);
}

/** A browser rejects a second subscription with another key. */
async function replaceSubscription(
  current: PushSubscription,
  create: () => Promise<PushSubscription>,
) {
  await current.unsubscribe();
  return create();
}
