import { ActionIcon } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Icon } from "../../components/display/icons.tsx";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { describeOutcome, testChannel } from "./actions.ts";
import { t } from "../../language/text.ts";

/** State of a test alert: pending, delivered or failed. */
export function useTest(id: string) {
  const test = useMutation({ mutationFn: () => testChannel(id) });
  return { ...test, run: () => !test.isPending && test.mutate() };
}

export type Test = ReturnType<typeof useTest>;

/** Shows the progress and the result of a test alert. */
export function TestOutcome({ test: { data, error, isPending, reset } }: { test: Test }) {
  const good = data?.status === "delivered";
  const words = error?.message ?? (data && describeOutcome(data));
  return (
    <div role="status">
      {isPending && <p className="outcome outcome-busy">{t("Sending a test alert…")}</p>}
      {words !== undefined && (
        <OutcomeLine isGood={good} onClose={reset}>
          {words}
        </OutcomeLine>
      )}
    </div>
  );
}

/** Shows the result of a test until it is closed. */
export function OutcomeLine({
  isGood,
  onClose,
  children,
}: {
  isGood: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <p className={`outcome ${isGood ? "outcome-good" : "outcome-bad"}`}>
      <StateIcon state={isGood ? "up" : "down"} />
      <span>
        <b>{isGood ? t("The test arrived.") : t("The test did not arrive.")}</b> {children}
      </span>
      <ActionIcon aria-label={t("Close")} onClick={onClose} size={22}>
        <Icon name="close" size={14} />
      </ActionIcon>
    </p>
  );
}
