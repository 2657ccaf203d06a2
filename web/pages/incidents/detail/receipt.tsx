/** The receipt of an update: how many receivers have it, and which have not, with the reason. */
import { useId, useState } from "react";
import type { Receiver } from "../../../../src/dashboard/incident-schema.ts";
import { capitalize } from "../../../../src/core/text/formatting.ts";
import { dot, formatCount, formatReason } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { t, tCount } from "../../../language/text.ts";

const sumOf = (receivers: readonly Receiver[]) =>
  receivers.reduce((sum, { count }) => sum + count, 0);

/** One line, such as `Delivered to 30 of 32 · 2 failed`, that unfolds to the receivers. */
export function Receipt({ receivers }: { receivers: readonly Receiver[] }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const byState = Map.groupBy(receivers, ({ state }) => state);
  const countOf = (state: Receiver["state"]) => sumOf(byState.get(state) ?? []);
  const total = sumOf(receivers);
  const delivered = countOf("delivered");
  const rest = (["failed", "retrying", "waiting"] as const).filter((state) => countOf(state) > 0);
  const isTroubled = countOf("failed") + countOf("retrying") > 0;
  return (
    <div className="receipt">
      <button
        type="button"
        className="plain-button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? "down" : "right"} size={13} />
        {delivered === total
          ? t("Delivered to {total}", { total: formatCount(total) })
          : t("Delivered to {delivered} of {total}", {
              delivered: formatCount(delivered),
              total: formatCount(total),
            })}
        {rest.length > 0 && (
          <span className={isTroubled ? "degraded" : "faint"}>
            {dot}
            {rest.map((state) => `${formatCount(countOf(state))} ${state}`).join(", ")}
          </span>
        )}
      </button>
      <ul id={id} hidden={!isOpen}>
        {receivers.map((receiver, index) => (
          <li key={index}>
            <bdi>{nameReceiver(receiver)}</bdi>
            {dot}
            {capitalize(receiver.state)}
            {receiver.reason !== null && `: ${formatReason(receiver.reason)}`}
          </li>
        ))}
      </ul>
    </div>
  );
}

const nameReceiver = ({ name, count }: Receiver) =>
  name ?? tCount(count, "{count} subscriber", "{count} subscribers");
