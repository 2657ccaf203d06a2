import { TextInput } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { dashboard, dataOf } from "../../data/client.ts";
import { renewSession } from "../../data/session.ts";
import { FormFrame, useForm } from "../../components/form.tsx";
import { PasswordField } from "../../components/password-field.tsx";
import { EntranceFrame } from "./entrance-frame.tsx";

/** First run: the console's link becomes an organization and its owner. */
export function SetUpPage() {
  // The link may be opened where the page is open already.
  const linked = useLocation({ select: ({ hash }) => hash });
  return <SetUpForm key={linked} linked={linked} />;
}

function SetUpForm({ linked }: { linked: string }) {
  const form = useForm(
    { token: linked, organization: "", name: "", email: "", password: "" },
    async (values) => {
      await dataOf(dashboard["set-up"].post(values));
      await renewSession();
    },
  );
  const { values, set, errorOf } = form;
  return (
    <EntranceFrame
      title="Welcome to Signalbox"
      words="Fill in this form, then add your first monitor. You can change everything later."
    >
      <FormFrame form={form} submit="Set up Signalbox">
        {linked === "" && (
          <TextInput
            label="Set-up token"
            description="Signalbox printed a link with this token when it started. The token is also in the file set-up-token in the data directory."
            autoFocus
            value={values.token}
            onChange={({ currentTarget }) =>
              set("token", currentTarget.value.trim().replace(/^.*#/, ""))
            }
            error={errorOf("token")}
          />
        )}
        <TextInput
          label="Organization"
          placeholder="Acme GmbH"
          autoComplete="organization"
          autoFocus={linked !== ""}
          {...form.input("organization")}
        />
        <TextInput label="Your name" autoComplete="name" {...form.input("name")} />
        <TextInput label="E-mail" type="email" autoComplete="username" {...form.input("email")} />
        <PasswordField label="Password" autoComplete="new-password" {...form.input("password")} />
      </FormFrame>
    </EntranceFrame>
  );
}
