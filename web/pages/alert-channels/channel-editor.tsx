import { Switch, TextInput, Textarea } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { z } from "zod";
import {
  channelKinds,
  type ChannelType,
  placeholders,
} from "../../../src/alerting/channels/kinds-schema.ts";
import { channelFields, type NewAlertChannel } from "../../../src/alerting/channels/schema.ts";
import type { FieldLabels } from "../../../src/core/kinds.ts";
import { type AlertChannel, channelRoutes, useAlertChannels } from "../../data/alert-channels.ts";
import { dashboard, dataOf, ifMatch, onceUnder, v1 } from "../../data/client.ts";
import { recordKey } from "../../data/keys.ts";
import { useOverview } from "../../data/overview.ts";
import { queryClient } from "../../data/query.ts";
import { useSignedIn } from "../../data/session.ts";
import { BusyButton } from "../../components/forms/busy-button.tsx";
import { closeDialog } from "../../components/open-dialog.ts";
import { FormFrame, useForm, useInSight } from "../../components/forms/form.tsx";
import { kindOf } from "../../components/forms/field-kinds.ts";
import { SchemaField } from "../../components/forms/schema-field.tsx";
import { fieldsWith, storedSecrets } from "../../components/forms/stored-secrets.ts";
import { notifyError } from "../../components/toasts.tsx";
import { useLacksMailServer } from "../settings/data.ts";
import { allMonitors, attachToMonitors } from "./actions.ts";
import { ChannelMark } from "./channel-types.tsx";
import { OutcomeLine } from "./test-outcome.tsx";

type Values = Record<string, unknown>;
type Body = z.input<typeof NewAlertChannel>;

type Props = {
  type: ChannelType;
  /** The one that is changed; absent for a new one. */
  channel?: AlertChannel;
  /** The verb on the button. */
  submit: string;
  onSaved: (channel: AlertChannel) => void;
  onCancel: () => void;
  onTheirs?: () => void;
};

const fieldsOf = (type: ChannelType) =>
  Object.entries(channelKinds[type].fields)
    .filter(([name]) => name !== "template")
    .map(([name, field]) => ({ name, kind: kindOf(field) }));

const switches = [
  {
    name: "enabled",
    label: "Enabled",
    hint: "A disabled channel receives only tests.",
  },
  {
    name: "default",
    label: "Default",
    hint: "Added to every new monitor, and alerted when another channel fails.",
  },
  {
    name: "incidents",
    label: "Incidents",
    hint: "Also alerted when an incident is opened, updated or resolved.",
  },
] as const;

const names = Object.keys(channelFields);

/** The fields of a channel of this type, as its schema describes them. */
export function ChannelEditor({ type, channel, submit, onSaved, onCancel, onTheirs }: Props) {
  const { name: typeName, help, labels } = channelKinds[type];
  const fields = useMemo(() => fieldsOf(type), [type]);
  const lacksMailServer = useLacksMailServer(type);
  const takesTemplate = "template" in channelKinds[type].fields;
  const { person } = useSignedIn();
  const { data: overview } = useOverview();
  const monitorIds = overview?.monitors.map(({ id }) => id) ?? [];
  // The first channel is told of everything, unless somebody chooses otherwise.
  const isFirst = useAlertChannels().data?.length === 0;
  const [attachesToAll, setAttachesToAll] = useState(isFirst);
  const start: Values = channel
    ? pick(channel, [...names, ...Object.keys(channelKinds[type].fields)])
    : {
        name: typeName,
        enabled: true,
        default: isFirst,
        incidents: true,
        ...(type === "email" && { to: [person.email] }),
      };
  // The form is made of the schema's fields, and the server judges what stands in them.
  const bodyOf = (values: Values) =>
    ({
      ...(!channel && { type }),
      ...Object.fromEntries(
        Object.entries(values).filter(([, value]) => value !== undefined && value !== ""),
      ),
    }) as Body;
  const form = useForm(
    start,
    async (values, force, once) => {
      const saved = await dataOf(
        channel
          ? channelRoutes(channel.id).patch(values, ifMatch(force ? undefined : channel, once))
          : v1["alert-channels"].post(bodyOf(values), onceUnder(once)),
      );
      queryClient.setQueryData(recordKey("alert-channel", saved.id), saved);
      if (!channel && attachesToAll && monitorIds.length > 0)
        await attachToMonitors(saved, monitorIds).catch(notifyError);
      onSaved(saved);
    },
    onTheirs,
    {
      key: `alert-channel ${channel?.id ?? type}`,
      secrets: fieldsWith(channelKinds[type].secrets),
    },
  );
  const trying = useMutation({
    mutationFn: (values: Values) =>
      dataOf(
        channel
          ? dashboard["alert-channels"]({ id: channel.id }).try.post(values)
          : dashboard["alert-channels"].try.post(bodyOf(values)),
      ),
    onMutate: form.clearErrors,
    onError: form.fail,
  });
  const outcome = useInSight<HTMLDivElement>(trying.data);
  const { values, set, errorOf } = form;
  const secrets = storedSecrets(channelKinds, type, channel ?? null, values, errorOf);
  return (
    <FormFrame
      form={form}
      submit={submit}
      onCancel={onCancel}
      extra={
        <BusyButton loading={trying.isPending} onClick={() => trying.mutate(form.values)}>
          Send test
        </BusyButton>
      }
      curl={() => ({
        ...(channel
          ? { method: "PATCH", route: channelRoutes(channel.id) }
          : { method: "POST", route: v1["alert-channels"] }),
        body: bodyOf(values),
      })}
    >
      <p className="channel-help">
        <ChannelMark type={type} />
        <span>
          {help}{" "}
          {lacksMailServer && (
            <Link
              className="link"
              to="/settings/$section"
              params={{ section: "mail-server" }}
              onClick={closeDialog}
            >
              Set up the mail server
            </Link>
          )}
        </span>
      </p>
      <TextInput
        label="Name"
        {...(channel && { "data-autofocus": true })}
        value={typeof values["name"] === "string" ? values["name"] : ""}
        onChange={({ currentTarget }) => set("name", currentTarget.value)}
        error={errorOf("name")}
      />
      {fields.map(({ name, kind }, index) => (
        <div key={name} {...(index === 0 && { "data-begins-here": true })}>
          <SchemaField
            name={name}
            kind={kind}
            labels={(labels as Record<string, FieldLabels>)[name]}
            generate={type === "webhook" && name === "secret" ? newSigningSecret : undefined}
            value={name in values ? values[name] : kind.secret ? undefined : kind.initial}
            onChange={(value) => set(name, value)}
            error={errorOf(name)}
            secrets={secrets}
          />
        </div>
      ))}
      {takesTemplate && (
        <TemplateField
          value={(values["template"] as string | null | undefined) ?? null}
          onChange={(template) => set("template", template)}
          error={errorOf("template")}
        />
      )}
      {switches.map(({ name, label, hint }) => (
        <Switch
          key={name}
          label={label}
          description={hint}
          checked={values[name] === true}
          onChange={({ currentTarget }) => set(name, currentTarget.checked)}
          error={errorOf(name)}
        />
      ))}
      {!channel && monitorIds.length > 0 && (
        <Switch
          label={`Attach to ${allMonitors(monitorIds.length)}`}
          description="Those that exist now. New monitors get the channel if it is a default."
          checked={attachesToAll}
          onChange={({ currentTarget }) => setAttachesToAll(currentTarget.checked)}
        />
      )}
      <div role="status" ref={outcome}>
        {trying.data !== undefined && (
          <OutcomeLine isGood={trying.data.delivered} onClose={trying.reset}>
            {trying.data.message}
          </OutcomeLine>
        )}
      </div>
    </FormFrame>
  );
}

/** 32 random bytes, as Standard Webhooks writes them. */
function newSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

const pick = (record: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.filter((name) => name in record).map((name) => [name, record[name]]));

type TemplateProps = {
  value: string | null;
  onChange: (template: string | null) => void;
  error: string | undefined;
};

/** The text of alerts in one's own words; placeholders are put in where the cursor stands. */
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
        label="Alert text"
        description="For alerts about one monitor. Leave empty for the standard text."
        placeholder="{{monitor}} is {{status}}: {{message}}"
        autosize
        minRows={2}
        maxRows={10}
        value={text}
        error={error}
        onChange={({ currentTarget }) => onChange(currentTarget.value || null)}
      />
      <div className="placeholders" role="group" aria-label="Insert a placeholder">
        {placeholders.map((name) => (
          <button key={name} type="button" onClick={() => insert(name)}>
            {name}
          </button>
        ))}
      </div>
    </div>
  );
}
