/** Settings: how the signed-in person is reached when they are paged. */
import { Button, Modal, Select, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import {
  type ContactMethod,
  contactKinds,
  type ContactType,
  contactFields,
  type ContactOutcome,
  type NewContactMethod,
} from "../../../../src/alerting/contact-methods/schema.ts";
import type { z } from "zod";
import { isGatewayType, recipientFields } from "../../../../src/alerting/channels/gateway-rules.ts";
import { formatDuration } from "../../../../src/core/text/formatting.ts";
import { useAlertChannels } from "../../../data/alert-channels.ts";
import { unwrapData, v1, addIdempotencyKey, addIfMatch } from "../../../data/client.ts";
import { listKey } from "../../../data/keys.ts";
import { createDataQuery, queryClient } from "../../../data/query.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { Confirm } from "../../../components/confirm.tsx";
import { Time } from "../../../components/display/time.tsx";
import { FormDialog, FormFrame, useForm } from "../../../components/forms/form.tsx";
import { listSecretFields } from "../../../components/forms/stored-secrets.ts";
import { DangerItem, MenuItem, RowMenu } from "../../../components/menus.tsx";
import { CreateButton, EmptyState, Loaded, Panel } from "../../../components/page.tsx";
import { Icon } from "../../../components/display/icons.tsx";
import { notify, notifyError } from "../../../components/toasts.tsx";
import { Help, omitEmpty, pickFields, TypeFields } from "../../alert-channels/channel-editor.tsx";
import { ChannelMark } from "../../alert-channels/channel-types.tsx";
import { describeQuietHours, QuietHoursField } from "../../alert-channels/routing-fields.tsx";
import { endUnusedSubscription } from "../../../data/push-subscription.ts";
import { useCreateDialog } from "../create-dialog.ts";
import { Entry } from "../entry.tsx";
import { isThisBrowser, ThisBrowserButton } from "./this-browser.tsx";
import { translateServerText } from "../../../language/server-text.ts";
import { t } from "../../../language/text.ts";

const route = v1["contact-methods"];
const contactsQuery = createDataQuery(listKey("contact-method"), (options) =>
  route.get({ query: {}, ...options }),
);
const refreshContactMethods = () =>
  queryClient.invalidateQueries({ queryKey: listKey("contact-method") });

type Open = { step: "edit" | "verify" | "delete"; method: ContactMethod; sent?: ContactOutcome };

/** The person's own contact methods, in the order of their use. */
export default function ContactMethods() {
  const query = useQuery(contactsQuery);
  const { asked, open: create, close } = useCreateDialog();
  const [open, setOpen] = useState<Open | null>(null);
  const show = (step: Open["step"], method: ContactMethod) => {
    // Lists have no ETags, which the update needs.
    if (step !== "edit") return setOpen({ step, method });
    void unwrapData(route({ id: method.id }).get()).then(
      (read) => setOpen({ step, method: read }),
      notifyError,
    );
  };
  const hide = () => setOpen(null);
  return (
    <>
      <div className="settings-head">
        <p className="quiet">
          {t("How escalation policies reach you. Only verified ones are used.")}
        </p>
        <div className="flex flex-wrap gap-8">
          {query.isSuccess && (
            <ThisBrowserButton
              methods={query.data}
              onEnabled={({ method, sent }) => {
                setOpen({ step: "verify", method, sent });
                void refreshContactMethods();
              }}
            />
          )}
          <CreateButton onClick={create}>{t("Add contact method")}</CreateButton>
        </div>
      </div>
      <Loaded query={query} subject={t("Your contact methods")}>
        {(methods) =>
          methods.length === 0 ? (
            <NoMethods />
          ) : (
            <Panel isFlush>
              <ul className="entries" aria-label={t("Contact methods")}>
                {methods.map((method) => (
                  <MethodEntry key={method.id} method={method} onOpen={show} />
                ))}
              </ul>
            </Panel>
          )
        }
      </Loaded>
      {asked && (
        <CreateDialog
          onClose={close}
          onCreated={(method) => {
            close();
            show("verify", method);
          }}
        />
      )}
      {open !== null && <OpenDialog {...open} onClose={hide} onOpen={show} />}
    </>
  );
}

/** The dialog that is open for a contact method. */
function OpenDialog({
  step,
  method,
  sent,
  onClose,
  onOpen,
}: Open & { onClose: () => void; onOpen: (step: Open["step"], method: ContactMethod) => void }) {
  if (step === "verify") return <VerifyDialog method={method} sent={sent} onClose={onClose} />;
  if (step === "edit")
    return (
      <EditDialog
        method={method}
        onClose={onClose}
        onSaved={(saved) => {
          onClose();
          if (saved.verifiedAt === null) onOpen("verify", saved);
        }}
      />
    );
  return (
    <Confirm
      title={t("Delete {name}?", { name: method.name })}
      verb={t("Delete")}
      onClose={onClose}
      onConfirm={async () => {
        await unwrapData(route({ id: method.id }).delete(undefined, addIfMatch(method)));
        if (isThisBrowser(method)) await endUnusedSubscription(method["publicKey"] as string);
        await refreshContactMethods();
      }}
    >
      {t("You are no longer reached through it. It can't be restored.")}
    </Confirm>
  );
}

const NoMethods = () => (
  <Panel>
    <EmptyState icon={<Icon name="phone" size={28} />} title={t("No one can page you yet")}>
      {t("Add this browser, a push service or your mail address, and verify it.")}
    </EmptyState>
  </Panel>
);

const describeMinutes = (minutes: number | null) => {
  if (minutes === null) return t("Never");
  return minutes === 0
    ? t("At once")
    : t("After {duration}", { duration: formatDuration(minutes * 60) });
};

function describeState({ verifiedAt, enabled, lastError }: ContactMethod) {
  if (verifiedAt === null) return t("Not verified");
  if (!enabled) return t("Disabled");
  if (lastError !== null) return t("Failing");
  return t("Verified");
}

function MethodState({ method }: { method: ContactMethod }) {
  const { verifiedAt, lastError } = method;
  const words = describeState(method);
  if (lastError !== null) return `${words}: ${translateServerText(lastError)}`;
  if (verifiedAt === null) return words;
  return (
    <>
      {words} <Time at={verifiedAt} />
    </>
  );
}

/** Sends a test alert, and reports its outcome. */
const useMethodTest = (id: string, name: string) =>
  useMutation({
    mutationFn: () => unwrapData(route({ id }).test.post()),
    onSuccess: ({ status, error }) => {
      if (status === "delivered") notify(t("The test to {name} arrived.", { name }));
      else
        notifyError(
          new Error(error === null ? t("The test did not arrive.") : translateServerText(error)),
        );
      void refreshContactMethods();
    },
    onError: notifyError,
  });

/** When the method is used, with labels. */
const listFacts = ({
  afterMinutes,
  criticalAfterMinutes,
  quietHours,
}: ContactMethod): [string, string][] => [
  [t("Page"), describeMinutes(afterMinutes)],
  [t("Critical"), describeMinutes(criticalAfterMinutes)],
  ...(quietHours === null
    ? []
    : [[t("Quiet"), describeQuietHours(quietHours)] as [string, string]]),
];

function MethodEntry({
  method,
  onOpen,
}: {
  method: ContactMethod;
  onOpen: (step: Open["step"], method: ContactMethod) => void;
}) {
  const { id, name, type, verifiedAt } = method;
  const test = useMethodTest(id, name);
  return (
    <Entry
      mark={<ChannelMark type={type} />}
      title={
        <>
          {name}
          {isThisBrowser(method) && <span className="up"> {t("(this one)")}</span>}
        </>
      }
      note={<MethodState method={method} />}
      facts={listFacts(method)}
      action={
        verifiedAt === null ? (
          <Button size="xs" onClick={() => onOpen("verify", method)}>
            {t("Verify")}
          </Button>
        ) : null
      }
      menu={
        <RowMenu label={t("Actions for {name}", { name })}>
          {() => (
            <>
              <MenuItem icon="bell" onClick={() => test.mutate()}>
                {t("Send test")}
              </MenuItem>
              <MenuItem icon="check" onClick={() => onOpen("verify", method)}>
                {t("Verify")}
              </MenuItem>
              <MenuItem icon="edit" onClick={() => onOpen("edit", method)}>
                {t("Edit")}
              </MenuItem>
              <DangerItem icon="trash" onClick={() => onOpen("delete", method)}>
                {t("Delete")}
              </DangerItem>
            </>
          )}
        </RowMenu>
      }
    />
  );
}

type Values = Record<string, unknown>;
type Body = z.input<typeof NewContactMethod>;
/** Types whose fields a person enters. A browser creates its own. */
type EnteredType = Exclude<ContactType, "webpush">;
const types = Object.entries(contactKinds)
  .filter(([type]) => type !== "webpush")
  .map(([value, { name }]) => ({ value, label: name }));
const commonFields = Object.keys(contactFields);

/** Minutes until a method is used. An empty choice means never. */
const minuteChoices = [
  { value: "", label: t("Never") },
  ...[0, 1, 2, 3, 5, 10, 15, 20, 30, 45, 60].map((minutes) => ({
    value: String(minutes),
    label: describeMinutes(minutes),
  })),
];

/** Alert channels whose gateway a contact method of this type can use. */
const useGateways = (type: ContactType) =>
  useAlertChannels().data?.filter((one) => isGatewayType(type) && one.type === type) ?? [];

function useContactForm(
  type: ContactType,
  method: ContactMethod | null,
  onSaved: (saved: ContactMethod) => void,
  onReload?: () => void,
) {
  const { person } = useSignedInPerson();
  const [gateway] = useGateways(type);
  const start: Values =
    method === null
      ? {
          name: contactKinds[type].name,
          enabled: true,
          afterMinutes: 0,
          criticalAfterMinutes: 0,
          ...(type === "email" && { to: [person.email] }),
          ...(gateway !== undefined && { gatewayId: gateway.id }),
        }
      : pickFields(method, [
          ...commonFields,
          ...(type === "webpush" ? [] : Object.keys(contactKinds[type].fields)),
        ]);
  return useForm(
    start,
    async (values, force, idempotencyKey) => {
      const saved = await unwrapData(
        method === null
          ? route.post({ type, ...omitEmpty(values) } as Body, addIdempotencyKey(idempotencyKey))
          : route({ id: method.id }).patch(
              values,
              addIfMatch(force ? undefined : method, idempotencyKey),
            ),
      );
      await refreshContactMethods();
      onSaved(saved);
    },
    onReload,
    {
      key: `contact-method ${method?.id ?? type}`,
      secrets: listSecretFields(contactKinds[type].secrets),
    },
  );
}

function Fields({
  type,
  method,
  form,
}: {
  type: ContactType;
  method: ContactMethod | null;
  form: ReturnType<typeof useContactForm>;
}) {
  const { values, set, errorOf } = form;
  const renderMinutes = (
    name: "afterMinutes" | "criticalAfterMinutes",
    label: string,
    hint: string,
  ) => (
    <Select
      label={label}
      description={hint}
      data={listMinutes(values[name])}
      allowDeselect={false}
      value={typeof values[name] === "number" ? `${values[name]}` : ""}
      onChange={(next) => set(name, next === "" ? null : Number(next))}
      error={errorOf(name)}
    />
  );
  return (
    <>
      {type !== "webpush" && <Help type={type} values={values} />}
      <TextInput
        label={t("Name")}
        {...form.input("name")}
        value={typeof values["name"] === "string" ? values["name"] : ""}
      />
      <GatewayField type={type} form={form} />
      {type !== "webpush" && <TypeFields type={type} channel={method ?? undefined} form={form} />}
      {renderMinutes("afterMinutes", t("Use"), t("From the time at which you are paged."))}
      {renderMinutes(
        "criticalAfterMinutes",
        t("Use for critical alerts"),
        t("Of monitors and incidents that are critical."),
      )}
      <QuietHoursField form={form} />
      <Switch label={t("Enabled")} {...form.toggle("enabled")} />
    </>
  );
}

/** Chooses the alert channel whose gateway sends the messages, or an own gateway. */
function GatewayField({
  type,
  form: { values, set, errorOf },
}: {
  type: ContactType;
  form: ReturnType<typeof useContactForm>;
}) {
  const gateways = useGateways(type);
  const { gatewayId } = values;
  if (gateways.length === 0) return null;
  return (
    <Select
      label={t("Send through")}
      description={t("With the gateway of an alert channel, you only need your number.")}
      data={[
        ...gateways.map(({ id, name }) => ({ value: id, label: name })),
        { value: "", label: t("My own gateway") },
      ]}
      allowDeselect={false}
      value={typeof gatewayId === "string" ? gatewayId : ""}
      error={errorOf("gatewayId")}
      onChange={(next) => {
        set("gatewayId", next === "" ? null : next);
        // The server resets fields without effect.
        for (const name of Object.keys(contactKinds[type].fields))
          if (!recipientFields.includes(name)) set(name, undefined);
      }}
    />
  );
}

/** Adds the stored value, which a script can have set to any minute. */
const listMinutes = (stored: unknown) =>
  typeof stored !== "number" || minuteChoices.some(({ value }) => value === String(stored))
    ? minuteChoices
    : [...minuteChoices, { value: String(stored), label: describeMinutes(stored) }];

function CreateDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (method: ContactMethod) => void;
}) {
  const [type, setType] = useState<EnteredType>("email");
  // A new method starts with the gateway of a channel, if there is one.
  const { isLoading } = useAlertChannels();
  return (
    <Modal opened onClose={onClose} title={t("Add contact method")} size={560}>
      <Select
        label={t("Type")}
        data={types}
        value={type}
        allowDeselect={false}
        data-autofocus
        mb="md"
        onChange={(next) => setType((next ?? "email") as EnteredType)}
      />
      {!isLoading && (
        <NewMethodForm key={type} type={type} onClose={onClose} onCreated={onCreated} />
      )}
    </Modal>
  );
}

function NewMethodForm({
  type,
  onClose,
  onCreated,
}: {
  type: ContactType;
  onClose: () => void;
  onCreated: (method: ContactMethod) => void;
}) {
  const form = useContactForm(type, null, onCreated);
  return (
    <FormFrame
      form={form}
      submit={t("Add and verify")}
      onCancel={onClose}
      curl={() => ({ method: "POST", route, body: { type, ...omitEmpty(form.values) } as Body })}
    >
      <Fields type={type} method={null} form={form} />
    </FormFrame>
  );
}

function EditDialog({
  method,
  onClose,
  onSaved,
}: {
  method: ContactMethod;
  onClose: () => void;
  onSaved: (saved: ContactMethod) => void;
}) {
  const type = method.type as ContactType;
  const form = useContactForm(type, method, onSaved, () => {
    void refreshContactMethods();
    onClose();
  });
  return (
    <FormDialog
      title={t("Edit {name}", { name: method.name })}
      size={560}
      onClose={onClose}
      form={form}
      submit={t("Save")}
      curl={() => ({
        method: "PATCH",
        route: route({ id: method.id }),
        body: omitEmpty(form.values),
      })}
    >
      <Fields type={type} method={method} form={form} />
    </FormDialog>
  );
}

/** Calls `onVerified` once the method is verified: here, or by the browser that received the code. */
function useVerification({ id, verifiedAt }: ContactMethod, onVerified: () => void) {
  const current = useQuery(contactsQuery).data?.find((one) => one.id === id);
  const isVerified = current !== undefined && current.verifiedAt !== verifiedAt;
  useEffect(() => {
    if (isVerified) onVerified();
  }, [isVerified]);
}

function describeSending({ type }: ContactMethod, sent: ContactOutcome | undefined): string {
  if (sent === undefined)
    return t(
      "Send a code through this contact method, and enter it here. It is valid for 15 minutes.",
    );
  if (!sent.delivered)
    return t("The code did not arrive. {message}", {
      message: translateServerText(sent.message),
    });
  return type === "webpush"
    ? t("A code was sent. The browser enters it when the notification arrives.")
    : t("A code was sent. It is valid for 15 minutes.");
}

/** Sends a code when the person asks for it, and verifies the method with the code. A browser verifies itself. */
function VerifyDialog({
  method,
  sent: first,
  onClose,
}: {
  method: ContactMethod;
  sent: ContactOutcome | undefined;
  onClose: () => void;
}) {
  const { id, name } = method;
  const sending = useMutation({
    mutationFn: () => unwrapData(route({ id }).code.post()),
    onError: notifyError,
  });
  const form = useForm(
    { code: "" },
    async ({ code }) => {
      await unwrapData(route({ id }).verify.post({ code: code.trim() }));
      await refreshContactMethods();
    },
    undefined,
  );
  const { data: sent = first } = sending;
  useVerification(method, () => {
    notify(t("{name} is verified.", { name }));
    onClose();
  });
  return (
    <Modal opened onClose={onClose} title={t("Verify {name}", { name })} size={460}>
      <FormFrame
        form={form}
        submit={t("Verify")}
        onCancel={onClose}
        disabled={form.values.code.trim() === ""}
        extra={
          <Button variant="default" loading={sending.isPending} onClick={() => sending.mutate()}>
            {sent === undefined ? t("Send code") : t("Send another code")}
          </Button>
        }
      >
        <p className="quiet" role="status">
          {describeSending(method, sent)}
        </p>
        <TextInput
          label={t("Code")}
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={6}
          data-autofocus
          {...form.input("code")}
        />
      </FormFrame>
    </Modal>
  );
}
