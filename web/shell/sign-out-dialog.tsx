import { Confirm } from "../components/confirm.tsx";
import { closeDialog } from "../components/open-dialog.ts";
import { readBrowserKey } from "../data/browser-key.ts";
import { endSubscription } from "../data/push-subscription.ts";
import { signOut } from "../data/session.ts";
import { t } from "../language/text.ts";

/** Confirms a sign-out from a browser that shows the person's alerts. */
export default function SignOutDialog() {
  return (
    <Confirm
      title={t("Sign out?")}
      verb={t("Sign out")}
      onClose={closeDialog}
      onConfirm={async () => {
        await endSubscription(readBrowserKey() ?? "");
        await signOut();
      }}
    >
      {t(
        "This browser shows alerts. That ends now, and its contact method is deleted, so it no longer reaches you.",
      )}
    </Confirm>
  );
}
