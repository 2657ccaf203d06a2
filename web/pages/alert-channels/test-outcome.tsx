import { ActionIcon } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Icon } from "../../components/icons.tsx";
import { StateIcon } from "../../components/state-icon.tsx";
import { outcomeOf, testChannel } from "./actions.ts";

/** A test alert and what became of it. */
export function useTest(id: string) {
  const test = useMutation({ mutationFn: () => testChannel(id) });
  return { ...test, run: () => !test.isPending && test.mutate() };
}

export type Test = ReturnType<typeof useTest>;

/** The outcome in words, as soon as it is known. */
export function TestOutcome({ test: { data, error, isPending, reset } }: { test: Test }) {
  const good = data?.status === "delivered";
  const words = error?.message ?? (data && outcomeOf(data));
  return (
    <div role="status">
      {isPending && <p className="outcome outcome-busy">Sending a test alert…</p>}
      {words !== undefined && (
        <p className={`outcome ${good ? "outcome-good" : "outcome-bad"}`}>
          <StateIcon state={good ? "up" : "down"} />
          <span>
            <b>{good ? "The test arrived." : "The test did not arrive."}</b> {words}
          </span>
          <ActionIcon aria-label="Close" onClick={reset} size={22}>
            <Icon name="close" size={14} />
          </ActionIcon>
        </p>
      )}
    </div>
  );
}
