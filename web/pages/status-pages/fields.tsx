/** The form fields of a status page: texts, appearance, access and logo. */
import {
  Checkbox,
  ColorInput,
  Input,
  MultiSelect,
  SegmentedControl,
  Select,
  TextInput,
  Button,
  FileButton,
} from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { type PageLanguage, pageLanguages } from "../../../src/core/languages.ts";
import type { Role } from "../../../src/core/roles.ts";
import { roles } from "../../../src/core/statuses.ts";
import type { FieldLabels } from "../../../src/core/kinds.ts";
import { fontType, logoTypes } from "../../../src/status-pages/rules.ts";
import { statusPageFields } from "../../../src/status-pages/schema.ts";
import { ApiError, unwrapData } from "../../data/client.ts";
import { type StatusPage, cacheStatusPage, getPageRoutes } from "../../data/status-pages.ts";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import type { Form } from "../../components/forms/form.tsx";
import { describeField } from "../../components/forms/field-kinds.ts";
import { SchemaField } from "../../components/forms/schema-field.tsx";
import { SecretField } from "../../components/forms/secret-fields.tsx";
import { SlaTargetField } from "../../components/forms/sla-target-field.tsx";
import { listZones } from "../../components/display/time.tsx";
import { notify } from "../../components/toasts.tsx";
import { describeCorrection } from "./color-corrections.ts";
import { isForSignedIn, visibilities } from "./labels.tsx";
import { VisitorProviders } from "./visitor-providers.tsx";
import { t } from "../../language/text.ts";
import { getLocale } from "../../../src/core/text/locale.ts";

export type PageValues = Omit<
  StatusPage,
  "id" | "default" | "logoUrl" | "faviconUrl" | "fontUrl" | "secretsSet" | "createdAt" | "updatedAt"
> & { password: string | null | undefined };

export type PageForm = Form<PageValues>;
type Name = keyof typeof statusPageFields;

const labels: Partial<Record<Name, FieldLabels>> = {
  title: { label: t("Title") },
  description: {
    label: t("Description"),
    hint: t("Shown at the top of the page."),
    markdown: true,
  },
  showLatency: { label: t("Show latency"), hint: t("Next to the uptime of each monitor.") },
  showPaused: {
    label: t("Show paused monitors"),
    hint: t("Otherwise they are omitted while paused."),
  },
  countImpacts: {
    label: t("Count impacts of incidents in the uptime"),
    hint: t("Otherwise only checks count."),
  },
  chatSubscriptions: {
    label: t("Visitors can subscribe chats"),
    hint: t(
      "With a webhook of Slack, Teams or Discord. The channel gets updates once someone follows the link posted there.",
    ),
  },
  historyDays: { label: t("Days of history"), unit: t("days"), hint: t("1 to 365.") },
  allowedAddresses: {
    label: t("Addresses"),
    hint: t(
      "IP addresses and ranges, such as 192.168.0.0/16. Behind a proxy, Signalbox must trust it: see --trust-proxy.",
    ),
  },
  indexing: {
    label: t("Let search engines list the page"),
    hint: t("Otherwise it asks them not to."),
  },
  hosts: {
    label: t("Host names"),
    hint: t(
      "Your own domain names, such as status.acme.example. Save, then see “Addresses and badges” for the DNS records.",
    ),
  },
};

function Field({ form, name }: { form: PageForm; name: Name }) {
  return (
    <SchemaField
      name={name}
      kind={kinds[name]}
      labels={labels[name]}
      value={form.values[name]}
      onChange={(value) => form.set(name, value as never)}
      error={form.errorOf(name)}
    />
  );
}

const kinds = Object.fromEntries(
  Object.entries(statusPageFields).map(([name, field]) => [name, describeField(field)]),
) as Record<Name, ReturnType<typeof describeField>>;

export function BasicFields({ form }: { form: PageForm }) {
  return (
    <div className="form-section">
      <Field form={form} name="title" />
      <TextInput
        label={t("Address")}
        leftSection={<span className="text-s faint">{"/status/"}</span>}
        leftSectionWidth={62}
        {...form.input("slug")}
      />
      <Field form={form} name="description" />
      <SlaTargetField {...form.field("slaTarget")} />
    </div>
  );
}

export const themes = { auto: t("Auto"), light: t("Light"), dark: t("Dark") } as const;

export function AppearanceFields({ form }: { form: PageForm }) {
  const { values, set, errorOf } = form;
  return (
    <>
      <div className="field-row">
        <ColorInput
          label={t("Accent color")}
          placeholder={t("Default")}
          format="hex"
          fixOnBlur={false}
          eyeDropperButtonProps={{ "aria-label": t("Pick a color from the screen") }}
          swatches={swatches}
          swatchesPerRow={8}
          value={values.accentColor ?? ""}
          description={
            values.accentColor === null
              ? undefined
              : describeCorrection(values.look, values.accentColor)
          }
          inputWrapperOrder={["label", "input", "description", "error"]}
          onChange={(color) => set("accentColor", color === "" ? null : color)}
          error={errorOf("accentColor")}
        />
        <Input.Wrapper label={t("Theme")} error={errorOf("theme")} labelElement="div">
          <SegmentedControl
            aria-label={t("Theme")}
            fullWidth
            value={values.theme}
            onChange={(theme) => set("theme", theme as StatusPage["theme"])}
            data={Object.entries(themes).map(([value, label]) => ({ value, label }))}
          />
        </Input.Wrapper>
      </div>
      <div className="field-row">
        <Field form={form} name="historyDays" />
        <Select
          label={t("Time zone")}
          searchable
          data={listZones()}
          value={values.timeZone}
          onChange={(zone) => set("timeZone", zone ?? "UTC")}
          allowDeselect={false}
          error={errorOf("timeZone")}
        />
      </div>
      <LanguageFields form={form} />
      <Field form={form} name="showLatency" />
      <Field form={form} name="showPaused" />
      <Field form={form} name="countImpacts" />
    </>
  );
}

const languageNames = new Intl.DisplayNames(getLocale(), { type: "language" });
export const nameLanguage = (tag: PageLanguage) => languageNames.of(tag) ?? tag;
const languageChoices = pageLanguages.map((value) => ({ value, label: nameLanguage(value) }));

function LanguageFields({ form: { values, set, errorOf } }: { form: PageForm }) {
  return (
    <div className="field-row">
      <Select
        label={t("Language")}
        searchable
        data={languageChoices}
        value={values.language}
        onChange={(language) => set("language", language ?? "en")}
        allowDeselect={false}
        error={errorOf("language")}
      />
      <MultiSelect
        label={t("More languages")}
        description={t("Visitors get the language of their browser, and can switch.")}
        searchable
        clearable
        data={languageChoices.filter(({ value }) => value !== values.language)}
        value={values.languages.filter((one) => one !== values.language)}
        onChange={(languages) => set("languages", languages as PageLanguage[])}
        error={errorOf("languages")}
      />
    </div>
  );
}

export function AccessFields({ form, isPasswordSet }: { form: PageForm; isPasswordSet: boolean }) {
  const { values, set, errorOf } = form;
  return (
    <div className="form-section">
      <Select
        label={t("Visibility")}
        description={visibilities[values.visibility].hint}
        data={Object.entries(visibilities).map(([value, { label }]) => ({ value, label }))}
        value={values.visibility}
        onChange={(next) => set("visibility", (next ?? "public") as StatusPage["visibility"])}
        allowDeselect={false}
        error={errorOf("visibility")}
      />
      {(values.visibility === "password" || isPasswordSet) && (
        <SecretField
          label={t("Password")}
          error={errorOf("password")}
          value={values.password}
          onChange={(password) => set("password", password)}
          isSet={isPasswordSet}
          mayBeNone
        />
      )}
      {values.visibility === "addresses" && <Field form={form} name="allowedAddresses" />}
      {isForSignedIn(values) && (
        <>
          <RolesField form={form} />
          <VisitorProviders
            value={values.visitorProviders}
            onChange={(providers) => set("visitorProviders", providers)}
            error={errorOf("visitorProviders")}
          />
        </>
      )}
      {values.visibility === "public" && <Field form={form} name="indexing" />}
      {(values.visibility === "public" || values.visibility === "password") && (
        <Field form={form} name="chatSubscriptions" />
      )}
      <Field form={form} name="hosts" />
    </div>
  );
}

/** The roles that count as signed in. If none is checked, all count, as in the API. */
function RolesField({ form: { values, set, errorOf } }: { form: PageForm }) {
  const { allowedRoles } = values;
  const isAll = allowedRoles.length === 0;
  const toggle = (role: Role, isChecked: boolean) => {
    const before = isAll ? roles : allowedRoles;
    const next = roles.filter((one) => (one === role ? isChecked : before.includes(one)));
    set("allowedRoles", next.length === roles.length ? [] : next);
  };
  return (
    <Input.Wrapper
      label={t("Who counts as signed in")}
      labelElement="div"
      description={t("Members with these roles.")}
      error={errorOf("allowedRoles")}
    >
      <div className="roles-choice" role="group" aria-label={t("Who counts as signed in")}>
        {roles.map((role) => {
          const isChecked = isAll || allowedRoles.includes(role);
          return (
            <Checkbox
              key={role}
              label={role}
              checked={isChecked}
              // Without any role, the list would stand for all of them.
              disabled={isChecked && allowedRoles.length === 1}
              onChange={({ currentTarget }) => toggle(role, currentTarget.checked)}
            />
          );
        })}
      </div>
    </Input.Wrapper>
  );
}

/**
 * Suggested accent colors, legible on white. The public page adjusts the contrast of other colors.
 */
const swatches = [
  "#2f4fd8",
  "#0e7490",
  "#0f766e",
  "#15803d",
  "#b45309",
  "#c2410c",
  "#be123c",
  "#7e22ce",
];

const files = {
  logo: {
    label: t("Logo"),
    current: t("Current logo"),
    hint: t("PNG, WebP or SVG, at most 256 KiB. Saved immediately."),
    accept: logoTypes,
  },
  favicon: {
    label: t("Favicon"),
    current: t("Current favicon"),
    hint: t(
      "The icon of browser tabs: PNG, WebP or SVG. By default a dot in the color of the state.",
    ),
    accept: logoTypes,
  },
  font: {
    label: t("Own font"),
    current: "",
    hint: t(
      "WOFF2, at most 256 KiB, used instead of the font above. You need the right to publish it.",
    ),
    accept: [fontType, ".woff2"],
  },
} as const;

/** Uploads a file of a page as soon as it is chosen. */
export function FileField({
  name,
  page,
  onChanged,
}: {
  name: keyof typeof files;
  page: StatusPage;
  onChanged: (page: StatusPage) => void;
}) {
  const { id, visibility } = page;
  const url = page[`${name}Url`];
  const { label, current, hint, accept } = files[name];
  const repeatTest = useRef<() => void>(null);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (file: File | null) => {
      const route = getPageRoutes(id)[name];
      return unwrapData(file === null ? route.delete() : route.put(toUpload(file, name)));
    },
    onSuccess: (saved, file) => {
      onChanged(saved);
      cacheStatusPage(saved);
      notify(file === null ? t("{label} removed", { label }) : t("{label} saved", { label }));
    },
    // Reset, so that the same file can be chosen again after a correction.
    onSettled: () => repeatTest.current?.(),
  });
  const [detail] = error instanceof ApiError ? error.details : [];
  const reason = detail ? t("The file {message}.", { message: detail.message }) : error?.message;
  return (
    <Input.Wrapper label={label} labelElement="div" description={hint} error={reason}>
      <div className="logo-field" role="group" aria-label={label}>
        {url !== null && name !== "font" && visibility === "public" && (
          <img src={url} alt={current} />
        )}
        <FileButton
          resetRef={repeatTest}
          accept={accept.join(",")}
          onChange={(file) => file && mutate(file)}
        >
          {(props) => (
            <BusyButton {...props} size="xs" loading={isPending}>
              {url === null ? t("Upload") : t("Replace")}
            </BusyButton>
          )}
        </FileButton>
        {url !== null && (
          <Button size="xs" variant="subtle" disabled={isPending} onClick={() => mutate(null)}>
            {t("Remove")}
          </Button>
        )}
      </div>
    </Input.Wrapper>
  );
}

/** Sets the media type of a font, which not all systems know. */
const toUpload = (file: File, name: keyof typeof files) =>
  name === "font" ? new File([file], file.name, { type: fontType }) : file;
