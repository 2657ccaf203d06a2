/** Use cases of contact methods: list, read, create, update, delete, verify and test. */
import { findMembership } from "../../accounts/people/store.ts";
import { AppError } from "../../core/errors.ts";
import { listChangedFields } from "../../core/field-changes.ts";
import { createDigits } from "../../core/ids.ts";
import { deletedBody } from "../../core/paging.ts";
import { isAtLeast } from "../../core/roles.ts";
import { formatTimestamp } from "../../core/time/clock.ts";
import { invalidFieldError, parse } from "../../core/validation.ts";
import { guardExists, unknownReferenceError } from "../../database/references.ts";
import { assertFound, buildNextVersion } from "../../database/rows.ts";
import { guardCondition, type Prepared, retryOnStaleRead } from "../../database/store.ts";
import { alertChannels } from "../../database/tables/alerting.ts";
import { commit, guardCurrent } from "../../events/commit.ts";
import type { Scope } from "../../events/scope.ts";
import { consumeLimit, type RateLimit } from "../../http/access/rate-limit.ts";
import {
  changeChannel,
  columnsOf,
  createChannelRow,
  findOrdinaryChannel,
  openRecord,
  patchChannel,
  recordRemoval,
  toChannelRecord,
} from "../channels/service.ts";
import { messageKinds } from "../channels/routing-schema.ts";
import type { Delivery } from "../schema.ts";
import { sendTest, type TestDependencies, testReceiver } from "../service.ts";
import { checkCode, codeAttempts, codeLifetimeMs, hashCode } from "./rules.ts";
import {
  type ContactMethod,
  type ContactMethodPatch,
  type ContactMethodQuery,
  type ContactOutcome,
  type NewContactMethod,
  PatchedContactMethod,
} from "./schema.ts";
import {
  type ContactRow,
  countWrongCode,
  findContactMethod,
  findContactMethods,
  insertContactMethod,
  markVerified,
  removeContactMethod,
  storeCode,
} from "./store.ts";

type ContactRecord = ContactMethod & { version: number };

/** Dependencies of the routes that send messages. */
export type ContactDependencies = TestDependencies & {
  /** Limits codes per contact method. */
  codeLimit: RateLimit;
};

const toRecord = (row: ContactRow): ContactRecord => {
  const {
    default: _default,
    incidents: _incidents,
    notifyOn: _kinds,
    ...record
  } = toChannelRecord(row);
  return record as unknown as ContactRecord;
};

/** Returns the owner of the contact methods of a request. Throws VALIDATION_ERROR with a key, FORBIDDEN, NOT_FOUND. */
async function resolveOwner(scope: Scope, personId: string | undefined): Promise<string> {
  const { actor } = scope;
  const ownPersonId = actor.type === "person" ? actor.id : null;
  if (personId === undefined || personId === ownPersonId) {
    if (ownPersonId === null) throw invalidFieldError("personId", "is required with an API key");
    return ownPersonId;
  }
  await assertMayManage(scope, personId);
  if ((await findMembership(scope, personId)) === null)
    throw unknownReferenceError("personId", "person");
  return personId;
}

/** Throws NOT_FOUND unless the caller can manage the contact methods of this person: their own, as admin, or with a key. */
async function assertMayManage(scope: Scope, personId: string, noun = "person") {
  const { actor } = scope;
  if (actor.type !== "person" || actor.id === personId) return;
  const membership = actor.id === null ? null : await findMembership(scope, actor.id);
  if (membership !== null && isAtLeast(membership.role, "admin")) return;
  if (noun === "person")
    throw new AppError("FORBIDDEN", "Only admins can manage the contact methods of other people.");
  assertFound(null, noun);
}

/** Finds a contact method that the caller can manage. Throws NOT_FOUND. */
async function getRow(scope: Scope, id: string): Promise<ContactRow> {
  const row = assertFound(await findContactMethod(scope, id), "contact method");
  await assertMayManage(scope, row.personId, "contact method");
  return row;
}

/** Lists the contact methods of a person, in their order. Throws VALIDATION_ERROR, FORBIDDEN, NOT_FOUND. */
export async function listContactMethods(scope: Scope, { personId }: ContactMethodQuery) {
  const owner = await resolveOwner(scope, personId);
  return (await findContactMethods(scope, [owner])).map(toRecord);
}

/** Reads a contact method. Throws NOT_FOUND. */
export const getContactMethod = async (scope: Scope, id: string): Promise<ContactRecord> =>
  toRecord(await getRow(scope, id));

/** Creates a contact method, which must be verified before it is used. Throws VALIDATION_ERROR, FORBIDDEN, CONFLICT. */
export async function createContactMethod(scope: Scope, input: NewContactMethod) {
  const { personId: givenId, ...fields } = input;
  const personId = await resolveOwner(scope, givenId);
  const { afterMinutes, criticalAfterMinutes } = fields;
  const row: ContactRow = {
    ...(await createChannelRow(scope, {
      ...fields,
      default: false,
      incidents: false,
      notifyOn: [...messageKinds],
    })),
    personId,
    afterMinutes,
    criticalAfterMinutes,
  };
  return commit(
    scope,
    [
      guardMember(scope, personId),
      ...(await guardGateway(scope, row)),
      ...insertContactMethod(scope, row),
    ],
    { action: "contact-method.created", subjectId: row.id },
    toRecord(row),
  );
}

const guardMember = ({ organizationId }: Scope, personId: string) =>
  guardCondition(
    "exists (select 1 from memberships where organization_id = ? and person_id = ?)",
    [organizationId, personId],
    () => unknownReferenceError("personId", "person"),
  );

const unknownGatewayError = () => unknownReferenceError("gatewayId", "alert channel");

/** Guards that the gateway of a contact method is a channel of its type. Throws NOT_FOUND, VALIDATION_ERROR. */
async function guardGateway(scope: Scope, { type, gatewayId }: ContactRow): Promise<Prepared[]> {
  if (gatewayId === null) return [];
  const gateway = await findOrdinaryChannel(scope, gatewayId);
  if (gateway === null) throw unknownGatewayError();
  if (gateway.type !== type)
    throw invalidFieldError("gatewayId", `must name an alert channel of type ${type}`);
  const { organizationId } = scope;
  return guardExists(
    alertChannels,
    organizationId,
    [gatewayId],
    unknownGatewayError,
    "person_id is null",
  );
}

/** Fields that don't change where a message is sent. */
const harmlessFields = new Set([
  "name",
  "enabled",
  "template",
  "quietHours",
  "maxParts",
  "dailyLimit",
  "language",
]);

/**
 * Updates a contact method. Another address or secret must be verified again. Throws NOT_FOUND, PRECONDITION_FAILED,
 * VALIDATION_ERROR.
 */
export function updateContactMethod(scope: Scope, id: string, patch: ContactMethodPatch) {
  const { afterMinutes, criticalAfterMinutes, ...ofChannel } = patch;
  return retryOnStaleRead(async () => {
    const before = await getRow(scope, id);
    const channel = await patchChannel(scope, before, ofChannel, (whole) =>
      parse(PatchedContactMethod, whole),
    );
    const changes = openRecord(scope.vault, before).listChanges(channel);
    const isMoved = changes.some(
      (one) => !harmlessFields.has(typeof one === "string" ? one : one.field),
    );
    const after: ContactRow = {
      ...before,
      ...columnsOf(scope, id, channel),
      ...(afterMinutes !== undefined && { afterMinutes }),
      ...(criticalAfterMinutes !== undefined && { criticalAfterMinutes }),
      ...(isMoved && { verifiedAt: null, ...noCode }),
      ...buildNextVersion(before, formatTimestamp(scope.clock())),
    };
    return commit(
      scope,
      [
        ...guardCurrent(scope, alertChannels, before),
        ...(after.gatewayId === before.gatewayId ? [] : await guardGateway(scope, after)),
        changeChannel(scope, after),
      ],
      {
        action: "contact-method.updated",
        subjectId: id,
        fields: [
          ...changes,
          ...listChangedFields(before, after, ["afterMinutes", "criticalAfterMinutes"]),
        ],
      },
      toRecord(after),
    );
  });
}

const noCode = { codeHash: null, codeExpiresAt: null, codeAttempts: null };

/** Deletes a contact method. Throws NOT_FOUND, PRECONDITION_FAILED. */
export function deleteContactMethod(scope: Scope, id: string): Promise<typeof deletedBody> {
  return retryOnStaleRead(async () =>
    commit(
      scope,
      [
        ...guardCurrent(scope, alertChannels, await getRow(scope, id)),
        recordRemoval(scope.organizationId, id, formatTimestamp(scope.clock())),
        ...removeContactMethod(scope, id),
      ],
      { action: "contact-method.deleted", subjectId: id },
      deletedBody,
    ),
  );
}

/**
 * Sends a new code through a contact method, immediately and without retries. Earlier codes become invalid. Throws
 * NOT_FOUND, RATE_LIMITED.
 */
export async function sendCode(
  scope: Scope,
  dependencies: ContactDependencies,
  id: string,
): Promise<ContactOutcome> {
  const row = await getRow(scope, id);
  consumeLimit(dependencies.codeLimit, id);
  consumeLimit(dependencies.testAlertLimit, scope.organizationId);
  const code = createDigits(6);
  await scope.store.atomic([
    storeCode(scope, id, {
      codeHash: hashCode(id, code),
      codeExpiresAt: scope.clock() + codeLifetimeMs,
      codeAttempts: 0,
    }),
  ]);
  const message = `${code} is the code that verifies the contact method ${row.name}. It is valid for 15 minutes.`;
  const verification = { organizationId: scope.organizationId, contactMethodId: id, code };
  const { attempt } = await sendTest(scope, dependencies, row, message, verification);
  return { delivered: attempt.delivered, message: attempt.message };
}

/** Verifies a contact method by its code. Throws NOT_FOUND, VALIDATION_ERROR for a wrong or expired code. */
export function verifyContactMethod(scope: Scope, id: string, code: string) {
  return retryOnStaleRead(async () => {
    const before = await getRow(scope, id);
    const now = scope.clock();
    const verdict = checkCode(before, code, now);
    if (verdict === "expired")
      throw invalidFieldError("code", "is no longer valid: request a new one");
    if (verdict === "wrong") {
      await scope.store.atomic(countWrongCode(before));
      const attemptsLeft = codeAttempts - (before.codeAttempts ?? 0) - 1;
      throw invalidFieldError(
        "code",
        attemptsLeft === 0
          ? "is wrong: request a new one"
          : `is wrong: ${attemptsLeft} more ${attemptsLeft === 1 ? "attempt" : "attempts"}`,
      );
    }
    const at = formatTimestamp(now);
    const after: ContactRow = { ...before, verifiedAt: at, ...buildNextVersion(before, at) };
    return commit(
      scope,
      markVerified(scope, { ...after, codeHash: before.codeHash }),
      { action: "contact-method.verified", subjectId: id },
      toRecord({ ...after, ...noCode }),
    );
  });
}

/** Sends a test alert to a contact method, also before its verification. Throws NOT_FOUND, RATE_LIMITED. */
export async function testContactMethod(
  scope: Scope,
  dependencies: ContactDependencies,
  id: string,
): Promise<Delivery> {
  const row = await getRow(scope, id);
  consumeLimit(dependencies.testAlertLimit, scope.organizationId);
  return testReceiver(scope, dependencies, row);
}
