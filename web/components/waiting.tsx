/** Placeholder of content that is not loaded yet: nothing at first, then its outline, then the reason. */
import { useEffect, useState } from "react";
import { connection } from "../data/connection.ts";
import { t } from "../language/text.ts";

/** Waits after which the outline and the reason appear, in milliseconds. Most content arrives before the first. */
const outlineAfterMs = 300;
const reasonAfterMs = 3_000;

/** `subject` is the missing content, such as `The monitors`. */
export function Waiting({ subject }: { subject: string }) {
  const [waitedMs, setWaited] = useState(0);
  const isLost = connection.use() === "lost";
  useEffect(() => {
    const timers = [outlineAfterMs, reasonAfterMs].map((ms) => setTimeout(() => setWaited(ms), ms));
    return () => timers.forEach(clearTimeout);
  }, []);
  if (waitedMs === 0) return null;
  const name = subject.replace(/^The /, "the ");
  return (
    <div className="waiting" role="status">
      {waitedMs >= reasonAfterMs && (
        <p className="quiet">
          {isLost
            ? t("Signalbox is not responding. Reconnecting to load {name}…", { name })
            : t("Waiting for a response from Signalbox with {name}…", { name })}
        </p>
      )}
      <div aria-hidden="true">
        <i />
        <i />
        <i />
      </div>
    </div>
  );
}
