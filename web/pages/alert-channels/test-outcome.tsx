import { useState } from "react";
import { ActionIcon } from "@mantine/core";
import type { Delivery } from "../../data/alert-channels.ts";
import { Icon } from "../../components/icons.tsx";
import { StateIcon } from "../../components/state-icon.tsx";
import { outcomeOf, testChannel } from "./actions.ts";

/** A test alert and what became of it. */
export function useTest(id: string) {
  const [busy, setBusy] = useState(false);
  const [delivery, setDelivery] = useState<Delivery | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  return {
    busy,
    delivery,
    failure,
    run: async () => {
      if (busy) return;
      setBusy(true);
      setDelivery(null);
      setFailure(null);
      try {
        setDelivery(await testChannel(id));
      } catch (error) {
        setFailure(error instanceof Error ? error.message : String(error));
      } finally {
        setBusy(false);
      }
    },
    dismiss: () => {
      setDelivery(null);
      setFailure(null);
    },
  };
}

export type Test = ReturnType<typeof useTest>;

/** The outcome in words, as soon as it is known. */
export function TestOutcome({ test }: { test: Test }) {
  const { busy, delivery, failure, dismiss } = test;
  const good = delivery?.status === "delivered";
  const words = failure ?? (delivery && outcomeOf(delivery));
  return (
    <div role="status">
      {busy && <p className="outcome outcome-busy">Sending a test alert…</p>}
      {words !== null && (
        <p className={`outcome ${good ? "outcome-good" : "outcome-bad"}`}>
          <StateIcon state={good ? "up" : "down"} />
          <span>
            <b>{good ? "The test arrived." : "The test did not arrive."}</b> {words}
          </span>
          <ActionIcon aria-label="Close" onClick={dismiss} size={22}>
            <Icon name="close" size={14} />
          </ActionIcon>
        </p>
      )}
    </div>
  );
}
