/** Dialog that sends the reports of a subject by mail, each week or month. */
import { Alert, TagsInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Settings } from "../../../src/accounts/settings/schema.ts";
import { FormDialog, useForm } from "../../components/forms/form.tsx";
import { parsePercent, toPercent } from "../../components/forms/percent.ts";
import { notify } from "../../components/toasts.tsx";
import { unwrapData, v1, withIfMatch } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";
import { createSettingsQuery } from "../settings/data.ts";

type Subject = { groupId?: string | undefined; statusPageId?: string | undefined };
type Props = { organizationId: string; subject: Subject; onClose: () => void };

export default function ReportMails({ organizationId, ...props }: Props) {
  const { data: settings, refetch } = useQuery(createSettingsQuery(organizationId));
  return settings === undefined ? null : (
    <Fields
      key={settings.updatedAt}
      settings={settings}
      onTheirs={() => void refetch()}
      onSaved={(saved) =>
        queryClient.setQueryData(createSettingsQuery(organizationId).queryKey, saved)
      }
      {...props}
    />
  );
}

type FieldsProps = Omit<Props, "organizationId"> & {
  settings: Settings;
  onTheirs: () => void;
  onSaved: (saved: Settings) => void;
};

const intervals = ["weekly", "monthly"] as const;

function useReportForm({ settings, subject, onTheirs, onSaved, onClose }: FieldsProps) {
  const { groupId = null, statusPageId = null } = subject;
  const isOwn = (mail: Settings["reportMails"][number]) =>
    mail.groupId === groupId && mail.statusPageId === statusPageId;
  const own = settings.reportMails.filter(isOwn);
  const listRecipients = (interval: (typeof intervals)[number]) =>
    own.find((mail) => mail.interval === interval)?.to ?? [];
  const target = own[0]?.slaTarget ?? null;
  return useForm(
    {
      weekly: listRecipients("weekly"),
      monthly: listRecipients("monthly"),
      target: target === null ? "" : String(toPercent(target)),
    },
    async (values, force, once) => {
      const slaTarget = values.target.trim() === "" ? null : parsePercent(values.target);
      const mails = intervals.flatMap((interval) =>
        values[interval].length === 0
          ? []
          : [{ interval, groupId, statusPageId, slaTarget, to: values[interval] }],
      );
      const others = settings.reportMails.filter((mail) => !isOwn(mail));
      const body = { reportMails: [...others, ...mails] };
      onSaved(
        await unwrapData(v1.settings.patch(body, withIfMatch(force ? undefined : settings, once))),
      );
      notify("Saved");
      onClose();
    },
    onTheirs,
    { key: "report-mails" },
  );
}

function Fields(props: FieldsProps) {
  const { settings, onClose } = props;
  const form = useReportForm(props);
  const { values, set } = form;
  return (
    <FormDialog title="Send this report by mail" onClose={onClose} form={form} submit="Save">
      {settings.smtp === null ? (
        <Alert color="yellow" variant="light">
          Set up the mail server in Settings first. Without it, no report is sent.
        </Alert>
      ) : (
        <p className="quiet">Sent once the week or month is over. People need no account.</p>
      )}
      <TagsInput
        label="Each week to"
        description="From Monday to Sunday. Press Enter after each address."
        value={values.weekly}
        onChange={(to) => set("weekly", to)}
      />
      <TagsInput
        label="Each month to"
        value={values.monthly}
        onChange={(to) => set("monthly", to)}
      />
      <TextInput
        label="Uptime target in percent"
        placeholder="99.9"
        description="Leave it empty for the target of the organization."
        {...form.input("target")}
      />
    </FormDialog>
  );
}
