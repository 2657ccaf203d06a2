/** The dialog of an editor, which loads the record first. */
import { Modal } from "@mantine/core";
import { type ManagedAs, useManagedRecords } from "../../data/managed.ts";
import { isFirstLoad } from "../../data/query.ts";
import { ManagedWarning } from "./managed-warning.tsx";
import { Fragment, type ReactNode, useEffect, useState } from "react";

/**
 * Loads a record once and renders its editor; a new record has nothing to load. Unlike a query, the
 * record is not refetched, so typed text is never lost. `reload` discards the edit and loads the
 * stored record.
 */
export function EditorDialog<T extends object>({
  title,
  size,
  id,
  read,
  managed = null,
  otherQueries = [],
  onClose,
  children,
}: {
  title: string;
  size: number;
  /** ID of the edited or copied record; null for a new one without a template. */
  id: string | null;
  /** The configuration section of the record, for a warning if a configuration manages it. */
  managed?: ManagedAs["section"] | null;
  /** Further queries that must be loaded before the editor appears. */
  otherQueries?: Parameters<typeof isFirstLoad>[0];
  /** Loads the record. Must be a stable function, because a new one loads again. */
  read: (id: string) => Promise<T>;
  onClose: () => void;
  children: (record: T | undefined, reload: () => void) => ReactNode;
}) {
  const [opened, setOpened] = useState<{ record: T; generation: number } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [generation, setGeneration] = useState(0);
  const isManaged = managed !== null && id !== null;
  const records = useManagedRecords(managed ?? "monitors", isManaged);
  useEffect(() => {
    if (id === null) return;
    let isDeleted = false;
    read(id).then(
      (record) => !isDeleted && setOpened({ record, generation }),
      (reason: Error) => !isDeleted && setError(reason),
    );
    return () => void (isDeleted = true);
  }, [id, read, generation]);
  const isShown = (id === null || opened !== null) && !isFirstLoad([records, ...otherQueries]);
  return (
    <Modal opened onClose={onClose} title={title} size={size} closeOnClickOutside={false}>
      {isShown && isManaged && <ManagedWarning record={{ section: managed, id }} />}
      {error !== null && <p className="down">{error.message}</p>}
      {isShown && (
        <Fragment key={opened?.generation}>
          {children(opened?.record, () => setGeneration(generation + 1))}
        </Fragment>
      )}
    </Modal>
  );
}
