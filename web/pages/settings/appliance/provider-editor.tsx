/** The dialog that adds or changes a sign-in provider, and tests it. */
import { Alert, Checkbox, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  callbackPath,
  type PresetName,
  presetNames,
  presets,
} from "../../../../src/accounts/identity-providers/preset-rules.ts";
import type {
  GroupRole,
  IdentityProvider,
  ProviderOrganization,
} from "../../../../src/accounts/identity-providers/schema.ts";
import type { ProviderFinding } from "../../../../src/accounts/single-sign-on/schema.ts";
import type { Role } from "../../../../src/core/roles.ts";
import { roles } from "../../../../src/core/statuses.ts";
import { capitalize } from "../../../../src/core/text/formatting.ts";
import { CopyLine } from "../../../components/copy.tsx";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { type Form, FoldedSection, FormDialog, useForm } from "../../../components/forms/form.tsx";
import { LinesField } from "../../../components/forms/lines-field.tsx";
import { SecretField } from "../../../components/forms/secret-fields.tsx";
import { notify } from "../../../components/toasts.tsx";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { identityProvidersQuery, invalidateQuery, organizationsQuery } from "../data.ts";
import { roleNames } from "../../../components/display/role-names.ts";
import { t } from "../../../language/text.ts";

type Fields = {
  preset: PresetName;
  name: string;
  enabled: boolean;
  issuer: string;
  clientId: string;
  clientSecret: string | null | undefined;
  scopes: string;
  groupsClaim: string;
  trustsEmail: boolean;
  isDirect: boolean;
  allowedDomains: string[];
  certificateAuthorities: string;
  organizations: ProviderOrganization[];
};

const emptyFields: Fields = {
  preset: "keycloak",
  name: presets.keycloak.label,
  enabled: true,
  issuer: "",
  clientId: "",
  clientSecret: undefined,
  scopes: presets.keycloak.scopes,
  groupsClaim: presets.keycloak.groupsClaim,
  trustsEmail: false,
  isDirect: false,
  allowedDomains: [],
  certificateAuthorities: "",
  organizations: [],
};

const toFields = ({ certificateAuthorities, ...provider }: IdentityProvider): Fields => ({
  ...emptyFields,
  ...Object.fromEntries(
    Object.keys(emptyFields).flatMap((name) =>
      name in provider ? [[name, provider[name as keyof typeof provider]]] : [],
    ),
  ),
  clientSecret: undefined,
  certificateAuthorities: certificateAuthorities ?? "",
});

const toBody = ({ certificateAuthorities, clientSecret, ...values }: Fields) => ({
  ...values,
  ...(clientSecret !== undefined && { clientSecret }),
  certificateAuthorities: certificateAuthorities.trim() === "" ? null : certificateAuthorities,
});

export function ProviderEditor({
  provider,
  onClose,
}: {
  /** Null for a new provider. */
  provider: IdentityProvider | null;
  onClose: () => void;
}) {
  const form = useForm(
    provider === null ? emptyFields : toFields(provider),
    async (values) => {
      const body = toBody(values);
      await unwrapData(
        provider === null
          ? dashboard["identity-providers"].post(body)
          : dashboard["identity-providers"]({ id: provider.id }).patch(body),
      );
      await invalidateQuery(identityProvidersQuery);
      notify(t("Saved"));
      onClose();
    },
    undefined,
    { key: `identity-provider ${provider?.id ?? "new"}`, secrets: ["clientSecret"] },
  );
  const test = useProviderTest(form);
  const isProxy = form.values.preset === "proxy";
  return (
    <FormDialog
      title={
        provider === null ? t("Add sign-in provider") : t("Edit {name}", { name: provider.name })
      }
      size={720}
      onClose={onClose}
      form={form}
      submit={t("Save")}
      extra={
        !isProxy && (
          <BusyButton loading={test.isBusy} onClick={() => void test.run()}>
            {t("Test")}
          </BusyButton>
        )
      }
    >
      <PresetFields form={form} />
      <Instructions preset={form.values.preset} />
      {!isProxy && <ClientFields form={form} provider={provider} />}
      <OrganizationFields form={form} />
      <FurtherFields form={form} />
      <Findings findings={test.findings} />
    </FormDialog>
  );
}

type Part = { form: Form<Fields> };

const presetOptions = presetNames.map((value) => ({ value, label: presets[value].label }));

function PresetFields({ form }: Part) {
  const { values, set } = form;
  /** Fills in the values of the preset. A typed name remains. */
  function choose(preset: PresetName) {
    const [before, after] = [presets[values.preset], presets[preset]];
    if (values.name === "" || values.name === before.label)
      set("name", preset === "other" ? "" : after.label);
    if (preset === "proxy") set("clientId", "proxy");
    else if (values.preset === "proxy") set("clientId", "");
    if (after.isFixed === true) set("issuer", after.issuer);
    else if (before.isFixed === true) set("issuer", "");
    set("scopes", after.scopes);
    set("groupsClaim", after.groupsClaim);
    set("preset", preset);
  }
  return (
    <div className="field-row">
      <Select
        label={t("Provider")}
        data={presetOptions}
        allowDeselect={false}
        value={values.preset}
        onChange={(preset) => preset !== null && choose(preset as PresetName)}
      />
      <TextInput
        label={t("Name")}
        description={
          values.preset === "proxy"
            ? t("In lists and the audit log.")
            : t("On the button of the sign-in page.")
        }
        {...form.input("name")}
      />
    </div>
  );
}

/** The steps at the provider, and the address to enter there. */
const Instructions = ({ preset }: { preset: PresetName }) => (
  <div className="provider-steps">
    {preset !== "proxy" && (
      <CopyLine label={t("Redirect address")} text={`${location.origin}${callbackPath}`} />
    )}
    <ol>
      {presets[preset].steps.map((step) => (
        <li key={step}>{step}</li>
      ))}
    </ol>
  </div>
);

function ClientFields({ form, provider }: Part & { provider: IdentityProvider | null }) {
  const { values, set, errorOf } = form;
  const isSet = provider?.secretsSet.includes("clientSecret") ?? false;
  return (
    <>
      <TextInput
        label={t("Issuer")}
        placeholder={presets[values.preset].issuer}
        data-autofocus
        {...form.input("issuer")}
      />
      <div className="field-row">
        <TextInput label={t("Client ID")} autoComplete="off" {...form.input("clientId")} />
        <SecretField
          label={t("Client secret")}
          isSet={isSet}
          needsReentry={isSet && values.issuer !== provider?.issuer}
          mayBeNone
          value={values.clientSecret}
          onChange={(secret) => set("clientSecret", secret)}
          error={errorOf("clientSecret")}
        />
      </div>
    </>
  );
}

const roleOptions = roles.map((role) => ({ value: role, label: capitalize(roleNames[role]) }));

/** The organizations that the provider opens, with the roles of people there. */
function OrganizationFields({ form }: Part) {
  const { data = [] } = useQuery(organizationsQuery);
  const { organizations: opened } = form.values;
  const change = (id: string, next: ProviderOrganization | null) => {
    const others = opened.filter(({ organizationId }) => organizationId !== id);
    form.set("organizations", next === null ? others : [...others, next]);
  };
  return (
    <fieldset className="provider-organizations">
      <legend>{t("Organizations")}</legend>
      {data.map(({ id, name }) => {
        const index = opened.findIndex(({ organizationId }) => organizationId === id);
        const one = opened[index];
        return (
          <div key={id}>
            <Checkbox
              label={name}
              checked={one !== undefined}
              onChange={({ currentTarget: { checked } }) =>
                change(
                  id,
                  checked ? { organizationId: id, defaultRole: null, groupRoles: [] } : null,
                )
              }
            />
            {one !== undefined && (
              <RoleFields
                name={name}
                opened={one}
                errorOf={(path) => form.errorOf(`organizations[${index}].${path}`)}
                onChange={(next) => form.set("organizations", opened.with(index, next))}
              />
            )}
          </div>
        );
      })}
    </fieldset>
  );
}

function RoleFields({
  name,
  opened,
  errorOf,
  onChange,
}: {
  name: string;
  opened: ProviderOrganization;
  errorOf: (path: string) => string | undefined;
  onChange: (next: ProviderOrganization) => void;
}) {
  const { defaultRole, groupRoles } = opened;
  return (
    <div className="provider-roles">
      <Select
        label={t("Add people at their first sign-in")}
        description={
          groupRoles.length > 0
            ? t("Applies to people without a group of the list.")
            : t("Otherwise only people who are here already can sign in.")
        }
        data={[
          { value: "none", label: t("No") },
          ...roles.map((role) => ({
            value: role,
            label: t("As {role}", { role: roleNames[role] }),
          })),
        ]}
        allowDeselect={false}
        value={defaultRole ?? "none"}
        onChange={(role) =>
          onChange({ ...opened, defaultRole: role === "none" ? null : (role as Role) })
        }
        error={errorOf("defaultRole")}
      />
      <GroupFields
        name={name}
        groupRoles={groupRoles}
        errorOf={errorOf}
        onChange={(next) => onChange({ ...opened, groupRoles: next })}
      />
    </div>
  );
}

const GroupFields = ({
  name,
  groupRoles,
  errorOf,
  onChange,
}: {
  name: string;
  groupRoles: readonly GroupRole[];
  errorOf: (path: string) => string | undefined;
  onChange: (next: GroupRole[]) => void;
}) => (
  <LinesField
    label={t("Roles by group in {name}", { name })}
    hint={t(
      "The highest role of a person’s groups counts, at each sign-in. It ends with the group.",
    )}
    error={errorOf("groupRoles")}
    item={t("group")}
    lines={groupRoles}
    onAdd={() => onChange([...groupRoles, { group: "", role: "member" }])}
    onRemove={(index) => onChange(groupRoles.toSpliced(index, 1))}
  >
    {({ group, role }, index) => (
      <>
        <TextInput
          aria-label={t("Group")}
          placeholder="signalbox-admins"
          value={group}
          onChange={({ currentTarget }) =>
            onChange(groupRoles.with(index, { group: currentTarget.value, role }))
          }
          error={errorOf(`groupRoles[${index}].group`)}
        />
        <Select
          aria-label={t("Role")}
          data={roleOptions}
          allowDeselect={false}
          value={role}
          onChange={(next) =>
            next !== null && onChange(groupRoles.with(index, { group, role: next as Role }))
          }
        />
      </>
    )}
  </LinesField>
);

/** Settings that a trusted header does not need. */
const ProtocolFields = ({ form }: Part) => (
  <>
    <div className="field-row">
      <TextInput label={t("Scopes")} {...form.input("scopes")} />
      <TextInput
        label={t("Claim with the groups")}
        description={t("Dots lead into objects, such as realm_access.roles.")}
        {...form.input("groupsClaim")}
      />
    </div>
    <Textarea
      label={t("Certificate authority")}
      description={t("For a provider with a private certificate authority, in PEM.")}
      autosize
      minRows={2}
      maxRows={6}
      {...form.input("certificateAuthorities")}
    />
    <Switch
      label={t("Sign in here directly")}
      description={t(
        "Sends people to this provider at once if it is the only one. The page /sign-in?password still shows the form.",
      )}
      {...form.toggle("isDirect")}
    />
  </>
);

function FurtherFields({ form }: Part) {
  const { values, errorOf } = form;
  const { unverified } = presets[values.preset];
  const isProxy = values.preset === "proxy";
  const names = ["scopes", "groupsClaim", "allowedDomains", "certificateAuthorities"];
  return (
    <>
      {!isProxy && (
        <Switch
          label={t("Trust the addresses of this provider")}
          description={
            unverified === null
              ? t(
                  "Turn it on only if the provider does not assert that addresses are verified, and people can't change their address there.",
                )
              : `${unverified} ${t("Trust them if people can't change their address there.")}`
          }
          {...form.toggle("trustsEmail")}
        />
      )}
      <FoldedSection
        title={t("Further settings")}
        summary={
          isProxy ? t("domains, on or off") : t("scopes, groups, domains, certificate authority")
        }
        open={values.certificateAuthorities !== "" || values.allowedDomains.length > 0}
        invalid={names.some((name) => errorOf(name) !== undefined)}
      >
        <div className="form">
          <TagsInput
            label={t("Allowed domains")}
            description={t(
              "Only people with a verified address of these domains can sign in. Leave empty for all.",
            )}
            placeholder={values.allowedDomains.length === 0 ? "team.example" : ""}
            {...form.field("allowedDomains")}
            error={errorOf("allowedDomains") ?? errorOf("allowedDomains[0]")}
          />
          {!isProxy && <ProtocolFields form={form} />}
          <Switch
            label={t("Turned on")}
            description={t(
              "Turn it off to hide the provider, reject its sign-ins and end its sessions, including yours.",
            )}
            {...form.toggle("enabled")}
          />
        </div>
      </FoldedSection>
    </>
  );
}

/** Tests the values of the form. They need not be saved, and the secret is not sent. */
function useProviderTest({ values, fail }: Form<Fields>) {
  const [findings, setFindings] = useState<ProviderFinding[] | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  async function run() {
    setFindings(null);
    setIsBusy(true);
    try {
      const { issuer, scopes, certificateAuthorities } = toBody(values);
      const body = { issuer, scopes, certificateAuthorities };
      setFindings(await unwrapData(dashboard["identity-providers"].test.post(body)));
    } catch (error) {
      fail(error);
    }
    setIsBusy(false);
  }
  return { findings, isBusy, run };
}

/** Colors and words of the levels. The words also reach people who see no colors. */
const levels = {
  ok: { color: "green", word: "OK" },
  warning: { color: "orange", word: t("Warning") },
  error: { color: "red", word: t("Error") },
} as const;

const Findings = ({ findings }: { findings: ProviderFinding[] | null }) => (
  <div aria-live="polite" className="provider-findings">
    {findings?.map(({ level, text }) => (
      <Alert key={text} color={levels[level].color} variant="light">
        <b>{levels[level].word}:</b> {text}
      </Alert>
    ))}
  </div>
);
