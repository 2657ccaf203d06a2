/** Settings: API keys, with their scope, expiry and last use. */
import { Button, Checkbox, Select, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiKey, CreatedApiKey } from "../../../../src/accounts/api-keys/schema.ts";
import {
  dashboard,
  unwrapData,
  addIdempotencyKey,
  buildApiPath,
  v1,
} from "../../../data/client.ts";
import { Confirm } from "../../../components/confirm.tsx";
import { copyText, ShownOnce } from "../../../components/copy.tsx";
import { ChoiceField, FormDialog, useForm } from "../../../components/forms/form.tsx";
import { Icon } from "../../../components/display/icons.tsx";
import { DangerItem, HistoryItem, MenuItem, RowMenu } from "../../../components/menus.tsx";
import { CreateButton, Loaded, EmptyState, Panel } from "../../../components/page.tsx";
import { Time, useNow } from "../../../components/display/time.tsx";
import { notify } from "../../../components/toasts.tsx";
import { apiKeysQuery, peopleQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import type { Form } from "../../../components/forms/use-form.ts";
import { GroupsField, toGroupLimit, useGroupFact } from "./groups-field.tsx";
import { useCreateDialog } from "../create-dialog.ts";
import { t, tNode } from "../../../language/text.ts";

export default function ApiKeys() {
  const query = useQuery(apiKeysQuery);
  const { asked, open, close } = useCreateDialog();
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const [limiting, setLimiting] = useState<ApiKey | null>(null);
  return (
    <>
      <div className="settings-head">
        <p className="quiet">
          {tNode("Scripts send a key as {header}. The {reference} shows what they can do.", {
            header: <code>Authorization: Bearer KEY</code>,
            reference: (
              <a className="link" href="/docs" target="_blank" rel="noreferrer">
                {t("API reference")}
              </a>
            ),
          })}
        </p>
        <CreateButton onClick={open}>{t("Create API key")}</CreateButton>
      </div>
      <Loaded query={query} subject={t("The API keys")}>
        {(keys) =>
          keys.length === 0 ? (
            <Panel>
              <EmptyState
                icon={<Icon name="key" size={28} />}
                title={t("No API keys yet")}
                action={<Button onClick={open}>{t("Create API key")}</Button>}
              >
                {t(
                  "Create one key for each script, such as a deploy job that opens incidents or a dashboard that reads uptime. Then you can revoke one without affecting the others.",
                )}
              </EmptyState>
            </Panel>
          ) : (
            <Panel isFlush>
              <ul className="entries">
                {keys.toSorted(compareByUse).map((key) => (
                  <KeyRow
                    key={key.id}
                    apiKey={key}
                    onRevoke={() => setRevoking(key)}
                    onLimit={() => setLimiting(key)}
                  />
                ))}
              </ul>
            </Panel>
          )
        }
      </Loaded>
      {asked && <NewApiKey onClose={close} />}
      {limiting !== null && <GroupsOfKey apiKey={limiting} onClose={() => setLimiting(null)} />}
      {revoking !== null && <RevokeKey apiKey={revoking} onClose={() => setRevoking(null)} />}
    </>
  );
}

function RevokeKey({ apiKey: { id, name }, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  return (
    <Confirm
      title={t("Revoke {name}?", { name })}
      verb={t("Revoke")}
      onClose={onClose}
      onConfirm={async () => {
        await unwrapData(dashboard["api-keys"]({ id }).revoke.post());
        notify(t("Revoked {name}", { name }));
      }}
    >
      {t("Requests with this key are rejected within a second. This cannot be undone.")}
    </Confirm>
  );
}

const isUnusable = (key: ApiKey, now: number) =>
  key.revokedAt !== null || (key.expiresAt !== null && new Date(key.expiresAt).getTime() <= now);

/** Sorts usable keys before expired and revoked ones, then the newest first. */
function compareByUse(one: ApiKey, other: ApiKey): number {
  const now = Date.now();
  return (
    Number(isUnusable(one, now)) - Number(isUnusable(other, now)) ||
    other.createdAt.localeCompare(one.createdAt)
  );
}

/** When the key was created, and by whom, unless it was on the command line. */
function Creation({ apiKey: { createdById, createdAt } }: { apiKey: ApiKey }) {
  const creator = useQuery(peopleQuery).data?.find(({ id }) => id === createdById);
  const time = <Time at={createdAt} />;
  return creator === undefined
    ? tNode("created {time}", { time })
    : tNode("created by {name} {time}", { name: creator.name, time });
}

const accessTexts = { write: t("read, write"), read: t("read"), ping: t("pings") };

function KeyRow({
  apiKey,
  onRevoke,
  onLimit,
}: {
  apiKey: ApiKey;
  onRevoke: () => void;
  onLimit: () => void;
}) {
  const { id, name, scope, mcp, groupIds, expiresAt, revokedAt, lastUsedAt } = apiKey;
  const isOver = isUnusable(apiKey, useNow());
  return (
    <Entry
      icon="key"
      isOver={isOver}
      title={name}
      note={<Creation apiKey={apiKey} />}
      facts={[
        [t("Access"), accessTexts[scope] + (mcp ? ", MCP" : "")],
        ...useGroupFact(groupIds),
        [
          t("Expires"),
          revokedAt !== null ? (
            t("revoked")
          ) : expiresAt === null ? (
            t("never")
          ) : isOver ? (
            t("expired")
          ) : (
            <Time at={expiresAt} as="until" />
          ),
        ],
        [t("Last used"), lastUsedAt === null ? t("never") : <Time at={lastUsedAt} />],
      ]}
      menu={
        <RowMenu label={t("Actions for {name}", { name })}>
          {() => (
            <>
              {revokedAt === null && scope !== "ping" && (
                <MenuItem icon="folder" onClick={onLimit}>
                  {t("Change groups")}
                </MenuItem>
              )}
              <HistoryItem id={id} />
              {revokedAt === null && (
                <DangerItem icon="close" onClick={onRevoke}>
                  {t("Revoke")}
                </DangerItem>
              )}
            </>
          )}
        </RowMenu>
      }
    />
  );
}

function GroupsOfKey({
  apiKey: { id, name, groupIds },
  onClose,
}: {
  apiKey: ApiKey;
  onClose: () => void;
}) {
  const form = useForm({ groupIds: groupIds ?? [] }, async (values) => {
    const body = { groupIds: toGroupLimit(values.groupIds) };
    await unwrapData(dashboard["api-keys"]({ id }).patch(body));
    notify(t("Saved the groups of {name}", { name }));
    onClose();
  });
  const { values, set, errorOf } = form;
  return (
    <FormDialog
      title={t("Groups of {name}", { name })}
      onClose={onClose}
      form={form}
      submit={t("Save groups")}
    >
      <GroupsField
        who={t("The key")}
        value={values.groupIds}
        onChange={(chosen) => set("groupIds", chosen)}
        error={errorOf("groupIds")}
      />
    </FormDialog>
  );
}

const lifetimeOptions = [
  { value: "30", label: t("In 30 days") },
  { value: "90", label: t("In 90 days") },
  { value: "365", label: t("In a year") },
  { value: "never", label: t("Never") },
];

const initialValues = {
  name: "",
  scope: "write" as ApiKey["scope"],
  mcp: false,
  groupIds: [] as string[],
  life: "365",
};
type KeyValues = typeof initialValues;

function NewApiKey({ onClose }: { onClose: () => void }) {
  const [createdKey, setCreatedKey] = useState<CreatedApiKey | null>(null);
  const form = useForm(
    initialValues,
    async ({ name, scope, mcp, groupIds, life }, _, idempotencyKey) => {
      const expiresInDays = life === "never" ? null : Number(life);
      const body = {
        name,
        scope,
        mcp: mcp && scope !== "ping",
        groupIds: scope === "ping" ? null : toGroupLimit(groupIds),
        expiresInDays,
      };
      setCreatedKey(
        await unwrapData(dashboard["api-keys"].post(body, addIdempotencyKey(idempotencyKey))),
      );
    },
    undefined,
    { key: "api-key" },
  );
  const { values, set, errorOf } = form;
  if (createdKey !== null) return <CreatedKey created={createdKey} onClose={onClose} />;
  return (
    <FormDialog
      title={t("Create API key")}
      onClose={onClose}
      form={form}
      submit={t("Create API key")}
    >
      <TextInput
        label={t("Name")}
        placeholder={t("Deploy job")}
        description={t(
          "The script or service that uses the key. It stops working when you revoke the key.",
        )}
        data-autofocus
        {...form.input("name")}
      />
      <ChoiceField
        label={t("Access")}
        options={{ write: t("Read and write"), read: t("Read only"), ping: t("Pings only") }}
        {...form.field("scope")}
      />
      <RightsOfKey form={form} />
      <Select
        label={t("Expires")}
        data={lifetimeOptions}
        value={values.life}
        onChange={(life) => set("life", life ?? "never")}
        error={errorOf("expiresInDays")}
        allowDeselect={false}
      />
    </FormDialog>
  );
}

/** Access to MCP and the groups of a key, unless it only pings. */
function RightsOfKey({ form: { values, set, errorOf } }: { form: Form<KeyValues> }) {
  if (values.scope === "ping")
    return (
      <Text size="sm" c="dimmed">
        {t(
          "Jobs report to push monitors with a slug: /ping/KEY/SLUG. The key can’t read or change anything, except create a push monitor with ?create=1.",
        )}
      </Text>
    );
  return (
    <>
      <Checkbox
        label={t("Allow MCP")}
        description={t(
          "AI assistants, such as Claude or VS Code, can use the key at /mcp. With read access they see only tools that read.",
        )}
        checked={values.mcp}
        onChange={({ currentTarget }) => set("mcp", currentTarget.checked)}
      />
      <GroupsField
        who={t("The key")}
        value={values.groupIds}
        onChange={(groupIds) => set("groupIds", groupIds)}
        error={errorOf("groupIds")}
      />
    </>
  );
}

function CreatedKey({
  created: { name, key, scope, mcp },
  onClose,
}: {
  created: CreatedApiKey;
  onClose: () => void;
}) {
  const header = `"Authorization: Bearer ${key}"`;
  const example =
    scope === "ping"
      ? `curl -m 10 --retry 5 "${location.origin}/ping/${key}/my-job?create=1"`
      : mcp
        ? `claude mcp add --transport http signalbox ${location.origin}/mcp --header ${header}`
        : `curl ${location.origin}${buildApiPath(v1.monitors)} -H ${header}`;
  return (
    <ShownOnce
      title={t("API key {name}", { name })}
      label={t("API key")}
      text={key}
      onClose={onClose}
      extra={
        <Button
          variant="subtle"
          color="gray"
          leftSection={<Icon name="terminal" size={15} />}
          onClick={() => void copyText(example, t("Example"))}
        >
          {t("Copy example command")}
        </Button>
      }
    >
      {t(
        "Copy the key now: it is shown only once. Anyone who has it can act for this organization.",
      )}
    </ShownOnce>
  );
}
