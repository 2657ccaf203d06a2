import { dayMs } from "../../../src/core/time/clock.ts";
import { type Details, listShownDetails } from "../../../src/monitoring/monitors/details-rules.ts";
import { formatDateTime } from "../../../src/core/time/times.ts";
import { useNow, useZone } from "../../components/display/time.tsx";
import { t } from "../../language/text.ts";

/** Type-specific results of a check. Renders nothing if there are none. */
export function DetailList({ type, details }: { type: string; details: Details }) {
  const shownDetailRows = listShownDetails(type, details);
  if (shownDetailRows.length === 0) return null;
  return (
    <dl className="details">
      {shownDetailRows.map(({ label, value, unit, ends }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd className={typeof value === "number" ? "num" : undefined}>
            {ends ? <ExpiryTime at={Date.parse(String(value))} /> : value}
            {unit && `\u202f${unit}`}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function ExpiryTime({ at }: { at: number }) {
  const now = useNow();
  const zone = useZone();
  const days = Math.floor((at - now) / dayMs);
  return `${formatDateTime(zone, at, now)} (${days < 0 ? t("over") : t("{days} d left", { days })})`;
}
