import { Modal, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { PendingTwoFactor, RecoveryCodes as Codes } from "../../../src/two-factor/schema.ts";
import { send } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";
import { loadSession } from "../../data/session.ts";
import { copy } from "../../parts/curl-button.tsx";
import { FormFrame, useForm } from "../../parts/form.tsx";
import { Loaded } from "../../parts/loading.tsx";
import { QrCode } from "../../parts/qr-code.tsx";

/** Scan, then prove by a first code that the app has it. */
export function TwoFactorSetUp({
  onClose,
  onCodes,
}: {
  onClose: () => void;
  onCodes: (codes: readonly string[]) => void;
}) {
  const pending = useQuery({
    queryKey: ["two-factor"],
    queryFn: () => send<PendingTwoFactor>("POST", "/two-factor"),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const form = useForm({ code: "" }, async ({ code }) => {
    const confirmed = await send<Codes>("POST", "/two-factor/confirm", {
      code: code.replaceAll(" ", ""),
    });
    queryClient.setQueryData(["session"], await loadSession());
    onClose();
    onCodes(confirmed.recoveryCodes);
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title="Turn two-factor on"
      closeOnClickOutside={false}
      size={520}
    >
      <Loaded query={pending} what="The secret">
        {({ uri, secret }) => (
          <FormFrame form={form} submit="Turn on" onCancel={onClose}>
            <div className="scan">
              <QrCode text={uri} label="QR code for your authenticator app" />
              <div>
                <p>
                  Scan this with an authenticator app, such as Aegis, 2FAS or the one of your
                  password manager.
                </p>
                <p className="quiet">Can’t scan? Give it this key:</p>
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
              description="The six digits that the app shows now."
              inputMode="numeric"
              autoComplete="one-time-code"
              data-autofocus
              autoFocus
              value={form.values.code}
              onChange={({ currentTarget }) => form.set("code", currentTarget.value)}
              error={form.errorOf("code")}
            />
          </FormFrame>
        )}
      </Loaded>
    </Modal>
  );
}
