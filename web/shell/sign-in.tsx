/** The sign-in form with two-factor authentication, also as a dialog after a session has ended. */
import { Modal, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { createChunk } from "../data/chunks.ts";
import { dashboard, unwrapData } from "../data/client.ts";
import { prefetchFirstScreen } from "../data/first-screen.ts";
import {
  renewSession,
  useSignedInPerson,
  signInWithPassword,
  signInWithCode,
} from "../data/session.ts";
import { signedOut } from "../data/signed-out.ts";
import { type Form, FormFrame, useForm } from "../components/forms/form.tsx";
import { PasswordField } from "../components/forms/password-field.tsx";
import { t } from "../language/text.ts";

const loadWays = createChunk(() => import("./sign-in-ways.tsx"));
const OtherWays = lazy(async () => ({ default: (await loadWays()).OtherWays }));
const PasskeyStep = lazy(async () => ({ default: (await loadWays()).PasskeyStep }));

/** Asks the person to sign in again on the same page, so that no typed text is lost. */
export function SignInDialog() {
  const { person } = useSignedInPerson();
  const queries = useQueryClient();
  return (
    <Modal
      opened={signedOut.use()}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      title={t("Your session has ended")}
      centered
      size="sm"
      zIndex={400}
    >
      <p className="quiet mb-14 text-s">
        {t("Sign in again to continue. What you typed on this page is kept.")}
      </p>
      <SignInForm email={person.email} onDone={() => void queries.invalidateQueries()} />
    </Modal>
  );
}

/** Asks for e-mail and password, then for a code if two-factor authentication is on. */
export function SignInForm({ email = "", onDone }: { email?: string; onDone?: () => void }) {
  const [needsCode, setNeedsCode] = useState(false);
  const credentials = useForm({ email, password: "" }, async ({ email, password }) => {
    if (await signInWithPassword(email, password)) setNeedsCode(true);
    else await enter();
  });
  const second = useForm({ code: "" }, async ({ code }) => {
    await signInWithCode(code.trim());
    await enter();
  });

  async function enter() {
    prefetchFirstScreen();
    await renewSession();
    onDone?.();
  }

  if (needsCode)
    return <SecondStep form={second} onDone={enter} onCancel={() => setNeedsCode(false)} />;
  return (
    <>
      <FormFrame form={credentials} submit={t("Sign in")}>
        <TextInput
          label={t("E-mail")}
          type="email"
          autoComplete="username webauthn"
          autoFocus={email === ""}
          {...credentials.input("email")}
        />
        <PasswordField
          label={t("Password")}
          autoComplete="current-password"
          data-autofocus
          autoFocus={email !== ""}
          {...credentials.input("password")}
        />
      </FormFrame>
      <Suspense>
        <OtherWays onDone={enter} />
      </Suspense>
    </>
  );
}

/** Asks for a code after the password, or for a passkey if the person has one for this host. */
function SecondStep({
  form,
  onDone,
  onCancel,
}: {
  form: Form<{ code: string }>;
  onDone: () => Promise<void>;
  onCancel: () => void;
}) {
  const { data: factors } = useQuery({
    queryKey: ["second-factors"],
    queryFn: () => unwrapData(dashboard["sign-in"]["second-factors"].post()),
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const hasApp = factors?.authenticatorApp !== false;
  return (
    <>
      <FormFrame form={form} submit={t("Sign in")} onCancel={onCancel}>
        <TextInput
          label={t("Code")}
          description={
            hasApp
              ? t("Six digits from your authenticator app, or one of your recovery codes.")
              : t("One of your recovery codes, if you can’t use your passkey.")
          }
          autoComplete="one-time-code"
          inputMode="text"
          data-autofocus
          autoFocus
          {...form.input("code")}
        />
      </FormFrame>
      <Suspense>{factors && <PasskeyStep factors={factors} onDone={onDone} />}</Suspense>
    </>
  );
}
