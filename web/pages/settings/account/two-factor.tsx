/** Settings: two-factor sign-in with its recovery codes. */
import { Button, Modal, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { encode } from "uqr";
import type {
  PendingTwoFactor,
  TwoFactor as TwoFactorState,
} from "../../../../src/accounts/two-factor/schema.ts";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { useSignedInPerson, renewSession } from "../../../data/session.ts";
import { copyText, downloadFile } from "../../../components/copy.tsx";
import { FormDialog, useForm } from "../../../components/forms/form.tsx";
import { Icon } from "../../../components/display/icons.tsx";
import { Panel } from "../../../components/page.tsx";
import { PasswordField } from "../../../components/forms/password-field.tsx";
import { notify } from "../../../components/toasts.tsx";
import { invalidateQuery, passkeysQuery, sessionsQuery, twoFactorQuery } from "../data.ts";
import { t, tNode } from "../../../language/text.ts";

type TwoFactorDialogName = "setting-up" | "with-passkeys" | "turning-off" | "renewing" | null;

/** Settings of two-factor sign-in: authenticator app and recovery codes. */
export function TwoFactor() {
  const { person } = useSignedInPerson();
  const [doing, setDoing] = useState<TwoFactorDialogName>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const { data: factors } = useQuery(twoFactorQuery);
  const { data: passkeys = [] } = useQuery(passkeysQuery);
  const close = () => setDoing(null);
  return (
    <Panel title={t("Two-factor sign-in")}>
      <div className="two-factor">
        <p className="quiet">{person.twoFactor ? describeUse(factors) : describePurpose()}</p>
        <div className="flex gap-8 flex-wrap">
          {person.twoFactor ? (
            <>
              {factors?.authenticatorApp === false && (
                <Button onClick={() => setDoing("setting-up")}>{t("Add authenticator app")}</Button>
              )}
              <Button onClick={() => setDoing("renewing")}>{t("New recovery codes")}</Button>
              <Button onClick={() => setDoing("turning-off")}>{t("Turn off")}</Button>
            </>
          ) : (
            <>
              {passkeys.length > 0 && (
                <Button onClick={() => setDoing("with-passkeys")}>
                  {t("Turn on with passkeys")}
                </Button>
              )}
              <Button variant="filled" onClick={() => setDoing("setting-up")}>
                {t("Turn on")}
              </Button>
            </>
          )}
        </div>
      </div>
      {doing === "setting-up" && <TwoFactorSetUp onClose={close} onCodes={setCodes} />}
      {doing === "with-passkeys" && <UsePasskeys onClose={close} onCodes={setCodes} />}
      {doing === "turning-off" && <TwoFactorOff onClose={close} />}
      {doing === "renewing" && <RenewCodes onClose={close} onCodes={setCodes} />}
      {codes !== null && <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />}
    </Panel>
  );
}

const describeUse = (factors: TwoFactorState | undefined) =>
  tNode(
    "{state} Signing in by password also needs {accepted}, or one of your {count} recovery codes.",
    {
      state: <b className="up">{t("On.")}</b>,
      accepted: describeFactors(factors),
      count: factors?.recoveryCodesLeft ?? "",
    },
  );

const describePurpose = () =>
  tNode(
    "{state} When it is on, signing in by password also needs a code from an app on your phone, or a passkey. A stolen password is then not enough.",
    { state: <b>{t("Off.")}</b> },
  );

function describeFactors(factors: TwoFactorState | undefined): string {
  if (factors?.passkeys !== true) return t("a code from your authenticator app");
  return factors.authenticatorApp
    ? t("a code from your authenticator app or a passkey")
    : t("a passkey");
}

type Props = { onClose: () => void; onCodes: (codes: readonly string[]) => void };

/** Asks for the password again, to protect sensitive actions in an unattended browser. */
function PasswordDialog({
  title,
  submit,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  submit: string;
  onSubmit: (body: { password: string }) => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
}) {
  const form = useForm({ password: "" }, onSubmit);
  return (
    <FormDialog title={title} onClose={onClose} form={form} submit={submit}>
      {children !== undefined && <p className="quiet">{children}</p>}
      <PasswordField
        label={t("Your password")}
        autoComplete="current-password"
        data-autofocus
        {...form.input("password")}
      />
    </FormDialog>
  );
}

/** Sets up two-factor sign-in: password, QR code, then a first code as proof. */
function TwoFactorSetUp({ onClose, onCodes }: Props) {
  const [pending, setPending] = useState<PendingTwoFactor | null>(null);
  if (pending !== null) return <ScanStep pending={pending} onClose={onClose} onCodes={onCodes} />;
  return (
    <PasswordDialog
      title={t("Turn two-factor on")}
      submit={t("Continue")}
      onSubmit={async (body) => setPending(await unwrapData(dashboard["two-factor"].post(body)))}
      onClose={onClose}
    />
  );
}

function ScanStep({
  pending: { uri, secret },
  onClose,
  onCodes,
}: Props & { pending: PendingTwoFactor }) {
  const form = useForm({ code: "" }, async ({ code }) => {
    const confirmed = await unwrapData(dashboard["two-factor"].confirm.post({ code: code.trim() }));
    await renewSession();
    await invalidateQuery(sessionsQuery);
    await invalidateQuery(twoFactorQuery);
    onClose();
    onCodes(confirmed.recoveryCodes);
  });
  return (
    <FormDialog
      title={t("Turn two-factor on")}
      size={520}
      onClose={onClose}
      form={form}
      submit={t("Turn on")}
    >
      <div className="scan">
        <QrCode text={uri} label={t("QR code for your authenticator app")} />
        <div>
          <p>
            {t(
              "Scan this with an authenticator app, such as Aegis, 2FAS or your password manager.",
            )}
          </p>
          <p className="quiet">{t("Can’t scan? Enter this key:")}</p>
          <button
            type="button"
            className="secret-key"
            title={t("Copy")}
            onClick={() => void copyText(secret, t("Key"))}
          >
            {secret.replace(/(.{4})(?=.)/g, "$1 ")}
          </button>
        </div>
      </div>
      <TextInput
        label={t("Code")}
        description={t(
          "The six digits that the app shows now. This signs you out everywhere else.",
        )}
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus
        {...form.input("code")}
      />
    </FormDialog>
  );
}

function UsePasskeys({ onClose, onCodes }: Props) {
  return (
    <PasswordDialog
      title={t("Turn two-factor on")}
      submit={t("Turn on")}
      onSubmit={async (body) => {
        const confirmed = await unwrapData(dashboard["two-factor"].passkeys.post(body));
        await renewSession();
        await invalidateQuery(sessionsQuery);
        await invalidateQuery(twoFactorQuery);
        onClose();
        onCodes(confirmed.recoveryCodes);
      }}
      onClose={onClose}
    >
      {t(
        "Signing in by password then also needs one of your passkeys. Under other host names, it needs a recovery code. This signs you out everywhere else.",
      )}
    </PasswordDialog>
  );
}

function RenewCodes({ onClose, onCodes }: Props) {
  return (
    <PasswordDialog
      title={t("New recovery codes")}
      submit={t("Create new codes")}
      onSubmit={async (body) => {
        const renewed = await unwrapData(dashboard["two-factor"]["recovery-codes"].post(body));
        onCodes(renewed.recoveryCodes);
        onClose();
      }}
      onClose={onClose}
    >
      {t("Your current codes will stop working.")}
    </PasswordDialog>
  );
}

function TwoFactorOff({ onClose }: Pick<Props, "onClose">) {
  return (
    <PasswordDialog
      title={t("Turn two-factor off")}
      submit={t("Turn off")}
      onSubmit={async (body) => {
        await unwrapData(dashboard["two-factor"].disable.post(body));
        await renewSession();
        await invalidateQuery(twoFactorQuery);
        notify(t("Two-factor sign-in is off"));
        onClose();
      }}
      onClose={onClose}
    >
      {t("Your password alone will be enough to sign in.")}
    </PasswordDialog>
  );
}

/** Shows the ten recovery codes, only once. */
function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const { person } = useSignedInPerson();
  const text = `${codes.join("\n")}\n`;
  return (
    <Modal
      opened
      onClose={onClose}
      title={t("Your recovery codes")}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <p className="quiet mb-14 text-s">
        {t(
          "Each code works once, in place of a code from your phone. They are shown only once: keep them where you can reach them without your phone.",
        )}
      </p>
      <ol className="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div className="form-buttons">
        <div className="form-extra">
          <Button
            leftSection={<Icon name="copy" size={15} />}
            onClick={() => void copyText(text, t("Recovery codes"))}
          >
            {t("Copy")}
          </Button>
          <Button
            leftSection={<Icon name="download" size={15} />}
            onClick={() =>
              downloadFile("signalbox-recovery-codes.txt", {
                text: `Signalbox, ${person.email}\n\n${text}`,
                type: "text/plain",
              })
            }
          >
            {t("Download")}
          </Button>
        </div>
        <Button variant="filled" onClick={onClose}>
          {t("I have saved them")}
        </Button>
      </div>
    </Modal>
  );
}

/**
 * A text as a QR code. It is dark on light in both themes, because cameras often fail on inverted
 * codes.
 */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size: modules } = encode(text, { ecc: "M", border: 3 });
  const dark = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      className="qr-code"
      role="img"
      aria-label={label}
      width={176}
      height={176}
      viewBox={`0 0 ${modules} ${modules}`}
      shapeRendering="crispEdges"
    >
      <rect width={modules} height={modules} fill="#fff" />
      <path d={dark.join("")} fill="#000" />
    </svg>
  );
}
