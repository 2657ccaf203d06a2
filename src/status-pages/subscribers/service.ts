/** Lists, adds, confirms and deletes the subscribers of a status page. */
import { commit, commitEach, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { runInSearchTurn } from "../../events/organization-turns.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { AppError } from "../../core/errors.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { createId, sha256 } from "../../core/ids.ts";
import type { PageLanguage } from "../../core/languages.ts";
import { deletedBody, buildPage } from "../../core/paging.ts";
import { sealAll } from "../../core/security/secrets.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { assertTargetsAllowed, portOf } from "../../core/security/target-guard.ts";
import { guardLimit } from "../../database/references.ts";
import { guardFieldExists, removeRow } from "../../database/rows.ts";
import { retryOnStaleRead, StaleRead, type Statement } from "../../database/store.ts";
import { monitorGroups, monitors } from "../../database/tables/monitoring.ts";
import { subscribers } from "../../database/tables/status-pages.ts";
import { getSettings } from "../../accounts/settings/service.ts";
import { getStatusPage } from "../service.ts";
import { buildSecretLocation } from "./receivers.ts";
import type { ChatType } from "./chat-webhooks.ts";
import { addressKeyOf, canAskAgain, countQuestions, isListening } from "./rules.ts";
import type { NewSubscriber, Subscriber, SubscriberChoice, SubscriberQuery } from "./schema.ts";
import {
  changeChoice,
  endQuarantine,
  findMailboxes,
  insertMailboxes,
  findAllSubscribers,
  countConfirmationRequest,
  countedSubscribers,
  findByAddress,
  findSubscriber,
  insertNotice,
  insertSubscriber,
  guardNewAddress,
  listenFromNow,
  dropOldestUnconfirmed,
  guardPageExists,
  findSubscriberPage,
  type SubscriberRow,
  insertDeliveries,
} from "./store.ts";

type SubscriberRecord = Subscriber & { version: number };

function toSubscriberRecord({ secrets, ...row }: SubscriberRow): SubscriberRecord {
  const { type, address, confirmedAt } = row;
  return {
    ...row,
    email: type === "email" ? address : null,
    url: type === "email" ? null : address,
    status:
      row.quarantinedAt !== null ? "quarantined" : confirmedAt === null ? "pending" : "confirmed",
    secretsSet: Object.keys(JSON.parse(secrets) as object),
  };
}

/** Throws NOT_FOUND. */
export async function listSubscribers(scope: Scope, pageId: string, query: SubscriberQuery) {
  await getStatusPage(scope, pageId);
  const readSubscriberPage = () => findSubscriberPage(scope, pageId, query);
  const { rows, total } = await (query.q === undefined
    ? readSubscriberPage()
    : runInSearchTurn(scope, readSubscriberPage));
  return buildPage(query, rows.map(toSubscriberRecord), total);
}

/** Returns all subscribers at once, oldest first. Throws NOT_FOUND. */
export async function exportSubscribers(scope: Scope, pageId: string): Promise<Subscriber[]> {
  await getStatusPage(scope, pageId);
  return (await findAllSubscribers(scope, pageId)).map(toSubscriberRecord);
}

/** Returns a subscriber. Throws NOT_FOUND, also for a subscriber of another page. */
export async function getSubscriber(scope: Scope, pageId: string, id: string) {
  return toSubscriberRecord(await getRow(scope, pageId, id));
}

async function getRow(scope: Scope, pageId: string, id: string) {
  const row = await findSubscriber(scope, id);
  if (row === null || row.pageId !== pageId)
    throw new AppError("NOT_FOUND", "There is no such subscriber.");
  return row;
}

type AddedSubscriber = Pick<
  SubscriberRow,
  "id" | "type" | "address" | "addressKey" | "secrets" | "confirmedAt"
> &
  SubscriberChoice;

/** The choice of a subscriber who chose nothing yet: everything. */
const defaultChoice = {
  incidents: true,
  minimumSeverity: "minor",
  maintenance: true,
  components: null,
  frequency: "immediately",
} as const;

const pickChoice = ({
  language,
  incidents,
  minimumSeverity,
  maintenance,
  components,
  frequency,
}: SubscriberChoice): SubscriberChoice => ({
  language,
  incidents,
  minimumSeverity,
  maintenance,
  components,
  frequency,
});

function buildSubscriberRow(scope: Scope, pageId: string, added: AddedSubscriber): SubscriberRow {
  return {
    organizationId: scope.organizationId,
    pageId,
    ...added,
    quarantinedAt: null,
    heardFrom: null,
    byVisitor: false,
    asked: 0,
    askedAt: null,
    version: 1,
    lastDeliveryAt: null,
    lastError: null,
    createdAt: formatTimestamp(scope.clock()),
  };
}

const createUnconfirmed = (
  { email, language }: RequestedMailbox,
  now: number,
): AddedSubscriber => ({
  id: createId(now),
  type: "email",
  address: email,
  addressKey: addressKeyOf("email", email),
  secrets: "{}",
  confirmedAt: null,
  ...defaultChoice,
  language,
});

function createUnconfirmedChat({ vault, organizationId, clock }: Scope, chat: RequestedChat) {
  const { type, webhookUrl, language } = chat;
  const id = createId(clock());
  return {
    id,
    type,
    address: new URL(webhookUrl).origin,
    addressKey: sha256(webhookUrl),
    secrets: sealAll(vault, buildSecretLocation({ organizationId, id }), { webhookUrl }),
    confirmedAt: null,
    ...defaultChoice,
    language,
  } satisfies AddedSubscriber;
}

/** A mailbox that a visitor entered. `language` is null for the default language of the page. */
type RequestedMailbox = { email: string; language: PageLanguage | null };

/** A chat that a visitor entered. */
type RequestedChat = {
  type: ChatType;
  webhookUrl: string;
  language: PageLanguage | null;
};

/** Statements that send a confirmation link to a subscriber's address. */
function askForConfirmation({ clock }: Scope, row: SubscriberRow): Statement[] {
  const now = clock();
  const at = formatTimestamp(now);
  const { organizationId, pageId } = row;
  const notice = {
    organizationId,
    id: createId(now),
    pageId,
    type: "subscription.question",
    at,
    data: "{}",
    scope: null,
  };
  return [insertNotice(notice), insertDeliveries(notice, [row], now, at)];
}

/**
 * Adds a subscriber, and asks an unconfirmed mailbox to confirm. Throws NOT_FOUND for an unknown page, CONFLICT for
 * a subscribed address or a missing mail server, VALIDATION_ERROR for a blocked URL.
 */
export async function addSubscriber(scope: Scope, pageId: string, input: NewSubscriber) {
  const { vault, organizationId } = scope;
  await getStatusPage(scope, pageId);
  assertChoosesSomething(input);
  const now = scope.clock();
  const id = createId(now);
  const needsConfirmation = input.type === "email" && !input.confirmed;
  if (needsConfirmation && (await getSettings(scope)).smtp === null)
    throw new AppError(
      "CONFLICT",
      "No mail server is set up to send the confirmation link; see Settings.",
    );
  const { path, address, key, url, secrets } = describeDestination(input);
  if (url !== null)
    await assertTargetsAllowed(scope.targets, [{ path, host: url.hostname, port: portOf(url) }]);
  const row = {
    ...buildSubscriberRow(scope, pageId, {
      id,
      type: input.type,
      address,
      addressKey: addressKeyOf(input.type, key),
      secrets: sealAll(vault, buildSecretLocation({ organizationId, id }), secrets),
      confirmedAt: needsConfirmation ? null : formatTimestamp(now),
      ...pickChoice(input),
    }),
    ...(needsConfirmation && { asked: 1, askedAt: now }),
  };
  return commit(
    scope,
    [
      ...guardPageExists(row),
      ...guardComponents(scope, input.components),
      guardNewAddress(row, () => createDuplicateError(path)),
      insertSubscriber(row),
      guardLimit(scope, "subscribers", subscribers, countedSubscribers),
      ...(needsConfirmation
        ? askForConfirmation(scope, row)
        : [listenFromNow(organizationId, id, formatTimestamp(now))]),
    ],
    { action: needsConfirmation ? "subscriber.invited" : "subscriber.added", subjectId: id },
    toSubscriberRecord({ ...row, version: needsConfirmation ? 1 : 2 }),
  );
}

/** Throws VALIDATION_ERROR if a subscriber would get nothing at all, or a digest outside a mailbox. */
function assertChoosesSomething({
  type,
  incidents,
  maintenance,
  components,
  frequency,
}: Partial<SubscriberChoice> & Pick<SubscriberRow, "type">) {
  if (frequency === "weekly" && type !== "email")
    throw invalidFieldError("frequency", "must be `immediately`, except for a mailbox");
  if (incidents === false && maintenance === false)
    throw invalidFieldError("incidents", "must be true, or `maintenance` must be");
  if (components && components.monitorIds.length + components.groupIds.length === 0)
    throw invalidFieldError("components", "must name a monitor or a group, or be null");
}

function guardComponents(scope: Scope, components: SubscriberChoice["components"]): Statement[] {
  if (components === null) return [];
  const { monitorIds, groupIds } = components;
  return [
    ...guardFieldExists(scope, "components.monitorIds", monitors, monitorIds),
    ...guardFieldExists(scope, "components.groupIds", monitorGroups, groupIds),
  ];
}

/** Changes the choice of a subscriber. Throws NOT_FOUND, PRECONDITION_FAILED, VALIDATION_ERROR. */
export function updateSubscriber(
  scope: Scope,
  pageId: string,
  id: string,
  patch: Partial<SubscriberChoice>,
) {
  return retryOnStaleRead(async () => {
    const before = await getRow(scope, pageId, id);
    const after = { ...before, ...patch, version: before.version + 1 };
    assertChoosesSomething(after);
    return commit(
      scope,
      [
        ...guardCurrent(scope, subscribers, before),
        ...guardComponents(scope, patch.components ?? null),
        changeChoice(scope.organizationId, after),
      ],
      {
        action: "subscriber.updated",
        subjectId: id,
        fields: listChangedFields(before, after, Object.keys(patch)),
      },
      toSubscriberRecord(after),
    );
  });
}

/** The field with the address, the shown address, the text by which duplicates are found, and the secrets. */
function describeDestination(input: NewSubscriber) {
  switch (input.type) {
    case "email":
      return { path: "email", address: input.email, key: input.email, url: null, secrets: {} };
    case "webhook": {
      const { url: address, secret } = input;
      const secrets = secret === null ? {} : { secret };
      return { path: "url", address, key: address, url: new URL(address), secrets };
    }
    default: {
      const { webhookUrl } = input;
      const url = new URL(webhookUrl);
      const key = sha256(webhookUrl);
      return { path: "webhookUrl", address: url.origin, key, url, secrets: { webhookUrl } };
    }
  }
}

function createDuplicateError(path: string) {
  const details = [{ path, message: "must not already be subscribed to this page" }];
  return new AppError("CONFLICT", "This address is already subscribed to the page.", { details });
}

/** Sends to a quarantined address again. Throws NOT_FOUND, and CONFLICT for any other. */
export function releaseSubscriber(scope: Scope, pageId: string, id: string) {
  return retryOnStaleRead(async () => {
    const before = await getRow(scope, pageId, id);
    if (before.quarantinedAt === null)
      throw new AppError("CONFLICT", "This subscriber is not quarantined.");
    return saveReleased(scope, before);
  });
}

function saveReleased(scope: Scope, before: SubscriberRow) {
  const { id, version } = before;
  const changes = { quarantinedAt: null, lastError: null, version: version + 1 };
  return commit(
    scope,
    [
      ...guardCurrent(scope, subscribers, before),
      endQuarantine(scope.organizationId, { id, ...changes }),
    ],
    { action: "subscriber.released", subjectId: id },
    toSubscriberRecord({ ...before, ...changes }),
  );
}

/**
 * Adds the mailboxes of a CSV text, whose owners have agreed, and confirms those that visitors entered. Adds all or
 * none. Throws NOT_FOUND for an unknown page, VALIDATION_ERROR for a wrong line, CONFLICT at the limit of the
 * organization.
 */
export async function importSubscribers(scope: Scope, pageId: string, csv: string) {
  const { organizationId } = scope;
  await getStatusPage(scope, pageId);
  const { parseSubscribers } = await import("./import.ts");
  const { mailboxes, skipped } = parseSubscribers(csv);
  return retryOnStaleRead(async () => {
    const now = scope.clock();
    const known = await findMailboxes(
      scope,
      pageId,
      mailboxes.map(({ email }) => addressKeyOf("email", email)),
    );
    const knownKeys = new Set(known.map(({ addressKey }) => addressKey));
    const pending = known.filter(({ confirmedAt }) => confirmedAt === null);
    const rows = mailboxes
      .map(({ email, ...choice }) =>
        buildSubscriberRow(scope, pageId, {
          ...createUnconfirmed({ email, language: choice.language }, now),
          ...choice,
          confirmedAt: formatTimestamp(now),
        }),
      )
      .filter(({ addressKey }) => !knownKeys.has(addressKey));
    const components = {
      monitorIds: [...new Set(rows.flatMap((row) => row.components?.monitorIds ?? []))],
      groupIds: [...new Set(rows.flatMap((row) => row.components?.groupIds ?? []))],
    };
    const page = { organizationId, pageId };
    const added = [...rows, ...pending];
    return commitEach(
      scope,
      [
        ...guardPageExists(page),
        ...guardComponents(scope, components),
        ...insertMailboxes(page, rows),
        ...pending.map(({ id }) => listenFromNow(organizationId, id, formatTimestamp(now))),
        guardLimit(scope, "subscribers", subscribers, countedSubscribers),
      ],
      { action: "subscriber.added", subjectIds: added.map(({ id }) => id) },
      { added: added.length, existing: mailboxes.length - added.length, skipped },
    );
  });
}

/** Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteSubscriber(scope: Scope, pageId: string, id: string) {
  return retryOnStaleRead(async () =>
    removeSubscriber(scope, await getRow(scope, pageId, id), "subscriber.deleted"),
  );
}

function removeSubscriber(
  scope: Scope,
  row: SubscriberRow,
  action: "subscriber.deleted" | "subscriber.unsubscribed",
): Promise<typeof deletedBody> {
  return commit(
    scope,
    [...guardCurrent(scope, subscribers, row), removeRow(scope, subscribers, row.id)],
    { action, subjectId: row.id },
    deletedBody,
  );
}

/**
 * Sends a confirmation link to a mailbox that a visitor entered, if `mayAsk` allows it. Returns nothing, so that
 * visitors can't find out whether a mailbox is subscribed or was asked before.
 */
export async function askMailbox(
  scope: Scope,
  pageId: string,
  mailbox: RequestedMailbox,
  mayAsk: (email: string) => boolean,
): Promise<void> {
  await askAddress(scope, pageId, createUnconfirmed(mailbox, scope.clock()), () =>
    mayAsk(mailbox.email),
  );
}

/**
 * Posts a confirmation link to a chat that a visitor entered, if `mayAsk` allows it. Throws VALIDATION_ERROR for a
 * blocked address.
 */
export async function askChat(
  scope: Scope,
  pageId: string,
  chat: RequestedChat,
  mayAsk: (key: string) => boolean,
): Promise<void> {
  const url = new URL(chat.webhookUrl);
  const target = { path: "webhookUrl", host: url.hostname, port: portOf(url) };
  await assertTargetsAllowed(scope.targets, [target]);
  const added = createUnconfirmedChat(scope, chat);
  await askAddress(scope, pageId, added, () => mayAsk(added.addressKey));
}

async function askAddress(
  scope: Scope,
  pageId: string,
  added: AddedSubscriber,
  mayAsk: () => boolean,
): Promise<void> {
  const { organizationId } = scope;
  const { type, addressKey: key, language } = added;
  let isAllowed: boolean | null = null;
  await retryOnStaleRead(async () => {
    const now = scope.clock();
    const known = await findByAddress(scope, pageId, type, key);
    const questions = countQuestions(known ?? { asked: 0, askedAt: null }, now);
    if (known !== null && (isListening(known) || !canAskAgain(questions, now))) return;
    isAllowed ??= mayAsk();
    if (!isAllowed) return;
    const questionCount = { asked: questions.asked + 1, askedAt: now };
    // A stranger must not change the language of a subscriber.
    const knownLanguage = known?.confirmedAt == null ? language : known.language;
    const row = (known && { ...known, language: knownLanguage }) ?? {
      ...buildSubscriberRow(scope, pageId, added),
      byVisitor: true,
      ...questionCount,
    };
    const changes =
      known === null
        ? [
            ...guardPageExists(row),
            // A parallel sign-up inserted the same address: reads it again.
            guardNewAddress(row, () => new StaleRead()),
            dropOldestUnconfirmed(row),
            insertSubscriber(row),
          ]
        : [
            ...guardCurrent(scope, subscribers, known),
            countConfirmationRequest(organizationId, {
              id: known.id,
              ...questionCount,
              language: knownLanguage,
              version: known.version + 1,
            }),
          ];
    const change = { action: "subscriber.asked", subjectId: row.id } as const;
    await commit(scope, [...changes, ...askForConfirmation(scope, row)], change, {});
  });
}

/**
 * Confirms a subscriber, and releases a quarantined one; a second time changes nothing. Returns null for a deleted subscriber. Throws CONFLICT if the
 * organization has reached its limit.
 */
export function confirmSubscriber(scope: Scope, id: string): Promise<SubscriberRow | null> {
  const { organizationId } = scope;
  return retryOnStaleRead(async () => {
    const row = await findSubscriber(scope, id);
    if (row === null || isListening(row)) return row;
    if (row.confirmedAt !== null) {
      await saveReleased(scope, row);
      return row;
    }
    await commit(
      scope,
      [
        ...guardCurrent(scope, subscribers, row),
        listenFromNow(organizationId, id, formatTimestamp(scope.clock())),
        guardLimit(scope, "subscribers", subscribers, countedSubscribers),
      ],
      { action: "subscriber.confirmed", subjectId: id },
      {},
    );
    return row;
  });
}

/** Deletes a subscriber who unsubscribes. A second time changes nothing. */
export async function endSubscription(scope: Scope, id: string): Promise<void> {
  await retryOnStaleRead(async () => {
    const row = await findSubscriber(scope, id);
    if (row !== null) await removeSubscriber(scope, row, "subscriber.unsubscribed");
  });
}
