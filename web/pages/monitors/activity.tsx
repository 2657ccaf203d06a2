import type { PastState } from "../../../src/dashboard/schema.ts";
import { Panel } from "../../components/page.tsx";
import { StateIcon } from "../../components/state-icon.tsx";
import { durationInWords, Time } from "../../components/time.tsx";
import { useStates } from "./data.ts";

const most = 8;

const words: Record<PastState["status"], string> = {
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Maintenance started",
  paused: "Paused",
  pending: "Waiting for the first check",
};

/** The changes of state, newest first, as sentences. */
export function Activity({ id }: { id: string }) {
  const { data: states = [] } = useStates(id);
  return (
    <Panel title="Activity">
      {states.length === 0 && <p className="quiet panel-none">No activity yet.</p>}
      <ul className="lines">
        {states.slice(0, most).map((state, index) => (
          <li key={state.since}>
            <StateIcon state={state.status} size={15} />
            <span className="line-words">
              <b>{titleOf(state, states[index + 1])}</b> {detailOf(state, states[index + 1])}
            </span>
            <Time at={state.since} as="short" />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function titleOf({ status }: PastState, before: PastState | undefined): string {
  if (status === "up" && before?.status === "maintenance") return "Maintenance ended";
  if (status === "up" && before?.status === "paused") return "Resumed, up";
  const wasTrouble = before?.status === "down" || before?.status === "degraded";
  return status === "up" && wasTrouble ? "Up again" : words[status];
}

function detailOf({ status, message, since }: PastState, before: PastState | undefined): string {
  if (status !== "up" || before === undefined) return message ?? "";
  if (before.status !== "down" && before.status !== "degraded") return message ?? "";
  const seconds = (Date.parse(since) - Date.parse(before.since)) / 1000;
  return `after ${durationInWords(seconds)} ${before.status}`;
}
