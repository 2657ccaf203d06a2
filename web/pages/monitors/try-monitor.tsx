import { useState } from "react";
import { send } from "../../data/client.ts";
import { inMs } from "../../parts/figures.ts";
import { type State, StateIcon, stateWords } from "../../parts/state-icon.tsx";

type Tried = {
  status: State;
  message: string | null;
  latencyMs: number | null;
  certificateExpiresAt: string | null;
};

/** Runs one check of what stands in the editor; stores nothing. */
export function useTry(path: string) {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<Tried | null>(null);
  const [issue, setIssue] = useState<string | null>(null);
  return {
    busy,
    result,
    issue,
    async run(body: object) {
      setBusy(true);
      setIssue(null);
      try {
        setResult(await send<Tried>("POST", path, body));
      } catch (error) {
        setResult(null);
        setIssue(error instanceof Error ? error.message : String(error));
      } finally {
        setBusy(false);
      }
    },
  };
}

export function TryResult({ trying: { result, issue } }: { trying: ReturnType<typeof useTry> }) {
  return (
    <div aria-live="polite">
      {issue !== null && <p className="try down">{issue}</p>}
      {result !== null && (
        <p className="try">
          <StateIcon state={result.status} />
          <b>{stateWords[result.status]}</b>
          <span className="quiet">
            {result.message ?? (result.latencyMs === null ? "" : inMs(result.latencyMs))}
          </span>
        </p>
      )}
    </div>
  );
}
