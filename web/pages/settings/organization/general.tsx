/** Settings: name, time zone and SLA target of the organization, how its alerts are joined, and password sign-in. */
import { Select, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { OrganizationRecord } from "../../../../src/accounts/organizations/schema.ts";
import { dashboard, unwrapData, addIfMatch } from "../../../data/client.ts";
import { queryClient } from "../../../data/query.ts";
import { type Session, useSignedInPerson } from "../../../data/session.ts";
import { FormFrame, useForm } from "../../../components/forms/form.tsx";
import { parsePercent, toPercent } from "../../../components/forms/percent.ts";
import { Loaded, Panel } from "../../../components/page.tsx";
import { formatAbsolute, useNow, listZones } from "../../../components/display/time.tsx";
import { notify, notifyError } from "../../../components/toasts.tsx";
import { createOrganizationQuery, createSettingsQuery, passwordPolicyQuery } from "../data.ts";
import { FactList } from "../entry.tsx";
import { type SettingsFormProps, useSettingsForm } from "./settings-form.ts";
import { t } from "../../../language/text.ts";

/** Shows the new name in the navigation before the live stream reports it. */
const cacheName = ({ id, name }: OrganizationRecord) =>
  queryClient.setQueryData<Session>(
    ["session"],
    (session) =>
      session && {
        ...session,
        organizations: session.organizations.map((one) => (one.id === id ? { ...one, name } : one)),
      },
  );

export default function Organization() {
  const { organization, atLeast } = useSignedInPerson();
  const query = useQuery(createOrganizationQuery(organization.id));
  const [opened, setOpened] = useState(0);
  return (
    <Loaded query={query} subject={t("The organization")}>
      {(record) =>
        atLeast("admin") ? (
          <>
            <Panel>
              <Fields
                key={opened}
                record={record}
                onReload={() => void query.refetch().then(() => setOpened(opened + 1))}
              />
            </Panel>
            <AlertSettings organizationId={organization.id} />
            {atLeast("owner") && <PasswordSignIn />}
          </>
        ) : (
          <Panel>
            <FactList
              facts={[
                [t("Name"), record.name],
                [t("Time zone"), record.timeZone],
                [
                  t("SLA target"),
                  record.slaTarget === null ? t("None") : `${toPercent(record.slaTarget)}\u202f%`,
                ],
              ]}
            />
          </Panel>
        )
      }
    </Loaded>
  );
}

function Fields({ record, onReload }: { record: OrganizationRecord; onReload: () => void }) {
  // The record that the form started from. A later change by another person is a conflict.
  const [known, setKnown] = useState(record);
  const { name, timeZone } = record;
  const slaTarget = record.slaTarget === null ? "" : String(toPercent(record.slaTarget));
  const form = useForm(
    { name, timeZone, slaTarget },
    async ({ slaTarget, ...values }, force, idempotencyKey) => {
      const share = slaTarget.trim() === "" ? null : parsePercent(slaTarget);
      const saved = await unwrapData(
        dashboard.organization.patch(
          { ...values, slaTarget: share },
          addIfMatch(force ? undefined : known, idempotencyKey),
        ),
      );
      setKnown(saved);
      queryClient.setQueryData(createOrganizationQuery(saved.id).queryKey, saved);
      cacheName(saved);
      notify(t("Saved"));
    },
    onReload,
    { key: "organization" },
  );
  const { values, set, errorOf } = form;
  return (
    <FormFrame form={form} submit={t("Save")} disabled={!form.isDirty}>
      <TextInput
        label={t("Name")}
        {...form.input("name")}
        description={t("In commands and configuration files, its short name stays {slug}.", {
          slug: record.slug,
        })}
      />
      <Select
        label={t("Time zone")}
        description={<NowIn zone={values.timeZone} />}
        data={listZones(values.timeZone)}
        searchable
        limit={100}
        maxDropdownHeight={280}
        nothingFoundMessage={t("No time zones found")}
        value={values.timeZone}
        onChange={(zone) => zone !== null && set("timeZone", zone)}
        error={errorOf("timeZone")}
        allowDeselect={false}
      />
      <TextInput
        label={t("SLA target in percent")}
        description={t(
          "The uptime that reports compare with, such as 99.9. Leave it empty for no target.",
        )}
        inputMode="decimal"
        {...form.input("slaTarget")}
      />
    </FormFrame>
  );
}

/** Whether members sign in by password. Shown only with a sign-in provider. */
function PasswordSignIn() {
  const query = useQuery(passwordPolicyQuery);
  const change = useMutation({
    mutationFn: async (passwordSignIn: boolean) => {
      const saved = await unwrapData(dashboard["password-policy"].patch({ passwordSignIn }));
      queryClient.setQueryData(passwordPolicyQuery.queryKey, saved);
    },
    onSuccess: () => notify(t("Saved")),
    onError: notifyError,
  });
  const policy = query.data;
  if (policy === undefined || (!policy.hasProvider && policy.passwordSignIn)) return null;
  const { passwordSignIn, hasProvider, isThroughProvider } = policy;
  return (
    <Panel title={t("Sign-in")}>
      <Switch
        label={t("Password sign-in")}
        description={
          hasProvider
            ? isThroughProvider || !passwordSignIn
              ? t(
                  "Turn it off to accept only sign-in providers and passkeys. Sessions that were started by password then end.",
                )
              : t(
                  "To turn it off, sign in through a sign-in provider of this organization first. That proves that you get in without a password.",
                )
            : t(
                "Off, but passwords are accepted, because the organization has no sign-in provider that is turned on.",
              )
        }
        checked={passwordSignIn}
        disabled={passwordSignIn && !isThroughProvider}
        onChange={({ currentTarget }) => change.mutate(currentTarget.checked)}
      />
    </Panel>
  );
}

const NowIn = ({ zone }: { zone: string }) => (
  <>
    {t("All times are shown in this time zone. Now: {now}", {
      now: formatAbsolute(useNow(), zone),
    })}
  </>
);

function AlertSettings({ organizationId }: { organizationId: string }) {
  const query = useQuery(createSettingsQuery(organizationId));
  const [opened, setOpened] = useState(0);
  return (
    <Loaded query={query} subject={t("The settings of alerts")}>
      {(settings) => (
        <Panel title={t("Alerts")}>
          <AlertFields
            key={opened}
            settings={settings}
            organizationId={organizationId}
            onReload={() => void query.refetch().then(() => setOpened(opened + 1))}
          />
        </Panel>
      )}
    </Loaded>
  );
}

function AlertFields(props: SettingsFormProps) {
  const { oneAlertPerCause } = props.settings;
  const form = useSettingsForm(props, { oneAlertPerCause }, (body) => body, {
    key: "alert-settings",
  });
  const { values, set } = form;
  return (
    <FormFrame form={form} submit={t("Save")} disabled={!form.isDirty}>
      <Switch
        label={t("One alert per cause")}
        description={t(
          "Monitors that go down within a minute because of the same host, address, name server or certificate are one alert. The first is sent at once, and one update names the others.",
        )}
        checked={values.oneAlertPerCause}
        onChange={(event) => set("oneAlertPerCause", event.currentTarget.checked)}
      />
    </FormFrame>
  );
}
