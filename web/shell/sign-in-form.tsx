import { TextInput } from "@mantine/core";
import { useState } from "react";
import { signIn, signInWithCode } from "../data/session.ts";
import { FormFrame, useForm } from "../components/form.tsx";
import { PasswordField } from "../components/password-field.tsx";

/** E-mail and password, then the code where two-factor is on. */
export function SignInForm({ email = "", onDone }: { email?: string; onDone?: () => void }) {
  const [needsCode, setNeedsCode] = useState(false);
  const credentials = useForm({ email, password: "" }, async ({ email, password }) => {
    if (await signIn(email, password)) setNeedsCode(true);
    else onDone?.();
  });
  const second = useForm({ code: "" }, async ({ code }) => {
    await signInWithCode(code.trim());
    onDone?.();
  });
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
          value={second.values.code}
          onChange={({ currentTarget }) => second.set("code", currentTarget.value)}
          error={second.errorOf("code")}
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
        value={credentials.values.email}
        onChange={({ currentTarget }) => credentials.set("email", currentTarget.value)}
        error={credentials.errorOf("email")}
      />
      <PasswordField
        label="Password"
        autoComplete="current-password"
        data-autofocus
        autoFocus={email !== ""}
        value={credentials.values.password}
        onChange={({ currentTarget }) => credentials.set("password", currentTarget.value)}
        error={credentials.errorOf("password")}
      />
    </FormFrame>
  );
}
