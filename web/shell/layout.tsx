/** The frame around every page: navigation, banners, dialogs, shortcuts. */
import { Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { createChunk, loadWhenIdle } from "../data/chunks.ts";
import { followLive } from "../data/live.ts";
import { useOverallState } from "../data/overview.ts";
import { useProblemCount } from "../data/problems.ts";
import { useSession, useSignedInPerson } from "../data/session.ts";
import { signedOut } from "../data/signed-out.ts";
import { undoLast } from "../data/undoable.ts";
import { palette } from "../components/open-dialog.ts";
import { HeldEverywhere } from "../components/held-changes.tsx";
import { useFavicon } from "../components/display/mark.tsx";
import { useShortcuts } from "../components/shortcuts.ts";
import { notify } from "../components/toasts.tsx";
import { Times } from "../components/display/time.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { Dialogs } from "./editor-dialogs.tsx";
import { useNavigationItems } from "./navigation-items.ts";
import { Navigation } from "./navigation.tsx";
import { Palette } from "./palette.tsx";
import { recentRecords } from "./recent-records.ts";
import { ShortcutSheet } from "./shortcut-sheet.tsx";
import { t } from "../language/text.ts";

const WrongCodes = lazy(createChunk(() => import("./wrong-codes.tsx")));
const SignInDialog = lazy(
  createChunk(async () => ({ default: (await import("./sign-in.tsx")).SignInDialog })),
);
/** The frame of every page behind sign-in. */
export function Layout() {
  const { data } = useSession();
  return data?.state === "signed-in" && data.organizations.length > 0 ? <Frame /> : null;
}

function Frame() {
  const { organization, person } = useSignedInPerson();
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const navigate = useNavigate();
  useEffect(() => followLive(organization.id), [organization.id]);
  useEffect(() => loadWhenIdle(), []);
  useFavicon(useOverallState());
  useProblemCount();
  const { id } = useParams({ strict: false });
  useEffect(() => {
    if (id !== undefined) recentRecords.add(id);
  }, [id]);
  const items = useNavigationItems();
  const shortcuts = useMemo(
    () => ({
      "mod+k": () => palette.set(true),
      "mod+z": () => void (undoLast() || notify(t("Nothing to undo"))),
      "?": () => setIsHelpOpen(true),
      ...Object.fromEntries(items.map(({ to, keys }) => [keys, () => void navigate({ href: to })])),
    }),
    [navigate, items],
  );
  useShortcuts(shortcuts);
  return (
    <Times zone={person.timeZone ?? organization.timeZone} hourCycle={person.hourCycle}>
      <a className="skip" href="#main">
        {t("Skip to content")}
      </a>
      <div className="shell">
        <Navigation onHelp={() => setIsHelpOpen(true)} />
        <div className="shell-page min-w-0">
          <ConnectionBanner />
          {person.wrongCodes !== null && (
            <Suspense>
              <WrongCodes codes={person.wrongCodes} />
            </Suspense>
          )}
          <main id="main" tabIndex={-1}>
            <Outlet key={organization.id} />
          </main>
        </div>
      </div>
      <Palette onHelp={() => setIsHelpOpen(true)} />
      <ShortcutSheet opened={isHelpOpen} onClose={() => setIsHelpOpen(false)} />
      <Dialogs />
      <HeldEverywhere />
      {useWasTrue(signedOut.use()) && (
        <Suspense>
          <SignInDialog />
        </Suspense>
      )}
    </Times>
  );
}

/** Whether the value was ever true. A dialog stays mounted after it closes, to return the focus. */
function useWasTrue(value: boolean): boolean {
  const wasTrue = useRef(false);
  wasTrue.current ||= value;
  return wasTrue.current;
}
