/** The subscribers of a status page: list, filters, export and adding one. */
import { maxSearchLength } from "../../data/search-limit.ts";
import { ImportSubscribers } from "./subscriber-import.tsx";
import { formatCsvRow } from "../../../src/core/text/formatting.ts";
import { Button, SegmentedControl, Switch, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type ReactNode, useState } from "react";
import { unwrapData, addIdempotencyKey } from "../../data/client.ts";
import {
  type StatusPage,
  type Subscriber,
  useSubscribers,
  getPageRoutes,
} from "../../data/status-pages.ts";
import { dot } from "../../components/display/format.ts";
import { downloadFile } from "../../components/copy.tsx";
import { FoldedSection, type Form, FormDialog, useForm } from "../../components/forms/form.tsx";
import { Icon } from "../../components/display/icons.tsx";
import { EmptyState, Panel } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { SecretField } from "../../components/forms/secret-fields.tsx";
import { StateIcon } from "../../components/display/state-icon.tsx";
import { Time } from "../../components/display/time.tsx";
import { DangerItem, HistoryItem, MenuItem, RowMenu } from "../../components/menus.tsx";
import { holdDeletion, useDeleting } from "../../components/deletion.ts";
import { notifyError, notify } from "../../components/toasts.tsx";
import {
  buildChoice,
  ChoiceFields,
  type ChoiceValues,
  describeChoice,
  EditSubscriber,
  defaultChoice,
  summarizeChoice,
} from "./subscriber-choice.tsx";
import { translateServerText } from "../../language/server-text.ts";
import { t, tNode } from "../../language/text.ts";

type Filters = { q: string; type: Subscriber["type"] | ""; status: Subscriber["status"] | "" };
const noFilters: Filters = { q: "", type: "", status: "" };

const types: { value: Subscriber["type"]; label: string }[] = [
  { value: "email", label: t("E-mail") },
  { value: "webhook", label: "Webhook" },
  { value: "slack", label: "Slack" },
  { value: "teams", label: "Teams" },
  { value: "discord", label: "Discord" },
];

/** The subscribers of a status page, with filters, export and a dialog that adds one. */
export function Subscribers({ page, mayWrite }: { page: StatusPage; mayWrite: boolean }) {
  const [filters, setFilters] = useState(noFilters);
  const [number, setNumber] = useState(1);
  const [isAdding, setIsAdding] = useState(false);
  const [isImporting, setImporting] = useState(false);
  const [q] = useDebouncedValue(filters.q.trim(), 200);
  const { data, error } = useSubscribers(page.id, {
    page: number,
    per_page: 50,
    q: q || undefined,
    type: filters.type || undefined,
    status: filters.status || undefined,
  });
  const change = (next: Partial<Filters>) => {
    setFilters({ ...filters, ...next });
    setNumber(1);
  };
  const isFiltered = q !== "" || filters.type !== "" || filters.status !== "";
  const add = mayWrite && (
    <>
      <Button onClick={() => setImporting(true)}>{t("Import CSV")}</Button>{" "}
      <Button variant="filled" onClick={() => setIsAdding(true)}>
        {t("Add subscriber")}
      </Button>
    </>
  );
  const isEmpty = data !== undefined && data.meta.total === 0 && !isFiltered;
  return (
    <>
      {isEmpty ? (
        <EmptyState
          icon={<Icon name="person" size={28} />}
          title={t("No subscribers yet")}
          action={add || undefined}
        >
          {t(
            "Visitors subscribe with “Get updates” on the page, by e-mail if a mail server is set, or by feed. You can also add e-mail addresses and webhooks here.",
          )}
        </EmptyState>
      ) : (
        <FilterRow filters={filters} onChange={change}>
          <Button onClick={() => void downloadSubscribers(page).catch(notifyError)}>
            {t("Export CSV")}
          </Button>
          {add}
        </FilterRow>
      )}
      {error !== null && data === undefined && <p className="down">{error.message}</p>}
      {data !== undefined && !isEmpty && (
        <SubscriberList page={page} subscribers={data.data} mayWrite={mayWrite}>
          <Pager meta={data.meta} onPage={setNumber} />
        </SubscriberList>
      )}
      {isImporting && <ImportSubscribers pageId={page.id} onClose={() => setImporting(false)} />}
      {isAdding && <AddSubscriber page={page} onClose={() => setIsAdding(false)} />}
    </>
  );
}

function FilterRow({
  filters,
  onChange,
  children,
}: {
  filters: Filters;
  onChange: (filters: Partial<Filters>) => void;
  children: ReactNode;
}) {
  return (
    <div className="flex flex-wrap gap-10 items-center mb-12">
      <label className="filter-search">
        <Icon name="search" size={14} />
        <input
          type="search"
          aria-label={t("Search addresses")}
          placeholder={t("Search")}
          value={filters.q}
          maxLength={maxSearchLength}
          onChange={({ currentTarget }) => onChange({ q: currentTarget.value })}
        />
      </label>
      <SegmentedControl
        size="xs"
        aria-label={t("Type")}
        value={filters.type}
        onChange={(type) => onChange({ type })}
        data={[{ value: "", label: t("All") }, ...types]}
      />
      <SegmentedControl
        size="xs"
        aria-label={t("Status")}
        value={filters.status}
        onChange={(status) => onChange({ status })}
        data={[
          { value: "", label: t("All") },
          { value: "confirmed", label: t("Confirmed") },
          { value: "pending", label: t("Unconfirmed") },
          { value: "quarantined", label: t("Quarantined") },
        ]}
      />
      <span className="subscribers-do flex gap-8 ml-auto">{children}</span>
    </div>
  );
}

function SubscriberList({
  page,
  subscribers,
  mayWrite,
  children,
}: {
  page: StatusPage;
  subscribers: readonly Subscriber[];
  mayWrite: boolean;
  children: ReactNode;
}) {
  const deleting = useDeleting();
  const visible = subscribers.filter(({ id }) => !deleting.has(id));
  return (
    <Panel>
      {visible.length === 0 && (
        <p className="quiet panel-none">{t("No subscriber matches these filters.")}</p>
      )}
      <ul className="lines subscribers" aria-label={t("Subscribers")}>
        {visible.map((subscriber) => (
          <SubscriberLine
            key={subscriber.id}
            pageId={page.id}
            subscriber={subscriber}
            mayWrite={mayWrite}
          />
        ))}
      </ul>
      {children}
    </Panel>
  );
}

type NewValues = ChoiceValues & {
  type: Subscriber["type"];
  email: string;
  confirmed: boolean;
  url: string;
  secret: string | null | undefined;
  webhookUrl: string;
};

const emptyValues: NewValues = {
  ...defaultChoice,
  type: "email",
  email: "",
  confirmed: false,
  url: "",
  secret: null,
  webhookUrl: "",
};

function buildSubscriberBody(values: NewValues) {
  const { type, email, confirmed, url, secret, webhookUrl } = values;
  const choice = buildChoice({ ...values, isWeekly: values.isWeekly && type === "email" });
  if (type === "email") return { type, email, confirmed, ...choice };
  if (type === "webhook") return { type, url, ...(secret && { secret }), ...choice };
  return { type, webhookUrl, ...choice };
}

/**
 * Adds a webhook or an e-mail address. The address receives a confirmation link unless its owner
 * has agreed.
 */
function AddSubscriber({ page, onClose }: { page: StatusPage; onClose: () => void }) {
  const route = getPageRoutes(page.id).subscribers;
  const form = useForm(
    emptyValues,
    async (values, _, idempotencyKey) => {
      const { status } = await unwrapData(
        route.post(buildSubscriberBody(values), addIdempotencyKey(idempotencyKey)),
      );
      notify(
        status === "pending"
          ? t("Sent a confirmation link to {email}", { email: values.email })
          : t("Added {name}", { name: nameSubscriber(values) }),
      );
      onClose();
    },
    undefined,
    { key: `subscriber ${page.id}`, secrets: ["secret", "webhookUrl"] },
  );
  return (
    <FormDialog
      title={t("Add subscriber")}
      size={480}
      onClose={onClose}
      form={form}
      submit={t("Add subscriber")}
      curl={() => ({ method: "POST", route, body: buildSubscriberBody(form.values) })}
    >
      <SegmentedControl
        aria-label={t("Type")}
        fullWidth
        value={form.values.type}
        onChange={(type) => form.set("type", type)}
        data={types}
      />
      {form.values.type === "email" && <MailboxFields form={form} />}
      {form.values.type === "webhook" && <WebhookFields form={form} />}
      {isChat(form.values.type) && (
        <TextInput
          key="webhookUrl"
          label={t("Webhook URL")}
          description={t(
            "It contains the credential, so it is stored encrypted and never shown again.",
          )}
          autoComplete="off"
          {...form.input("webhookUrl")}
        />
      )}
      <FoldedSection
        title={t("What it gets")}
        summary={summarizeChoice(form.values)}
        open={false}
        invalid={hasChoiceError(form)}
      >
        <div className="form-section">
          <ChoiceFields form={form} isMailbox={form.values.type === "email"} />
        </div>
      </FoldedSection>
    </FormDialog>
  );
}

function nameSubscriber({ type, email, url }: NewValues): string {
  if (type === "email") return email;
  return type === "webhook" ? url : nameType(type);
}

const isChat = (type: Subscriber["type"]) => type !== "email" && type !== "webhook";

const nameType = (type: Subscriber["type"]) =>
  types.find(({ value }) => value === type)?.label ?? type;

const hasChoiceError = ({ errorOf }: Form<NewValues>) =>
  ["frequency", "incidents", "components", "components.monitorIds", "components.groupIds"].some(
    (name) => errorOf(name) !== undefined,
  );

const MailboxFields = ({ form }: { form: Form<NewValues> }) => (
  <>
    <TextInput
      key="email"
      label={t("E-mail address")}
      data-autofocus
      autoComplete="off"
      placeholder={"ann@team.example"}
      {...form.input("email")}
    />
    <Switch
      label={t("The owner has already agreed")}
      description={t(
        "Otherwise a confirmation link is sent first. Updates are sent once it has been used.",
      )}
      {...form.toggle("confirmed")}
    />
  </>
);

const WebhookFields = ({ form }: { form: Form<NewValues> }) => (
  <>
    <TextInput
      key="url"
      label="URL"
      autoComplete="off"
      placeholder="https://bot.partner.example/status"
      {...form.input("url")}
    />
    <SecretField
      label={t("Secret")}
      hint={t("Signs each request, as described by Standard Webhooks.")}
      error={form.errorOf("secret")}
      value={form.values.secret}
      onChange={(secret) => form.set("secret", secret)}
      isSet={false}
      mayBeNone
    />
  </>
);

type Props = { pageId: string; subscriber: Subscriber; mayWrite: boolean };

function SubscriberLine({ pageId, subscriber, mayWrite }: Props) {
  const { type, email, url, status, secretsSet, lastError, lastDeliveryAt, createdAt } = subscriber;
  const [isEditing, setEditing] = useState(false);
  const address = email ?? (isChat(type) ? `${nameType(type)}, ${url}` : (url ?? ""));
  const choice = describeChoice(subscriber);
  const isQuarantined = status === "quarantined";
  const state =
    lastError !== null || isQuarantined ? "down" : status === "pending" ? "pending" : "up";
  return (
    <li>
      <StateIcon state={state} size={15} />
      <span className="line-words">
        <b>{address}</b>{" "}
        <span className="faint">
          {status === "pending" && t("unconfirmed")}
          {isQuarantined && t("quarantined: its mail server rejected the address")}
          {status === "confirmed" && lastDeliveryAt !== null && (
            <>{tNode("last notified {time}", { time: <Time at={lastDeliveryAt} /> })}</>
          )}
          {secretsSet.includes("secret") && `${dot}${t("signed")}`}
          {choice !== "" && `${dot}${choice}`}
        </span>
        {lastError !== null && <span className="block down">{translateServerText(lastError)}</span>}
      </span>
      <Time at={createdAt} as="short" />
      {mayWrite && (
        <SubscriberMenu
          pageId={pageId}
          subscriber={subscriber}
          address={address}
          onEdit={() => setEditing(true)}
        />
      )}
      {isEditing && (
        <EditSubscriber pageId={pageId} subscriber={subscriber} onClose={() => setEditing(false)} />
      )}
    </li>
  );
}

function SubscriberMenu({
  pageId,
  subscriber: { id, status },
  address,
  onEdit,
}: Omit<Props, "mayWrite"> & { address: string; onEdit: () => void }) {
  const isQuarantined = status === "quarantined";
  const release = async () => {
    await unwrapData(getPageRoutes(pageId).subscribers({ subscriberId: id }).release.post());
    notify(t("Updates are sent to {address} again", { address }));
  };
  return (
    <RowMenu label={t("Actions for {address}", { address })}>
      {() => (
        <>
          <MenuItem icon="edit" onClick={onEdit}>
            {t("Change what it gets")}
          </MenuItem>
          {isQuarantined && (
            <MenuItem icon="refresh" onClick={() => void release().catch(notifyError)}>
              {t("Send to it again")}
            </MenuItem>
          )}
          <HistoryItem id={id} />
          <DangerItem
            onClick={() =>
              holdDeletion((query) =>
                getPageRoutes(pageId)
                  .subscribers({ subscriberId: id })
                  .delete(undefined, { query }),
              )
            }
          >
            {t("Delete")}
          </DangerItem>
        </>
      )}
    </RowMenu>
  );
}

const columns = [
  "type",
  "address",
  "status",
  "language",
  "incidents",
  "minimumSeverity",
  "maintenance",
  "monitorIds",
  "groupIds",
  "frequency",
  "createdAt",
  "confirmedAt",
  "lastDeliveryAt",
  "lastError",
] as const;

function formatCsv(subscribers: readonly Subscriber[]): string {
  const rows = subscribers.map((one) => {
    const { components } = one;
    const record = {
      ...one,
      address: one.email ?? one.url,
      monitorIds: components?.monitorIds.join(" "),
      groupIds: components?.groupIds.join(" "),
    };
    return formatCsvRow(columns.map((name) => String(record[name] ?? "")));
  });
  return [formatCsvRow(columns), ...rows].join("");
}

/** Downloads all subscribers of a page as CSV. */
async function downloadSubscribers({ id, slug }: StatusPage) {
  const subscribers = await unwrapData(getPageRoutes(id)["subscribers-export"].get());
  downloadFile(`subscribers-${slug}.csv`, { text: formatCsv(subscribers), type: "text/csv" });
}
