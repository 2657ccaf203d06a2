import { Modal, TextInput } from "@mantine/core";
import { useState } from "react";
import type { PendingTwoFactor } from "../../../src/accounts/two-factor/schema.ts";
import { dashboard, dataOf } from "../../data/client.ts";
import { renewSession } from "../../data/session.ts";
import { copy } from "../../components/curl-button.tsx";
import { FormFrame, useForm } from "../../components/form.tsx";
import { PasswordField } from "../../components/password-field.tsx";
import { QrCode } from "../../components/qr-code.tsx";
import { invalidate, sessionsQuery } from "./data.ts";

type Props = { onClose: () => void; onCodes: (codes: readonly string[]) => void };

/** The password, then scan, then prove by a first code that the app has it. */
export function TwoFactorSetUp({ onClose, onCodes }: Props) {
  const [pending, setPending] = useState<PendingTwoFactor | null>(null);
  return (
    <Modal
      opened
      onClose={onClose}
      title="Turn two-factor on"
      closeOnClickOutside={false}
      size={520}
    >
      {pending === null ? (
        <Prove onClose={onClose} onPending={setPending} />
      ) : (
        <Scan pending={pending} onClose={onClose} onCodes={onCodes} />
      )}
    </Modal>
  );
}

function Prove({
  onClose,
  onPending,
}: {
  onClose: () => void;
  onPending: (pending: PendingTwoFactor) => void;
}) {
  const form = useForm({ password: "" }, async (body) =>
    onPending(await dataOf(dashboard["two-factor"].post(body))),
  );
  return (
    <FormFrame form={form} submit="Continue" onCancel={onClose}>
      <PasswordField
        label="Your password"
        autoComplete="current-password"
        data-autofocus
        {...form.input("password")}
      />
    </FormFrame>
  );
}

function Scan({
  pending: { uri, secret },
  onClose,
  onCodes,
}: Props & { pending: PendingTwoFactor }) {
  const form = useForm({ code: "" }, async ({ code }) => {
    const confirmed = await dataOf(dashboard["two-factor"].confirm.post({ code: code.trim() }));
    await renewSession();
    await invalidate(sessionsQuery);
    onClose();
    onCodes(confirmed.recoveryCodes);
  });
  return (
    <FormFrame form={form} submit="Turn on" onCancel={onClose}>
      <div className="scan">
        <QrCode text={uri} label="QR code for your authenticator app" />
        <div>
          <p>Scan this with an authenticator app, such as Aegis, 2FAS or your password manager.</p>
          <p className="quiet">Can’t scan? Enter this key:</p>
          <button
            type="button"
            className="secret-key"
            title="Copy"
            onClick={() => void copy(secret, "Key")}
          >
            {secret.replace(/(.{4})(?=.)/g, "$1 ")}
          </button>
        </div>
      </div>
      <TextInput
        label="Code"
        description="The six digits that the app shows now. This signs you out everywhere else."
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus
        {...form.input("code")}
      />
    </FormFrame>
  );
}
