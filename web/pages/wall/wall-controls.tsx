/** The controls of the wall, which appear when the pointer moves. */
import { ActionIcon } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import { Icon } from "../../components/display/icons.tsx";
import { useShortcuts } from "../../components/shortcuts.ts";
import { notifyError } from "../../components/toasts.tsx";
import { chooseFirstPast } from "../monitors/list/filters.ts";
import { PastBar } from "../monitors/list/past-bar.tsx";
import { t } from "../../language/text.ts";

const shownMs = 3_000;

/** Whether the pointer moved a moment ago. */
function useRecentMovement(): boolean {
  const [isRecent, setRecent] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    function onMove() {
      setRecent(true);
      clearTimeout(timer);
      timer = setTimeout(() => setRecent(false), shownMs);
    }
    window.addEventListener("pointermove", onMove);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pointermove", onMove);
    };
  }, []);
  return isRecent;
}

/** Buttons for full screen, theme and leaving the wall. They hide when the pointer rests. */
export function WallControls({ light, isPast }: { light: boolean; isPast: boolean }) {
  const navigate = useNavigate();
  const isShown = useRecentMovement();
  const acts = useMemo(
    () => ({
      full: () => void toggleFullScreen().catch(notifyError),
      theme: () =>
        void navigate({
          to: ".",
          search: ((search: object) => ({
            ...search,
            theme: light ? undefined : "light",
          })) as never,
          replace: true,
        }),
      leave: () => void navigate({ to: "/monitors" }),
    }),
    [light, navigate],
  );
  useShortcuts({ f: acts.full, t: acts.theme, Escape: acts.leave });
  return (
    <nav
      className={isShown ? "wall-controls wall-controls-shown" : "wall-controls"}
      aria-label={t("Wall")}
    >
      {!isPast && (
        <ActionIcon
          size={40}
          aria-label={t("Show a past time")}
          onClick={() => showTime(navigate, chooseFirstPast())}
        >
          <Icon name="clock" size={20} />
        </ActionIcon>
      )}
      <ActionIcon size={40} aria-label={t("Full screen (F)")} onClick={acts.full}>
        <Icon name="screen" size={20} />
      </ActionIcon>
      <ActionIcon
        size={40}
        aria-label={light ? t("Dark (T)") : t("Light (T)")}
        onClick={acts.theme}
      >
        <Icon name={light ? "moon" : "sun"} size={20} />
      </ActionIcon>
      <ActionIcon size={40} aria-label={t("Leave the wall (Esc)")} onClick={acts.leave}>
        <Icon name="exit" size={20} />
      </ActionIcon>
    </nav>
  );
}

const showTime = (navigate: ReturnType<typeof useNavigate>, at: string | undefined) =>
  void navigate({
    to: ".",
    search: ((search: object) => ({ ...search, at })) as never,
    replace: true,
  });

/** The past time that the wall shows, or why it can't. */
export function WallPast({ at, error }: { at: string; error: Error | null }) {
  const navigate = useNavigate();
  return (
    <div className="wall-past">
      <PastBar at={at} onChange={(next) => showTime(navigate, next)} />
      {error !== null && <p role="alert">{error.message}</p>}
    </div>
  );
}

async function toggleFullScreen() {
  if (document.fullscreenElement === null) await document.documentElement.requestFullscreen();
  else await document.exitFullscreen();
}
