import { useEffect, useState } from "react";
import { connection } from "../data/connection.ts";
import { liveState } from "../data/live.ts";
import { Icon } from "../components/display/icons.tsx";
import { t } from "../language/text.ts";

/** Shows a lost connection after 1.5 s, until it is restored. */
export function ConnectionBanner() {
  const [answers, live] = [connection.use(), liveState.use()];
  const lost = answers === "lost" || live === "lost";
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    if (!lost) return setIsShown(false);
    const timer = setTimeout(() => setIsShown(true), 1_500);
    return () => clearTimeout(timer);
  }, [lost]);
  if (!isShown) return null;
  return (
    <div className="banner" role="status">
      <Icon name="warning" />
      <span>
        {t("The connection to Signalbox is lost. This page may be out of date. Reconnecting…")}
      </span>
    </div>
  );
}
