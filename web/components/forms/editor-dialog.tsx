/** A dialog that reads a record before it edits it. */
import { Modal } from "@mantine/core";
import { type ManagedAs, useManagedRecords } from "../../data/managed.ts";
import { isComing } from "../../data/query.ts";
import { ManagedWarning } from "../display/managed-notice.tsx";
import { Fragment, type ReactNode, useEffect, useState } from "react";

/**
 * The dialog of an editor, of a new record or of one as it was when somebody began to edit it. Unlike
 * a query that one stays as it was, whatever changes meanwhile: what was typed is never lost. `reload`
 * begins anew with what is stored now.
 */
export function EditorDialog<T extends object>({
  title,
  size,
  id,
  read,
  managed = null,
  besides = [],
  onClose,
  children,
}: {
  title: string;
  size: number;
  /** Of the record that is edited, or copied; null for a new one. */
  id: string | null;
  /** The section of a configuration that may manage it, where it is edited. */
  managed?: ManagedAs["section"] | null;
  /** What else its fields need. */
  besides?: Parameters<typeof isComing>[0];
  /** Reads it; the same function each time. */
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
    let gone = false;
    read(id).then(
      (record) => !gone && setOpened({ record, generation }),
      (reason: Error) => !gone && setError(reason),
    );
    return () => void (gone = true);
  }, [id, read, generation]);
  const isShown = (id === null || opened !== null) && !isComing([records, ...besides]);
  return (
    <Modal opened onClose={onClose} title={title} size={size} closeOnClickOutside={false}>
      {isShown && isManaged && <ManagedWarning what={{ section: managed, id }} />}
      {error !== null && <p className="down">{error.message}</p>}
      {isShown && (
        <Fragment key={opened?.generation}>
          {children(opened?.record, () => setGeneration(generation + 1))}
        </Fragment>
      )}
    </Modal>
  );
}
