import { Modal } from "@mantine/core";
import { dashboard, dataOf } from "../../data/client.ts";
import { renewSession } from "../../data/session.ts";
import { FormFrame, useForm } from "../../components/form.tsx";
import { PasswordField } from "../../components/password-field.tsx";
import { notify } from "../../components/toasts.tsx";

/** What a borrowed browser must not do asks for the password once more. */
export function TwoFactorOff({
  renewing,
  onClose,
  onCodes,
}: {
  renewing: boolean;
  onClose: () => void;
  onCodes: (codes: readonly string[]) => void;
}) {
  const form = useForm({ password: "" }, async (body) => {
    if (renewing) {
      const { recoveryCodes } = await dataOf(dashboard["two-factor"]["recovery-codes"].post(body));
      onCodes(recoveryCodes);
    } else {
      await dataOf(dashboard["two-factor"].disable.post(body));
      await renewSession();
      notify("Two-factor sign-in is off");
    }
    onClose();
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={renewing ? "New recovery codes" : "Turn two-factor off"}
      size="sm"
    >
      <p className="quiet dialog-words">
        {renewing
          ? "Your current codes will stop working."
          : "Your password alone will be enough to sign in."}
      </p>
      <FormFrame form={form} submit={renewing ? "Create new codes" : "Turn off"} onCancel={onClose}>
        <PasswordField
          label="Your password"
          autoComplete="current-password"
          data-autofocus
          {...form.input("password")}
        />
      </FormFrame>
    </Modal>
  );
}
