import { z } from "zod";
import { keyScopes } from "../../core/statuses.ts";
import { Id, integer, line, Timestamp } from "../../core/fields.ts";
import { GroupIds, GroupLimit } from "../group-limit/schema.ts";

export const KeyName = line(255);
const KeyScope = z.enum(keyScopes);

/** An API key as the API shows it, without its secret. */
export const ApiKey = z.object({
  id: Id,
  name: z.string(),
  scope: KeyScope,
  /** Whether the key can be used at `/mcp`. */
  mcp: z.boolean(),
  groupIds: GroupIds,
  /** The person who created the key; null for the command line. */
  createdById: Id.nullable(),
  createdAt: Timestamp,
  /** Null if it never expires. */
  expiresAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
  /** Time of the last request, up to one minute late; null for an unused key. */
  lastUsedAt: Timestamp.nullable(),
});
export type ApiKey = z.infer<typeof ApiKey>;

export const NewApiKey = z.strictObject({
  name: KeyName,
  scope: KeyScope.default("write"),
  mcp: z.boolean().default(false),
  groupIds: GroupLimit.default(null),
  expiresInDays: integer(1, 3650).nullable().default(null),
});

export const ApiKeyPatch = z.strictObject({ groupIds: GroupLimit });

/** A new API key with its secret, which is shown only once. */
export const CreatedApiKey = ApiKey.extend({ key: z.string() });
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;
