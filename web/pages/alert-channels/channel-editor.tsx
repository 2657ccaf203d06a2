/** The form that creates or edits an alert channel, and sends tests. */
import { Switch, TextInput, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { z } from "zod";
import { channelKinds, type ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import { placeholders } from "../../../src/alerting/channels/kinds/kind-schema.ts";
import {
  caseTypes,
  channelFields,
  type NewAlertChannel,
} from "../../../src/alerting/channels/schema.ts";
import { fillExample, type WebhookBodyType } from "../../../src/alerting/channels/webhook-rules.ts";
import type { FieldLabels } from "../../../src/core/kinds.ts";
import {
  type AlertChannel,
  getChannelRoutes,
  useAlertChannels,
} from "../../data/alert-channels.ts";
import { dashboard, unwrapData, addIfMatch, addIdempotencyKey, v1 } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { useOverview } from "../../data/overview.ts";
import { queryClient } from "../../data/query.ts";
import { useSignedInPerson } from "../../data/session.ts";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import { closeDialog } from "../../components/open-dialog.ts";
import { type Form, FormFrame, useForm, useInSight } from "../../components/forms/form.tsx";
import { describeField, untouchedValueOf } from "../../components/forms/field-kinds.ts";
import { SchemaField } from "../../components/forms/schema-field.tsx";
import { listSecretFields, createStoredSecrets } from "../../components/forms/stored-secrets.ts";
import { notifyError } from "../../components/toasts.tsx";
import { useLacksMailServer } from "../settings/data.ts";
import { formatAttachLabel, attachToMonitors } from "./actions.ts";
import { ChannelMark } from "./channel-types.tsx";
import { NotifyOnField, QuietHoursField } from "./routing-fields.tsx";
import { OutcomeLine } from "./test-outcome.tsx";
import { translateServerText } from "../../language/server-text.ts";
import { t } from "../../language/text.ts";

type Values = Record<string, unknown>;
type Body = z.input<typeof NewAlertChannel>;

type Props = {
  type: ChannelType;
  /** Absent for a new channel. */
  channel?: AlertChannel;
  /** Label of the button. */
  submit: string;
  onSaved: (channel: AlertChannel) => void;
  onCancel: () => void;
  onReload?: () => void;
};

/** Texts of a type that depend on the values of its fields. */
const adaptTexts = (type: ChannelType, values: Values) =>
  channelKinds[type].adapt?.(values) ?? { labels: {}, help: undefined };

const listTypeFields = (type: ChannelType) =>
  Object.entries(channelKinds[type].fields)
    .filter(([name]) => name !== "template")
    .map(([name, field]) => ({ name, kind: describeField(field) }));

const switches = [
  {
    name: "enabled",
    label: t("Enabled"),
    hint: t("A disabled channel receives only tests."),
  },
  {
    name: "default",
    label: t("Default"),
    hint: t("Added to every new monitor, and alerted when another channel fails."),
  },
  {
    name: "incidents",
    label: t("Incidents"),
    hint: t("Also alerted when an incident is opened, updated or resolved."),
  },
] as const;

const fieldNames = Object.keys(channelFields);

/** The request body of a new channel. The server validates its values. */
const buildNewChannelBody = (type: ChannelType, values: Values) =>
  ({ type, ...omitEmpty(values) }) as Body;

export const omitEmpty = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ""),
  );

/** Form state, and whether a new channel is attached to all monitors on save. */
function useChannelForm({ type, channel, onSaved, onReload }: Props) {
  const { person } = useSignedInPerson();
  const { data: overview } = useOverview();
  const monitorIds = overview?.monitors.map(({ id }) => id) ?? [];
  // By default, the first channel receives all alerts.
  const isFirst = useAlertChannels().data?.length === 0;
  const [attachesToAll, setAttachesToAll] = useState(isFirst);
  const start: Values = channel
    ? pickFields(channel, [...fieldNames, ...Object.keys(channelKinds[type].fields)])
    : {
        name: channelKinds[type].name,
        enabled: true,
        default: isFirst,
        incidents: true,
        ...(type === "email" && { to: [person.email] }),
      };
  const form = useForm(
    start,
    async (values, force, idempotencyKey) => {
      const saved = await unwrapData(
        channel
          ? getChannelRoutes(channel.id).patch(
              values,
              addIfMatch(force ? undefined : channel, idempotencyKey),
            )
          : v1["alert-channels"].post(
              buildNewChannelBody(type, values),
              addIdempotencyKey(idempotencyKey),
            ),
      );
      queryClient.setQueryData(recordKey("alert-channel", saved.id), saved);
      if (!channel && attachesToAll && monitorIds.length > 0)
        await attachToMonitors(saved, monitorIds).catch(notifyError);
      onSaved(saved);
    },
    onReload,
    {
      key: `alert-channel ${channel?.id ?? type}`,
      secrets: listSecretFields(channelKinds[type].secrets),
    },
  );
  return { form, monitorIds, attachesToAll, setAttachesToAll };
}

/** Sends a test alert with the unsaved values of the form. */
const useTest = ({ type, channel }: Props, form: Form<Values>) =>
  useMutation({
    mutationFn: (values: Values) =>
      unwrapData(
        channel
          ? dashboard["alert-channels"]({ id: channel.id }).try.post(values)
          : dashboard["alert-channels"].try.post(buildNewChannelBody(type, values)),
      ),
    onMutate: form.clearErrors,
    onError: form.fail,
  });

/** The form of an alert channel, with the fields of its type. */
export function ChannelEditor(props: Props) {
  const { type, channel, submit, onCancel } = props;
  const { form, monitorIds, attachesToAll, setAttachesToAll } = useChannelForm(props);
  const test = useTest(props, form);
  const outcome = useInSight<HTMLDivElement>(test.data);
  const { values } = form;
  return (
    <FormFrame
      form={form}
      submit={submit}
      onCancel={onCancel}
      extra={
        <BusyButton loading={test.isPending} onClick={() => test.mutate(values)}>
          {t("Send test")}
        </BusyButton>
      }
      curl={() =>
        channel
          ? { method: "PATCH", route: getChannelRoutes(channel.id), body: omitEmpty(values) }
          : { method: "POST", route: v1["alert-channels"], body: buildNewChannelBody(type, values) }
      }
    >
      <Help type={type} values={values} />
      <TextInput
        label={t("Name")}
        {...(channel && { "data-autofocus": true })}
        {...form.input("name")}
        value={typeof values["name"] === "string" ? values["name"] : ""}
      />
      <TypeFields type={type} channel={channel} form={form} />
      {switches.map(({ name, label, hint }) => (
        <Switch key={name} label={label} description={hint} {...form.toggle(name)} />
      ))}
      <NotifyOnField form={form} />
      {!caseTypes.has(type) && <QuietHoursField form={form} />}
      {!channel && monitorIds.length > 0 && (
        <Switch
          label={formatAttachLabel(monitorIds.length)}
          description={t(
            "Only monitors that exist now. New monitors get the channel if it is a default.",
          )}
          checked={attachesToAll}
          onChange={({ currentTarget }) => setAttachesToAll(currentTarget.checked)}
        />
      )}
      <div role="status" ref={outcome}>
        {test.data !== undefined && (
          <OutcomeLine isGood={test.data.delivered} onClose={test.reset}>
            {translateServerText(test.data.message)}
          </OutcomeLine>
        )}
      </div>
    </FormFrame>
  );
}

/** Explains how to get the address or key of a type, and which setting of the appliance is missing. */
export function Help({ type, values }: { type: ChannelType; values: Values }) {
  const lacksMailServer = useLacksMailServer(type);
  return (
    <p className="channel-help">
      <ChannelMark type={type} />
      <span>
        {adaptTexts(type, values).help ?? channelKinds[type].help}{" "}
        {lacksMailServer && (
          <Link
            className="link"
            to="/settings/$section"
            params={{ section: "mail-server" }}
            onClick={closeDialog}
          >
            {t("Set up the mail server")}
          </Link>
        )}
      </span>
    </p>
  );
}

/** The fields of a channel type. Stored secrets are those of `channel`. */
export function TypeFields({
  type,
  channel,
  form: { values, set, errorOf, clearErrors },
}: {
  type: ChannelType;
  channel: Pick<AlertChannel, "type" | "secretsSet"> | undefined;
  form: Form<Values>;
}) {
  const fields = useMemo(() => listTypeFields(type), [type]);
  const { labels: usual, unused } = channelKinds[type];
  const labels = { ...usual, ...adaptTexts(type, values).labels } as Record<string, FieldLabels>;
  const hidden = new Set(unused?.(values));
  /** Sets a field, and resets those that it hides, which must not be sent. */
  const change = (name: string, value: unknown) => {
    set(name, value);
    const next = new Set(unused?.({ ...values, [name]: value }));
    // Errors of other fields are about the previous choice.
    if (next.symmetricDifference(hidden).size > 0) clearErrors();
    for (const field of fields)
      if (next.has(field.name) && field.name in values)
        set(field.name, untouchedValueOf(field.kind));
  };
  const secrets = createStoredSecrets(channelKinds, type, channel ?? null, values, errorOf);
  const visibleFields = fields.filter(({ name }) => !hidden.has(name));
  return (
    <>
      {visibleFields.map(({ name, kind }, index) => (
        <div key={name} {...(index === 0 && { "data-begins-here": true })}>
          <SchemaField
            name={name}
            kind={kind}
            labels={labels[name]}
            generate={type === "webhook" && name === "secret" ? createSigningSecret : undefined}
            value={name in values ? values[name] : kind.secret ? undefined : kind.initial}
            onChange={(value) => change(name, value)}
            error={errorOf(name)}
            secrets={secrets}
          />
          {type === "webhook" && name === "body" && <WebhookPreview values={values} />}
        </div>
      ))}
      {"template" in channelKinds[type].fields && !hidden.has("template") && (
        <TemplateField
          value={(values["template"] as string | null | undefined) ?? null}
          onChange={(template) => set("template", template)}
          error={errorOf("template")}
        />
      )}
    </>
  );
}

/** The body of a custom webhook with example values. */
function WebhookPreview({ values }: { values: Values }) {
  const { body, bodyType = "json" } = values;
  if (typeof body !== "string" || body === "") return null;
  return (
    <figure className="webhook-preview">
      <figcaption>{t("With the values of an example")}</figcaption>
      <pre>{fillExample(bodyType as WebhookBodyType, body)}</pre>
    </figure>
  );
}

/** Generates a signing secret of 32 random bytes in the format of Standard Webhooks. */
function createSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

export const pickFields = (record: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.filter((name) => name in record).map((name) => [name, record[name]]));

type TemplateProps = {
  value: string | null;
  onChange: (template: string | null) => void;
  error: string | undefined;
};

/** Field for a custom alert text. Placeholders are inserted at the cursor. */
function TemplateField({ value, onChange, error }: TemplateProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const text = value ?? "";

  function insert(name: string) {
    const { selectionStart: from = text.length, selectionEnd: to = text.length } =
      area.current ?? {};
    const put = `{{${name}}}`;
    flushSync(() => onChange(text.slice(0, from) + put + text.slice(to)));
    area.current?.focus();
    area.current?.setSelectionRange(from + put.length, from + put.length);
  }

  return (
    <div>
      <Textarea
        ref={area}
        label={t("Alert text")}
        description={t("For alerts about one monitor. Leave empty for the standard text.")}
        placeholder={t("{{monitor}} is {{status}}: {{message}}")}
        autosize
        minRows={2}
        maxRows={10}
        value={text}
        error={error}
        onChange={({ currentTarget }) => onChange(currentTarget.value || null)}
      />
      <div className="placeholders" role="group" aria-label={t("Insert a placeholder")}>
        {placeholders.map((name) => (
          <button key={name} type="button" onClick={() => insert(name)}>
            {name}
          </button>
        ))}
      </div>
    </div>
  );
}
