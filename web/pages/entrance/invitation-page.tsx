import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { send } from "../../data/client.ts";
import { sessionBegan } from "../../data/session.ts";
import { FormFrame, useForm } from "../../parts/form.tsx";
import { PasswordField } from "../../parts/password-field.tsx";
import { router } from "../../router.tsx";
import { EntranceFrame } from "./entrance-frame.tsx";

type Look = { organization: { name: string }; email: string; role: string; hasAccount: boolean };

export function InvitationPage() {
  const token = useLocation({ select: ({ hash }) => hash });
  const { data, error } = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => send<Look>("POST", "/invitations/look", { token }),
    retry: false,
    refetchOnWindowFocus: false,
  });
  if (error !== null)
    return (
      <EntranceFrame title="This invitation does not open anything" words={error.message}>
        <Button component="a" href="/">
          Go to the sign-in
        </Button>
      </EntranceFrame>
    );
  return data === undefined ? null : <Accept token={token} look={data} />;
}

function Accept({ token, look }: { token: string; look: Look }) {
  const form = useForm({ name: "", password: "" }, async ({ name, password }) => {
    await send("POST", "/invitations/accept", {
      token,
      password,
      ...(!look.hasAccount && { name }),
    });
    await sessionBegan();
    router.history.replace("/");
  });
  return (
    <EntranceFrame
      title={`Join ${look.organization.name}`}
      words={`You are invited as ${look.email}, with the role ${look.role}.`}
    >
      <FormFrame form={form} submit="Join">
        {!look.hasAccount && (
          <TextInput
            label="Your name"
            autoComplete="name"
            autoFocus
            value={form.values.name}
            onChange={({ currentTarget }) => form.set("name", currentTarget.value)}
            error={form.errorOf("name")}
          />
        )}
        <PasswordField
          label={look.hasAccount ? "Your password" : "Choose a password"}
          autoComplete={look.hasAccount ? "current-password" : "new-password"}
          value={form.values.password}
          onChange={({ currentTarget }) => form.set("password", currentTarget.value)}
          error={form.errorOf("password")}
        />
      </FormFrame>
    </EntranceFrame>
  );
}
