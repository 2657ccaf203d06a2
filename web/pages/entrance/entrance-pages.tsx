/** Pages without a session: sign-in, set-up, invitation. */
import { TextInput, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useLocation, useRouter } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { InvitationView } from "../../../src/accounts/invitations/schema.ts";
import { dashboard, unwrapData } from "../../data/client.ts";
import { renewSession, useSession } from "../../data/session.ts";
import { FormFrame, useForm } from "../../components/forms/form.tsx";
import { Mark } from "../../components/display/mark.tsx";
import { PasswordField } from "../../components/forms/password-field.tsx";
import { ProviderButtons } from "../../shell/provider-buttons.tsx";
import { SignInForm } from "../../shell/sign-in.tsx";
import { roleNames } from "../../components/display/role-names.ts";
import { t, tNode } from "../../language/text.ts";

/** The centered card of pages for people who are not signed in. */
function EntranceFrame({
  title,
  words,
  children,
}: {
  title: string;
  words: string;
  children?: ReactNode;
}) {
  return (
    <main className="entrance">
      <div className="entrance-brand">
        <Mark state="up" size={30} />
        <b>Signalbox</b>
      </div>
      <section className="panel entrance-card">
        <h1>{title}</h1>
        <p className="quiet">{words}</p>
        {children}
      </section>
    </main>
  );
}

export function SignInPage() {
  const token = useLocation({ select: ({ hash }) => hash });
  if (token !== "") return <SignInByLink token={token} />;
  return (
    <EntranceFrame title={t("Sign in")} words={t("Signalbox at {host}", { host: location.host })}>
      <SignInForm />
      <p className="quiet entrance-help text-s">
        {tNode(
          "Forgot your password? The person who runs this Signalbox can reset it on its machine with {command}.",
          { command: <code>signalbox users reset-password EMAIL</code> },
        )}
      </p>
    </EntranceFrame>
  );
}

/** Signs in with a link of the command line. */
function SignInByLink({ token }: { token: string }) {
  const { error } = useQuery({
    queryKey: ["sign-in-link", token],
    queryFn: async () => {
      await unwrapData(dashboard["sign-in"].link.post({ token }));
      await renewSession();
      return true;
    },
    retry: false,
    refetchOnWindowFocus: false,
  });
  if (error === null) return <EntranceFrame title={t("Signing in")} words="" />;
  return (
    <EntranceFrame title={t("This link is not valid")} words={error.message}>
      <Button component="a" href="/sign-in">
        {t("Go to sign-in")}
      </Button>
    </EntranceFrame>
  );
}

/**
 * First run: creates the organization and its owner. The console prints the link with the token.
 */
export function SetUpPage() {
  // The link can be opened while the page is already open, which only changes the hash.
  const linked = useLocation({ select: ({ hash }) => hash });
  return <SetUpForm key={linked} linked={linked} />;
}

function SetUpForm({ linked }: { linked: string }) {
  const form = useForm(
    { token: linked, organization: "", name: "", email: "", password: "" },
    async (values) => {
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
      await unwrapData(dashboard["set-up"].post({ ...values, timeZone }));
      await renewSession();
    },
  );
  const { values, set, errorOf } = form;
  return (
    <EntranceFrame
      title={t("Welcome to Signalbox")}
      words={t("Fill in this form, then add your first monitor. You can change everything later.")}
    >
      <FormFrame form={form} submit={t("Set up Signalbox")}>
        {linked === "" && (
          <TextInput
            label={t("Set-up token")}
            description={t(
              "Signalbox printed a link with this token when it started. The token is also in the file set-up-token in the data directory.",
            )}
            autoFocus
            value={values.token}
            onChange={({ currentTarget }) =>
              set("token", currentTarget.value.trim().replace(/^.*#/, ""))
            }
            error={errorOf("token")}
          />
        )}
        <TextInput
          label={t("Organization")}
          placeholder={"Acme GmbH"}
          autoComplete="organization"
          autoFocus={linked !== ""}
          {...form.input("organization")}
        />
        <TextInput label={t("Your name")} autoComplete="name" {...form.input("name")} />
        <TextInput
          label={t("E-mail")}
          type="email"
          autoComplete="username"
          {...form.input("email")}
        />
        <PasswordField
          label={t("Password")}
          description={passwordHint}
          autoComplete="new-password"
          {...form.input("password")}
        />
      </FormFrame>
    </EntranceFrame>
  );
}

const passwordHint = t("10 characters or more.");

export function InvitationPage() {
  const token = useLocation({ select: ({ hash }) => hash });
  const { data, error } = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => unwrapData(dashboard.invitations.look.post({ token })),
    retry: false,
    refetchOnWindowFocus: false,
  });
  if (error !== null)
    return (
      <EntranceFrame title={t("This invitation is not valid")} words={error.message}>
        <Button component="a" href="/">
          {t("Go to sign-in")}
        </Button>
      </EntranceFrame>
    );
  return data === undefined ? null : <Accept token={token} look={data} />;
}

/**
 * Accepts an invitation. New people choose a name and a password; others use their account's
 * password or their session.
 */
function Accept({ token, look }: { token: string; look: InvitationView }) {
  const { data: session } = useSession();
  const { history } = useRouter();
  const isSignedIn = session?.person?.email.toLowerCase() === look.email.toLowerCase();
  const [isNew, setIsNew] = useState(true);
  const form = useForm({ name: "", password: "" }, async ({ name, password }) => {
    const fields = isSignedIn ? {} : isNew ? { name, password } : { password };
    await unwrapData(dashboard.invitations.accept.post({ token, ...fields }));
    await renewSession();
    history.replace("/");
  });
  return (
    <EntranceFrame
      title={t("Join {name}", { name: look.organization.name })}
      words={t("You are invited as {email}, with the role {role}.", {
        email: look.email,
        role: roleNames[look.role],
      })}
    >
      {!isSignedIn && look.providers.length > 0 && (
        <div className="mb-14">
          <ProviderButtons providers={look.providers} invitation={token} />
        </div>
      )}
      {(isSignedIn || look.passwordSignIn) && (
        <FormFrame
          form={form}
          submit={t("Join")}
          extra={
            !isSignedIn && (
              <Button variant="subtle" onClick={() => setIsNew(!isNew)}>
                {isNew ? t("I already have an account") : t("Create an account")}
              </Button>
            )
          }
        >
          {!isSignedIn && isNew && (
            <TextInput
              label={t("Your name")}
              autoComplete="name"
              autoFocus
              {...form.input("name")}
            />
          )}
          {!isSignedIn && (
            <PasswordField
              label={isNew ? t("Choose a password") : t("Your password")}
              description={isNew ? passwordHint : undefined}
              autoComplete={isNew ? "new-password" : "current-password"}
              {...form.input("password")}
            />
          )}
        </FormFrame>
      )}
    </EntranceFrame>
  );
}
