import { useEffect, useState } from "react";
import { get } from "./client.ts";

/**
 * A record as it was when somebody began to edit it. Unlike a query it stays that way, whatever
 * changes meanwhile: what was typed is never lost. `reload` begins anew with what is stored now.
 */
export function useOpened<T extends object>(path: string | null) {
  const [opened, setOpened] = useState<{ record: T; generation: number } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [generation, setGeneration] = useState(0);
  useEffect(() => {
    if (path === null) return;
    let gone = false;
    get<T>(path).then(
      (record) => !gone && setOpened({ record, generation }),
      (reason: Error) => !gone && setError(reason),
    );
    return () => void (gone = true);
  }, [path, generation]);
  return {
    record: opened?.record,
    /** For the form's `key`: another one is another form. */
    generation: opened?.generation,
    /** Whether there is something to edit yet; always for what is new. */
    ready: path === null || opened !== null,
    error,
    reload: () => setGeneration(generation + 1),
  };
}
