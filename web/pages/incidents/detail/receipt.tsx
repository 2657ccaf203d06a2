/** The receipt of an update: the number of receivers that got it, and the others with the reason. */
import { useId, useState } from "react";
import type { Receiver } from "../../../../src/dashboard/incident-schema.ts";
import { dot, formatCount, formatReason } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { t, tCount } from "../../../language/text.ts";

const sumOf = (receivers: readonly Receiver[]) =>
  receivers.reduce((sum, { count }) => sum + count, 0);

const stateLabels: Record<Receiver["state"], string> = {
  delivered: t("Delivered"),
  failed: t("Failed"),
  retrying: t("Retrying"),
  waiting: t("Waiting"),
};

const unfinishedStates = ["failed", "retrying", "waiting"] as const;

const countLabels = {
  failed: (count: string) => t("{count} failed", { count }),
  retrying: (count: string) => t("{count} retrying", { count }),
  waiting: (count: string) => t("{count} waiting", { count }),
};

/** One line, such as `Delivered to 30 of 32 · 2 failed`, that unfolds to the receivers. */
export function Receipt({ receivers }: { receivers: readonly Receiver[] }) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const byState = Map.groupBy(receivers, ({ state }) => state);
  const countOf = (state: Receiver["state"]) => sumOf(byState.get(state) ?? []);
  const total = sumOf(receivers);
  const delivered = countOf("delivered");
  const otherStates = unfinishedStates.filter((state) => countOf(state) > 0);
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
        <span>
          {delivered === total
            ? t("Delivered to {total}", { total: formatCount(total) })
            : t("Delivered to {delivered} of {total}", {
                delivered: formatCount(delivered),
                total: formatCount(total),
              })}
          {otherStates.length > 0 && (
            <span className={isTroubled ? "degraded" : "faint"}>
              {dot}
              {otherStates
                .map((state) => countLabels[state](formatCount(countOf(state))))
                .join(", ")}
            </span>
          )}
        </span>
      </button>
      <ul id={id} hidden={!isOpen}>
        {receivers.map((receiver, index) => (
          <li key={index}>
            <bdi>{nameReceiver(receiver)}</bdi>
            {dot}
            {stateLabels[receiver.state]}
            {receiver.reason !== null && `: ${formatReason(receiver.reason)}`}
          </li>
        ))}
      </ul>
    </div>
  );
}

const nameReceiver = ({ name, count }: Receiver) =>
  name ?? tCount(count, "{count} subscriber", "{count} subscribers");
