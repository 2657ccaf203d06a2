/** The deliveries of an alert channel, with their attempts. */
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Delivery, useDeliveries } from "../../data/alert-channels.ts";
import { formatLatency } from "../../components/display/format.ts";
import { Icon } from "../../components/display/icons.tsx";
import { Panel } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { alertTypeLabels } from "../../components/display/alert-types.ts";
import { type State, StateIcon } from "../../components/display/state-icon.tsx";
import { Time, useNow } from "../../components/display/time.tsx";
import { translateServerText } from "../../language/server-text.ts";
import { t, tCount, tNode } from "../../language/text.ts";

const states: Record<Delivery["status"], { state: State; word: string }> = {
  pending: { state: "pending", word: t("waiting") },
  delivered: { state: "up", word: t("delivered") },
  failed: { state: "down", word: t("failed") },
  skipped: { state: "paused", word: t("skipped") },
};

/** Describes the outcome of a delivery, such as `delivered in 84 ms after 2 attempts`. */
function describeOutcome({ status, attempts }: Delivery): string {
  const last = attempts.at(-1);
  const outcome =
    status === "delivered" && last
      ? t("delivered in {duration}", { duration: formatLatency(last.durationMs) })
      : states[status].word;
  return attempts.length > 1
    ? tCount(
        attempts.length,
        "{outcome} after {count} attempt",
        "{outcome} after {count} attempts",
        { outcome },
      )
    : outcome;
}

/** Lists all deliveries, newest first, with their attempts. */
export function DeliveryLog({ id, onTest }: { id: string; onTest: (() => unknown) | null }) {
  const [page, setPage] = useState(1);
  const { data } = useDeliveries(id, page);
  return (
    <Panel title={t("Deliveries")}>
      {data?.meta.total === 0 && (
        <div className="panel-none">
          <p className="quiet">
            {t("No alerts sent yet. Send a test to check that alerts arrive.")}
          </p>
          {onTest !== null && (
            <Button mt={10} onClick={() => void onTest()}>
              {t("Send test")}
            </Button>
          )}
        </div>
      )}
      <ul className="lines deliveries">
        {data?.data.map((delivery) => (
          <DeliveryLine key={delivery.id} delivery={delivery} />
        ))}
      </ul>
      {data !== undefined && <Pager meta={data.meta} onPage={setPage} />}
    </Panel>
  );
}

function DeliveryLine({ delivery }: { delivery: Delivery }) {
  const { type, caseChange, status, attempts, error, receipt, nextAttemptAt, createdAt, alertIds } =
    delivery;
  const [isOpen, setIsOpen] = useState(false);
  const [alertId] = alertIds;
  return (
    <li>
      <StateIcon state={states[status].state} size={15} />
      <div className="line-words">
        <button
          type="button"
          className="delivery-title"
          aria-expanded={isOpen}
          disabled={attempts.length === 0}
          onClick={() => setIsOpen(!isOpen)}
        >
          <span className="num">
            <b>{alertTypeLabels[caseChange ?? type] ?? type}</b>{" "}
            {alertIds.length > 1 &&
              `${tCount(alertIds.length, "of {count} alert", "of {count} alerts")}, `}
            <span className={status === "failed" ? "down" : ""}>{describeOutcome(delivery)}</span>
          </span>
          {attempts.length > 0 && <Icon name={isOpen ? "down" : "right"} size={12} />}
        </button>
        {error !== null && <p className="delivery-why">{translateServerText(error)}</p>}
        {error === null && receipt !== null && (
          <p className="delivery-why">{translateServerText(receipt)}</p>
        )}
        {nextAttemptAt !== null && (
          <p className="delivery-why">
            <NextAttempt at={nextAttemptAt} again={attempts.length > 0} />
          </p>
        )}
        {isOpen && (
          <ol className="attempts">
            {attempts.map(({ at, outcome, message, durationMs }) => (
              <li key={at}>
                <Time at={at} as="seconds" />
                <span className={outcome === "failed" ? "down" : ""}>
                  {translateServerText(message)}
                </span>
                <span className="num faint">{formatLatency(durationMs)}</span>
              </li>
            ))}
          </ol>
        )}
        {isOpen && alertId !== undefined && (
          <Link to="/alerts/$id" params={{ id: alertId }} className="link">
            {t("Open the alert")}
          </Link>
        )}
      </div>
      <Time at={createdAt} as="short" />
    </li>
  );
}

/** Shows when the next attempt is due. Overdue ones are already running. */
function NextAttempt({ at, again }: { at: string; again: boolean }) {
  const now = useNow();
  if (Date.parse(at) <= now) return <>{again ? t("Retrying now.") : t("Sending now.")}</>;
  const time = <Time at={at} as="seconds" />;
  return again
    ? tNode("Next attempt at {time}.", { time })
    : tNode("Will be sent at {time}.", { time });
}
