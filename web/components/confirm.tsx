import { Button, Modal } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { BusyButton } from "./forms/busy-button.tsx";
import { notifyError } from "./toasts.tsx";
import { t } from "../language/text.ts";

/**
 * Asks for confirmation of an action that takes effect at once and cannot be undone. A question
 * about a publication has the focus on Cancel, because a second Enter must not publish.
 */
export function Confirm({
  title,
  verb,
  cancel = t("Cancel"),
  publishes = false,
  children,
  onConfirm,
  onClose,
}: {
  title: string;
  /** Label of the button that confirms. */
  verb: string;
  cancel?: string;
  /** Whether the action publishes a record. Otherwise it removes one. */
  publishes?: boolean;
  children: ReactNode;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const { mutate, isPending } = useMutation({
    mutationFn: onConfirm,
    onSuccess: onClose,
    onError: notifyError,
  });
  return (
    <Modal opened onClose={onClose} title={title} size="sm" centered>
      <div className="mb-14 text-s quiet">{children}</div>
      <div className="form-buttons">
        <div className="form-extra" />
        <Button onClick={onClose} data-autofocus={publishes || undefined}>
          {cancel}
        </Button>
        <BusyButton
          variant="filled"
          {...(!publishes && { color: "red" })}
          loading={isPending}
          onClick={() => mutate()}
          data-autofocus={!publishes || undefined}
        >
          {verb}
        </BusyButton>
      </div>
    </Modal>
  );
}
