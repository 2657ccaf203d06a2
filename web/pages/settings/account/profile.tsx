/** Settings: the person's name, e-mail, time zone, password, passkeys, two-factor sign-in and sessions. */
import { Select, Switch, TextInput } from "@mantine/core";
import { type AdminLanguage, adminLanguages } from "../../../../src/core/admin-languages.ts";
import type { HourCycle } from "../../../../src/core/time/times.ts";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { cachePerson, useSignedInPerson } from "../../../data/session.ts";
import { FormFrame, useForm } from "../../../components/forms/form.tsx";
import { Panel } from "../../../components/page.tsx";
import { formatAbsolute, useNow, listZones } from "../../../components/display/time.tsx";
import { singleKeys } from "../../../components/shortcuts.ts";
import { PasswordField } from "../../../components/forms/password-field.tsx";
import { notify } from "../../../components/toasts.tsx";
import { invalidateQuery, sessionsQuery } from "../data.ts";
import { LinkedAccounts } from "./linked-accounts.tsx";
import { Sessions } from "./sessions.tsx";
import { TwoFactor } from "./two-factor.tsx";
import { WaysToSignIn } from "./ways-to-sign-in.tsx";
import { t } from "../../../language/text.ts";

export default function Profile() {
  return (
    <>
      <Names />
      <Keyboard />
      <Password />
      <WaysToSignIn />
      <LinkedAccounts />
      <TwoFactor />
      <Sessions />
    </>
  );
}

type NameFields = {
  name: string;
  email: string;
  timeZone: string | null;
  hourCycle: HourCycle;
  language: AdminLanguage | null;
};

const toFields = ({ name, email, timeZone, hourCycle, language }: NameFields) => ({
  name,
  email,
  timeZone,
  hourCycle,
  language,
  password: "",
});

function useNamesForm() {
  const { person } = useSignedInPerson();
  const form = useForm(
    toFields(person),
    async ({ password, ...fields }) => {
      const saved = await unwrapData(
        dashboard.profile.patch({ ...fields, ...(password !== "" && { password }) }),
      );
      form.replace(toFields(saved));
      cachePerson(saved);
      notify(t("Saved"));
      if (saved.language !== person.language) location.reload();
    },
    undefined,
    { key: "profile", secrets: ["password"] },
  );
  return { form, isNewEmail: form.values.email !== person.email };
}

function Names() {
  const { form, isNewEmail } = useNamesForm();
  const { values } = form;
  return (
    <Panel title={t("You")}>
      <FormFrame form={form} submit={t("Save")} disabled={!form.isDirty}>
        <div className="field-row">
          <TextInput label={t("Name")} autoComplete="name" {...form.input("name")} />
          <TextInput
            label={t("E-mail")}
            type="email"
            autoComplete="username"
            description={t("You sign in with this address.")}
            {...form.input("email")}
          />
        </div>
        <div className="field-row">
          <TimeZoneField
            value={values.timeZone}
            onChange={(zone) => form.set("timeZone", zone)}
            error={form.errorOf("timeZone")}
          />
          <Select
            label={t("Clock")}
            description={t("For all times that you see.")}
            data={[
              { value: "h23", label: t("24 hours, such as 18:30") },
              { value: "h12", label: t("12 hours, such as 6:30 pm") },
            ]}
            allowDeselect={false}
            value={values.hourCycle}
            onChange={(next) => next !== null && form.set("hourCycle", next as HourCycle)}
            error={form.errorOf("hourCycle")}
          />
        </div>
        <div className="field-row">
          <LanguageField
            value={values.language}
            onChange={(language) => form.set("language", language)}
            error={form.errorOf("language")}
          />
          <span />
        </div>
        {isNewEmail && (
          <PasswordField
            label={t("Your password")}
            autoComplete="current-password"
            description={t("Required to change the e-mail address.")}
            {...form.input("password")}
          />
        )}
      </FormFrame>
    </Panel>
  );
}

/** Languages by their native names, so that everyone finds their own. */
const languageNames: Record<AdminLanguage, string> = { en: "English", de: "Deutsch" };

const LanguageField = ({
  value,
  onChange,
  error,
}: {
  value: AdminLanguage | null;
  onChange: (language: AdminLanguage | null) => void;
  error: string | undefined;
}) => (
  <Select
    label={t("Language")}
    description={t("Of this admin page. Alerts are English.")}
    data={[
      { value: "", label: t("The browser’s language") },
      ...adminLanguages.map((tag) => ({ value: tag, label: languageNames[tag] })),
    ]}
    allowDeselect={false}
    value={value ?? ""}
    onChange={(next) => onChange(adminLanguages.find((tag) => tag === next) ?? null)}
    error={error}
  />
);

function TimeZoneField({
  value,
  onChange,
  error,
}: {
  value: string | null;
  onChange: (zone: string | null) => void;
  error: string | undefined;
}) {
  const { organization } = useSignedInPerson();
  const now = formatAbsolute(useNow(), value ?? organization.timeZone);
  return (
    <Select
      label={t("Time zone")}
      description={t("For all times that you see. Now: {now}", { now })}
      placeholder={t("The organization's: {timeZone}", { timeZone: organization.timeZone })}
      data={listZones(organization.timeZone)}
      searchable
      clearable
      limit={100}
      maxDropdownHeight={280}
      nothingFoundMessage={t("No time zones found")}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}

const Keyboard = () => (
  <Panel title={t("Keyboard")}>
    <Switch
      label={t("Single-key shortcuts")}
      description={t(
        "For example P to pause a monitor. Turn them off if you dictate text. Shortcuts with Ctrl or ⌘ remain. Applies to this browser.",
      )}
      checked={singleKeys.use()}
      onChange={({ currentTarget }) => singleKeys.set(currentTarget.checked)}
    />
  </Panel>
);

function Password() {
  const form = useForm({ current: "", password: "" }, async (values) => {
    await unwrapData(dashboard.profile.password.post(values));
    form.replace({ current: "", password: "" });
    await invalidateQuery(sessionsQuery);
    notify(t("Password changed; you are signed out everywhere else"));
  });
  return (
    <Panel title={t("Password")}>
      <FormFrame form={form} submit={t("Change password")} disabled={!form.isDirty}>
        <div className="field-row">
          <PasswordField
            label={t("Current password")}
            autoComplete="current-password"
            {...form.input("current")}
          />
          <PasswordField
            label={t("New password")}
            autoComplete="new-password"
            description={t("10 characters or more. Signs you out everywhere else.")}
            {...form.input("password")}
          />
        </div>
      </FormFrame>
    </Panel>
  );
}
