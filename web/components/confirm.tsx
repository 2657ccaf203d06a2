import { Button, Modal } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { notifyError } from "./toasts.tsx";
import { BusyButton } from "./busy-button.tsx";

/** Asks before what takes effect at once and can't be undone. */
export function Confirm({
  title,
  verb,
  children,
  onConfirm,
  onClose,
}: {
  title: string;
  /** On the button. */
  verb: string;
  children: ReactNode;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const [busy, setBusy] = useState(false);
  function run() {
    setBusy(true);
    onConfirm()
      .then(onClose)
      .catch((error: unknown) => {
        setBusy(false);
        notifyError(error);
      });
  }
  return (
    <Modal opened onClose={onClose} title={title} size="sm" centered>
      <div className="dialog-words quiet">{children}</div>
      <div className="form-buttons">
        <div className="form-extra" />
        <Button onClick={onClose}>Cancel</Button>
        <BusyButton variant="filled" color="red" loading={busy} onClick={run} data-autofocus>
          {verb}
        </BusyButton>
      </div>
    </Modal>
  );
}
