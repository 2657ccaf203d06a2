/** The sign-in form with two-factor authentication, also as a dialog after a session has ended. */
import { Modal, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { prefetchFirstScreen } from "../data/first-screen.ts";
import {
  renewSession,
  useSignedInPerson,
  signInWithPassword,
  signInWithCode,
} from "../data/session.ts";
import { signedOut } from "../data/signed-out.ts";
import { FormFrame, useForm } from "../components/forms/form.tsx";
import { PasswordField } from "../components/forms/password-field.tsx";

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
      title="Your session has ended"
      centered
      size="sm"
      zIndex={400}
    >
      <p className="quiet mb-14 text-s">
        Sign in again to continue. What you typed on this page is kept.
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
    return (
      <FormFrame form={second} submit="Sign in" onCancel={() => setNeedsCode(false)}>
        <TextInput
          label="Code"
          description="Six digits from your authenticator app, or one of your recovery codes."
          autoComplete="one-time-code"
          inputMode="text"
          data-autofocus
          autoFocus
          {...second.input("code")}
        />
      </FormFrame>
    );
  return (
    <FormFrame form={credentials} submit="Sign in">
      <TextInput
        label="E-mail"
        type="email"
        autoComplete="username"
        autoFocus={email === ""}
        {...credentials.input("email")}
      />
      <PasswordField
        label="Password"
        autoComplete="current-password"
        data-autofocus
        autoFocus={email !== ""}
        {...credentials.input("password")}
      />
    </FormFrame>
  );
}
