/** The controls of the wall, which appear when the pointer moves. */
import { ActionIcon } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import { Icon } from "../../components/display/icons.tsx";
import { useShortcuts } from "../../components/shortcuts.ts";
import { notifyError } from "../../components/toasts.tsx";

const shownMs = 3_000;

/** Buttons for full screen, theme and leaving the wall. They hide when the pointer rests. */
export function WallControls({ light }: { light: boolean }) {
  const navigate = useNavigate();
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    function onMove() {
      setIsShown(true);
      clearTimeout(timer);
      timer = setTimeout(() => setIsShown(false), shownMs);
    }
    window.addEventListener("pointermove", onMove);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pointermove", onMove);
    };
  }, []);
  const acts = useMemo(
    () => ({
      full: () => void toggleFullScreen().catch(notifyError),
      theme: () =>
        void navigate({
          to: ".",
          search: (light ? {} : { theme: "light" }) as never,
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
      aria-label="Wall"
    >
      <ActionIcon size={40} aria-label="Full screen (F)" onClick={acts.full}>
        <Icon name="screen" size={20} />
      </ActionIcon>
      <ActionIcon size={40} aria-label={light ? "Dark (T)" : "Light (T)"} onClick={acts.theme}>
        <Icon name={light ? "moon" : "sun"} size={20} />
      </ActionIcon>
      <ActionIcon size={40} aria-label="Leave the wall (Esc)" onClick={acts.leave}>
        <Icon name="exit" size={20} />
      </ActionIcon>
    </nav>
  );
}

async function toggleFullScreen() {
  if (document.fullscreenElement === null) await document.documentElement.requestFullscreen();
  else await document.exitFullscreen();
}
