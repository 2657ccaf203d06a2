/** Dialog that sends the reports of a subject by mail, each week or month. */
import { Alert, Autocomplete, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Settings } from "../../../src/accounts/settings/schema.ts";
import { type PageLanguage, pageLanguages } from "../../../src/core/languages.ts";
import { FormDialog, useForm } from "../../components/forms/form.tsx";
import { LinesField } from "../../components/forms/lines-field.tsx";
import { MailActions } from "./mail-actions.tsx";
import { parsePercent, toPercent } from "../../components/forms/percent.ts";
import { notify } from "../../components/toasts.tsx";
import { unwrapData, v1, addIfMatch } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";
import { createSettingsQuery, peopleQuery } from "../settings/data.ts";
import { t } from "../../language/text.ts";
import { getLocale } from "../../../src/core/text/locale.ts";

type Subject = { groupId?: string | undefined; statusPageId?: string | undefined };
type Props = { organizationId: string; subject: Subject; onClose: () => void };
type Person = { id: string; name: string; email: string };
type ReportMail = Settings["reportMails"][number];

export default function ReportMails(props: Props) {
  const { organizationId } = props;
  const { data: settings, refetch } = useQuery(createSettingsQuery(organizationId));
  const { data: people } = useQuery(peopleQuery);
  return settings === undefined || people === undefined ? null : (
    <Fields
      key={settings.updatedAt}
      settings={settings}
      people={people}
      onReload={() => void refetch()}
      onSaved={(saved) =>
        queryClient.setQueryData(createSettingsQuery(organizationId).queryKey, saved)
      }
      {...props}
    />
  );
}

type FieldsProps = Props & {
  settings: Settings;
  people: readonly Person[];
  onReload: () => void;
  onSaved: (saved: Settings) => void;
};

const intervals = ["weekly", "monthly"] as const;
const frequencies = {
  weekly: { label: t("Each week"), intervals: ["weekly"] },
  monthly: { label: t("Each month"), intervals: ["monthly"] },
  both: { label: t("Each week and month"), intervals },
} as const;
type Frequency = keyof typeof frequencies;

/** A line of the form. `address` is an address, or the label of a person. */
type Recipient = { address: string; language: string; frequency: Frequency };

const labelOf = ({ name, email }: Person) => `${name} <${email}>`;

/** Joins the recipients of the weekly and the monthly report. People who left the organization are left out. */
function listRecipients(mails: readonly ReportMail[], people: readonly Person[]): Recipient[] {
  const found = new Map<string, Recipient>();
  for (const { interval, to } of mails)
    for (const { email, personId, language } of to) {
      const person = people.find(({ id }) => id === personId);
      const address = email ?? (person && labelOf(person));
      if (address === undefined) continue;
      const key = `${address} ${language}`;
      const frequency = found.has(key) ? "both" : interval;
      found.set(key, { address, language: language ?? "", frequency });
    }
  return [...found.values()];
}

function toReportRecipient(
  { address, language }: Recipient,
  people: readonly Person[],
): ReportMail["to"][number] {
  const person = people.find((one) => labelOf(one) === address.trim());
  return {
    email: person === undefined ? address.trim() : null,
    personId: person?.id ?? null,
    language: language === "" ? null : (language as PageLanguage),
  };
}

function listOwnMails({ reportMails }: Settings, subject: Subject): ReportMail[] {
  const { groupId = null, statusPageId = null } = subject;
  return reportMails.filter(
    (mail) => mail.groupId === groupId && mail.statusPageId === statusPageId,
  );
}

const emptyRecipient: Recipient = { address: "", language: "", frequency: "monthly" };

function useReportForm({ settings, people, subject, onReload, onSaved, onClose }: FieldsProps) {
  const { groupId = null, statusPageId = null } = subject;
  const ownMails = listOwnMails(settings, subject);
  const target = ownMails[0]?.slaTarget ?? null;
  const recipients = listRecipients(ownMails, people);
  return useForm(
    {
      recipients: recipients.length === 0 ? [emptyRecipient] : recipients,
      target: target === null ? "" : String(toPercent(target)),
      maintenance: ownMails[0]?.maintenance ?? "excluded",
    },
    async (values, force, idempotencyKey) => {
      const { maintenance } = values;
      const slaTarget = values.target.trim() === "" ? null : parsePercent(values.target);
      const chosen = values.recipients.filter(({ address }) => address.trim() !== "");
      const mails = intervals.flatMap((interval) => {
        const to = chosen
          .filter(({ frequency }) =>
            (frequencies[frequency].intervals as readonly string[]).includes(interval),
          )
          .map((one) => toReportRecipient(one, people));
        return to.length === 0
          ? []
          : [{ interval, groupId, statusPageId, slaTarget, maintenance, to }];
      });
      const others = settings.reportMails.filter((mail) => !ownMails.includes(mail));
      const body = { reportMails: [...others, ...mails] };
      onSaved(
        await unwrapData(
          v1.settings.patch(body, addIfMatch(force ? undefined : settings, idempotencyKey)),
        ),
      );
      notify(t("Saved"));
      onClose();
    },
    onReload,
    { key: `report-mails ${groupId ?? statusPageId ?? ""}` },
  );
}

function Fields(props: FieldsProps) {
  const { settings, people, subject, onClose } = props;
  const form = useReportForm(props);
  const { values, set } = form;
  return (
    <FormDialog
      title={t("Send this report by mail")}
      onClose={onClose}
      form={form}
      submit={t("Save")}
      size={680}
    >
      {settings.smtp === null ? (
        <Alert color="yellow" variant="light">
          {t("Set up the mail server in Settings first. Without it, no report is sent.")}
        </Alert>
      ) : (
        <p className="quiet">
          {t(
            "Sent once the week (Monday to Sunday) or month is over. Owners of addresses need no account.",
          )}
        </p>
      )}
      <LinesField
        label={t("Recipients")}
        hint={undefined}
        error={form.errorOf("reportMails")}
        item="recipient"
        lines={values.recipients}
        onAdd={() => set("recipients", [...values.recipients, emptyRecipient])}
        onRemove={(index) => set("recipients", values.recipients.toSpliced(index, 1))}
      >
        {(recipient, index) => (
          <RecipientFields
            number={index + 1}
            recipient={recipient}
            people={people}
            isOfPage={subject.statusPageId !== undefined}
            onChange={(change) =>
              set("recipients", values.recipients.with(index, { ...recipient, ...change }))
            }
          />
        )}
      </LinesField>
      <TermFields form={form} />
      {settings.smtp !== null && !form.isDirty && (
        <MailActions
          organizationId={props.organizationId}
          mails={listOwnMails(settings, subject)}
          onSent={onClose}
        />
      )}
    </FormDialog>
  );
}

function TermFields({ form }: { form: ReturnType<typeof useReportForm> }) {
  return (
    <div className="field-row">
      <TextInput
        label={t("Uptime target in percent")}
        placeholder="99.9"
        description={t("Leave it empty for the target of the group, the page or the organization.")}
        {...form.input("target")}
      />
      <Select
        label={t("Time in maintenance")}
        description={t("Whether it lowers the uptime.")}
        allowDeselect={false}
        data={maintenanceChoices}
        {...form.field("maintenance")}
        onChange={(choice) => form.set("maintenance", choice === "down" ? "down" : "excluded")}
      />
    </div>
  );
}

const maintenanceChoices = [
  { value: "excluded", label: t("Is not counted") },
  { value: "down", label: t("Counts as down time") },
];

const languageNames = new Intl.DisplayNames(getLocale(), { type: "language" });
const frequencyChoices = Object.entries(frequencies).map(([value, { label }]) => ({
  value,
  label,
}));

function RecipientFields({
  number,
  recipient: { address, language, frequency },
  people,
  isOfPage,
  onChange,
}: {
  number: number;
  recipient: Recipient;
  people: readonly Person[];
  isOfPage: boolean;
  onChange: (change: Partial<Recipient>) => void;
}) {
  const languages = [
    { value: "", label: isOfPage ? t("Language of the page") : t("English") },
    ...pageLanguages
      .filter((tag) => isOfPage || tag !== "en")
      .map((value) => ({ value, label: languageNames.of(value) ?? value })),
  ];
  return (
    <>
      <Autocomplete
        aria-label={t("Address or person {number}", { number })}
        className="report-recipient"
        placeholder={t("Address or person")}
        data={people.map(labelOf)}
        limit={20}
        openOnFocus={false}
        value={address}
        onChange={(next) => onChange({ address: next })}
      />
      <Select
        aria-label={t("Language {number}", { number })}
        className="report-language"
        allowDeselect={false}
        data={languages}
        value={!isOfPage && language === "en" ? "" : language}
        onChange={(next) => onChange({ language: next ?? "" })}
      />
      <Select
        aria-label={t("How often {number}", { number })}
        className="report-often"
        allowDeselect={false}
        data={frequencyChoices}
        value={frequency}
        onChange={(next) => onChange({ frequency: (next ?? "monthly") as Frequency })}
      />
    </>
  );
}
