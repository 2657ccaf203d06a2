import { useState } from "react";
import type { TestCheck } from "../../../src/monitoring/checks/schema.ts";
import { StateIcon, stateWords } from "../../components/state-icon.tsx";

/** Runs one check of what stands in the editor; stores nothing. */
export function useTestCheck<Body>(check: (body: Body) => Promise<TestCheck>) {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<TestCheck | null>(null);
  const [issue, setIssue] = useState<string | null>(null);
  return {
    busy,
    result,
    issue,
    async run(body: Body) {
      setBusy(true);
      setIssue(null);
      try {
        setResult(await check(body));
      } catch (error) {
        setResult(null);
        setIssue(error instanceof Error ? error.message : String(error));
      } finally {
        setBusy(false);
      }
    },
  };
}

export function TestCheckResult({
  trying: { result, issue },
}: {
  trying: ReturnType<typeof useTestCheck>;
}) {
  return (
    <div aria-live="polite">
      {issue !== null && <p className="try down">{issue}</p>}
      {result !== null && (
        <p className="try">
          <StateIcon state={result.status} />
          <b>{stateWords[result.status]}</b>
          <span className="quiet">{result.message}</span>
        </p>
      )}
    </div>
  );
}
