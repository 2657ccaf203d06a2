/** Settings: the mail server that sends e-mails, with a test. */
import { TextInput, Alert } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Confirm } from "../../../components/confirm.tsx";
import { settingsKinds } from "../../../../src/accounts/settings/schema.ts";
import type { TestOutcome as Verdict } from "../../../../src/alerting/schema.ts";
import { unwrapData, v1, dashboard } from "../../../data/client.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { NumberField } from "../../../components/forms/number-field.tsx";
import { ChoiceField, type Form, FormFrame, useForm } from "../../../components/forms/form.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { SecretField } from "../../../components/forms/secret-fields.tsx";
import {
  createStoredSecrets,
  type StoredSecrets,
} from "../../../components/forms/stored-secrets.ts";
import { createSettingsQuery } from "../data.ts";
import {
  type Auth,
  toFields,
  removeMailServer,
  secretFields,
  buildSmtp,
  defaultHosts,
  defaultPorts,
  type MailServerFields,
} from "./mail-server-fields.ts";
import { type SettingsFormProps, useSettingsForm } from "./settings-form.ts";
import { translateServerText } from "../../../language/server-text.ts";
import { t, tNode } from "../../../language/text.ts";

export default function MailServer() {
  const { organization } = useSignedInPerson();
  const query = useQuery(createSettingsQuery(organization.id));
  const [opened, setOpened] = useState(0);
  return (
    <Loaded query={query} subject={t("The mail server")}>
      {(settings) => (
        <Fields
          key={`${opened} ${settings.smtp === null}`}
          organizationId={organization.id}
          settings={settings}
          onReload={() => void query.refetch().then(() => setOpened(opened + 1))}
        />
      )}
    </Loaded>
  );
}

function Fields({ settings, ...props }: SettingsFormProps) {
  const [known, setKnown] = useState(settings);
  const form = useSettingsForm(
    { ...props, settings: known },
    toFields(settings),
    (values) => ({ smtp: buildSmtp(values) }),
    { key: "mail-server", secrets: secretFields },
    (saved) => {
      setKnown(saved);
      form.replace(toFields(saved));
    },
  );
  const test = useTestMail(() => (form.isDirty || known.smtp === null ? form.values : null));
  const findFieldError = (name: string) => form.errorOf(name) ?? test.errorOf(name);
  const body = { smtp: buildSmtp(form.values) };
  const secrets = createStoredSecrets(settingsKinds, "organization", known, body, findFieldError);
  const parts: Parts = { form, errorOf: findFieldError, secrets };
  return (
    <>
      <p className="quiet panel-words">
        {t(
          "Signalbox sends alerts and status page updates by e-mail through this server. Without it, no e-mail is sent.",
        )}
      </p>
      <Panel>
        <FormFrame
          form={form}
          submit={t("Save")}
          disabled={!form.isDirty}
          extra={
            known.smtp !== null && (
              <RemoveButton onConfirm={() => removeMailServer(props.organizationId)} />
            )
          }
          curl={() => ({ method: "PATCH", route: v1.settings, body })}
        >
          <ServerFields {...parts} />
          <AuthenticationFields {...parts} />
          <SenderField {...parts} />
        </FormFrame>
      </Panel>
      <TestMail test={test} unsaved={form.isDirty} />
    </>
  );
}

function RemoveButton({ onConfirm }: { onConfirm: () => Promise<unknown> }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className="plain-button down" onClick={() => setAsking(true)}>
        {t("Remove")}
      </button>
      {isAsking && (
        <Confirm
          title={t("Remove the mail server?")}
          verb={t("Remove")}
          onClose={() => setAsking(false)}
          onConfirm={onConfirm}
        >
          {t("No e-mail is sent until you enter a mail server again. Its password is deleted.")}
        </Confirm>
      )}
    </>
  );
}

const SenderField = (parts: Parts) => (
  <TextInput
    label={t("From")}
    placeholder="Signalbox <signalbox@team.example>"
    description={t("An address, or Name <address>. The server must accept it as the sender.")}
    {...createInputProps(parts, "smtp.from")}
  />
);

/** The form, its errors including those of a test e-mail, and its stored secrets. */
type Parts = {
  form: Form<MailServerFields>;
  errorOf: (name: string) => string | undefined;
  secrets: StoredSecrets;
};

type TextName = "smtp.host" | "smtp.user" | "smtp.tenant" | "smtp.clientId" | "smtp.from";
const createInputProps = ({ form, errorOf }: Parts, name: TextName) => ({
  ...form.input(name),
  error: errorOf(name),
});

type SecretName = "smtp.password" | "smtp.clientSecret" | "smtp.serviceAccountKey";
const createSecretProps = ({ form: { values, set }, secrets }: Parts, name: SecretName) => ({
  value: values[name] === "" ? undefined : values[name],
  onChange: (value: string | null | undefined) => set(name, value === undefined ? "" : value),
  error: secrets.errorOf(name),
  isSet: secrets.isSet(name),
  needsReentry: secrets.needsReentry(name),
  mayBeNone: name === "smtp.password",
});

/** Changes the encryption, and the port too if it is the usual one. */
function setTls({ values, set }: Form<MailServerFields>, next: keyof typeof defaultPorts) {
  if (values["smtp.port"] === defaultPorts[values["smtp.tls"]])
    set("smtp.port", defaultPorts[next]);
  set("smtp.tls", next);
}

/** Changes the authentication. Fills in the provider's usual host, and requires encryption for tokens. */
function setAuth(form: Form<MailServerFields>, next: Auth) {
  const { values, set } = form;
  if (["", defaultHosts[values["smtp.auth"]]].includes(values["smtp.host"]))
    set("smtp.host", defaultHosts[next]);
  if (next !== "password" && values["smtp.tls"] === "none") setTls(form, "starttls");
  set("smtp.auth", next);
}

function ServerFields(parts: Parts) {
  const { form, errorOf } = parts;
  const tls = form.values["smtp.tls"];
  return (
    <>
      <div className="field-row mail-host">
        <TextInput
          label={t("Host")}
          placeholder="mail.team.example"
          {...createInputProps(parts, "smtp.host")}
        />
        <NumberField
          label={t("Port")}
          hideControls
          thousandSeparator=""
          value={form.values["smtp.port"]}
          onChange={(port) => form.set("smtp.port", port)}
          error={errorOf("smtp.port")}
        />
      </div>
      <ChoiceField
        label={t("Encryption")}
        options={{ starttls: "STARTTLS", tls: "TLS", none: t("None") }}
        value={tls}
        onChange={(next) => setTls(form, next)}
        hint={encryptionLabels[tls]}
      />
    </>
  );
}

function AuthenticationFields(parts: Parts) {
  const auth = parts.form.values["smtp.auth"];
  return (
    <>
      <ChoiceField
        label={t("Authentication")}
        options={{ password: t("By password"), microsoft: "Microsoft", google: "Google" }}
        value={auth}
        onChange={(next) => setAuth(parts.form, next)}
        hint={authLabels[auth]}
      />
      <div className="field-row">
        <TextInput
          label={auth === "password" ? t("User name") : t("Mailbox")}
          autoComplete="off"
          description={
            auth === "password"
              ? t("Leave empty if the server does not need one.")
              : t("The address that sends the e-mails.")
          }
          {...createInputProps(parts, "smtp.user")}
        />
        {auth === "password" && (
          <SecretField label={t("Password")} {...createSecretProps(parts, "smtp.password")} />
        )}
        {auth === "microsoft" && (
          <TextInput
            label={t("Tenant")}
            autoComplete="off"
            placeholder="team.onmicrosoft.com"
            description={t("The directory (tenant) ID, or one of its domains.")}
            {...createInputProps(parts, "smtp.tenant")}
          />
        )}
      </div>
      {auth === "microsoft" && (
        <div className="field-row">
          <TextInput
            label={t("Client ID")}
            autoComplete="off"
            description={t("Application (client) ID of the app.")}
            {...createInputProps(parts, "smtp.clientId")}
          />
          <SecretField
            label={t("Client secret")}
            hint={t("Its value, not its ID.")}
            {...createSecretProps(parts, "smtp.clientSecret")}
          />
        </div>
      )}
      {auth === "google" && (
        <SecretField
          label={t("Service account key")}
          hint={t("The complete content of the JSON key file from Google Cloud.")}
          {...createSecretProps(parts, "smtp.serviceAccountKey")}
        />
      )}
    </>
  );
}

const authLabels: Record<Auth, string> = {
  password: t(
    "User name and password. Microsoft 365 stops supporting this at the end of 2026; Gmail needs an app password.",
  ),
  microsoft: t(
    "An Entra ID app with admin consent for the application permission SMTP.SendAsApp of Office 365 Exchange Online. In Exchange, register the app with New-ServicePrincipal, give it full access to the mailbox, and turn on authenticated SMTP for the mailbox.",
  ),
  google: t(
    "A Google Cloud service account with domain-wide delegation for the scope https://mail.google.com/, granted in the Admin console.",
  ),
};

const encryptionLabels = {
  starttls: t(
    "Starts unencrypted and requires encryption before anything is sent. Usually port 587.",
  ),
  tls: t("Encrypted from the start. Usually port 465."),
  none: t("Only for relays on the LAN: passwords and e-mails are not encrypted."),
};

/** Tests the unsaved values of the form if `unsaved` has any, otherwise the stored ones. */
function useTestMail(unsaved: () => MailServerFields | null) {
  const { person } = useSignedInPerson();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const form = useForm({ to: person.email }, async ({ to }) => {
    setVerdict(null);
    const fields = unsaved();
    const body = { to, ...(fields && { smtp: buildSmtp(fields) }) };
    setVerdict(await unwrapData(dashboard.settings["test-mail"].post(body)));
  });
  return { ...form, verdict };
}

function TestMail({ test, unsaved }: { test: ReturnType<typeof useTestMail>; unsaved: boolean }) {
  const { values, input, otherErrors: rest, isBusy, verdict, submit } = test;
  return (
    <Panel title={t("Test e-mail")}>
      <p className="quiet panel-words">
        {unsaved
          ? t("Uses the settings above, before they are saved.")
          : t("Uses the saved mail server.")}
      </p>
      <form className="one-line" noValidate onSubmit={(event) => void submit(event)}>
        <TextInput label={t("Send to")} type="email" {...input("to")} />
        <BusyButton type="submit" loading={isBusy}>
          {t("Send test e-mail")}
        </BusyButton>
      </form>
      <div aria-live="polite">
        {rest !== null && (
          <Alert color="red" variant="light" mt={12}>
            {rest}
          </Alert>
        )}
        {verdict?.delivered === false && (
          <Alert color="red" variant="light" mt={12} title={t("Not sent")}>
            {translateServerText(verdict.message)}
          </Alert>
        )}
        {verdict?.delivered === true && (
          <p className="verdict up">
            {tNode("The mail server accepted it: {message} Check the mailbox of {to}.", {
              message: translateServerText(verdict.message),
              to: values.to,
            })}
          </p>
        )}
      </div>
    </Panel>
  );
}
