import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useLocation, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import type { InvitationLook } from "../../../src/accounts/invitations/schema.ts";
import { dashboard, dataOf } from "../../data/client.ts";
import { renewSession, useSession } from "../../data/session.ts";
import { FormFrame, useForm } from "../../components/form.tsx";
import { PasswordField } from "../../components/password-field.tsx";
import { EntranceFrame } from "./entrance-frame.tsx";

export function InvitationPage() {
  const token = useLocation({ select: ({ hash }) => hash });
  const { data, error } = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => dataOf(dashboard.invitations.look.post({ token })),
    retry: false,
    refetchOnWindowFocus: false,
  });
  if (error !== null)
    return (
      <EntranceFrame title="This invitation is not valid" words={error.message}>
        <Button component="a" href="/">
          Go to sign-in
        </Button>
      </EntranceFrame>
    );
  return data === undefined ? null : <Accept token={token} look={data} />;
}

/** Somebody new says a name and a password; whoever has an account here gives its password, or is signed in already. */
function Accept({ token, look }: { token: string; look: InvitationLook }) {
  const { data: session } = useSession();
  const { history } = useRouter();
  const isSignedIn = session?.person?.email.toLowerCase() === look.email.toLowerCase();
  const [isNew, setIsNew] = useState(true);
  const form = useForm({ name: "", password: "" }, async ({ name, password }) => {
    const fields = isSignedIn ? {} : isNew ? { name, password } : { password };
    await dataOf(dashboard.invitations.accept.post({ token, ...fields }));
    await renewSession();
    history.replace("/");
  });
  return (
    <EntranceFrame
      title={`Join ${look.organization.name}`}
      words={`You are invited as ${look.email}, with the role ${look.role}.`}
    >
      <FormFrame
        form={form}
        submit="Join"
        extra={
          !isSignedIn && (
            <Button variant="subtle" onClick={() => setIsNew(!isNew)}>
              {isNew ? "I already have an account" : "Create an account"}
            </Button>
          )
        }
      >
        {!isSignedIn && isNew && (
          <TextInput label="Your name" autoComplete="name" autoFocus {...form.input("name")} />
        )}
        {!isSignedIn && (
          <PasswordField
            label={isNew ? "Choose a password" : "Your password"}
            autoComplete={isNew ? "new-password" : "current-password"}
            {...form.input("password")}
          />
        )}
      </FormFrame>
    </EntranceFrame>
  );
}
