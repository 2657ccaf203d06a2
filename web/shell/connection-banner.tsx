import { useEffect, useState } from "react";
import { connection } from "../data/connection.ts";
import { liveState } from "../data/live.ts";
import { Icon } from "../components/icons.tsx";

/** Tells of a lost connection once it lasts longer than a blink; goes by itself. */
export function ConnectionBanner() {
  const [answers, live] = [connection.use(), liveState.use()];
  const lost = answers === "lost" || live === "lost";
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (!lost) return setShown(false);
    const timer = setTimeout(() => setShown(true), 1_500);
    return () => clearTimeout(timer);
  }, [lost]);
  if (!shown) return null;
  return (
    <div className="banner" role="status">
      <Icon name="warning" />
      <span>The connection to Signalbox is lost. This page may be out of date. Reconnecting…</span>
    </div>
  );
}
