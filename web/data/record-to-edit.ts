import { useEffect, useState } from "react";

/**
 * A record as it was when somebody began to edit it. Unlike a query it stays that way, whatever
 * changes meanwhile: what was typed is never lost. `reload` begins anew with what is stored now.
 */
export function useRecordToEdit<T extends object>(
  id: string | null,
  /** Reads it; the same function each time. */
  read: (id: string) => Promise<T>,
) {
  const [opened, setOpened] = useState<{ record: T; generation: number } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [generation, setGeneration] = useState(0);
  useEffect(() => {
    if (id === null) return;
    let gone = false;
    read(id).then(
      (record) => !gone && setOpened({ record, generation }),
      (reason: Error) => !gone && setError(reason),
    );
    return () => void (gone = true);
  }, [id, read, generation]);
  return {
    record: opened?.record,
    /** For the form's `key`: another one is another form. */
    generation: opened?.generation,
    /** Whether there is something to edit yet; always for what is new. */
    ready: id === null || opened !== null,
    error,
    reload: () => setGeneration(generation + 1),
  };
}
