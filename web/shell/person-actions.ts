import { useNavigate } from "@tanstack/react-router";
import type { RecordAction } from "../components/menus.tsx";
import { notifyError } from "../components/toasts.tsx";
import { openDialog } from "../components/open-dialog.ts";
import { readBrowserKey } from "../data/browser-key.ts";
import { signOut } from "../data/session.ts";
import { t } from "../language/text.ts";

/** Actions that belong to no page, for the person menu and the command palette. */
export function usePersonActions(onHelp: () => void) {
  const navigate = useNavigate();
  return {
    wall: { label: t("Wall view"), icon: "screen", run: () => void navigate({ to: "/wall" }) },
    shortcuts: { label: t("Shortcuts"), icon: "keyboard", run: onHelp },
    reference: {
      label: t("API reference"),
      icon: "terminal",
      run: () => void window.open("/docs", "_blank", "noreferrer"),
    },
    profile: {
      label: t("My profile"),
      icon: "person",
      run: () => void navigate({ href: "/settings/profile" }),
    },
    signOut: {
      label: t("Sign out"),
      icon: "exit",
      run: () =>
        readBrowserKey() === null
          ? void signOut().catch(notifyError)
          : openDialog({ kind: "sign-out" }),
    },
  } satisfies Record<string, RecordAction>;
}
