import { z } from "zod";
import { Id, integer, line, Timestamp } from "../../core/fields.ts";

export const KeyName = line(255);
const KeyScope = z.enum(["read", "write"]);

/** A key without the key itself. */
export const ApiKey = z.object({
  id: Id,
  name: z.string(),
  scope: KeyScope,
  /** The person who made it; null for the command line. */
  createdById: Id.nullable(),
  createdAt: Timestamp,
  /** Null for never. */
  expiresAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
  /** At most a minute behind; null for a key that was never used. */
  lastUsedAt: Timestamp.nullable(),
});
export type ApiKey = z.infer<typeof ApiKey>;

export const NewApiKey = z.strictObject({
  name: KeyName,
  scope: KeyScope.default("write"),
  expiresInDays: integer(1, 3650).nullable().default(null),
});

/** With the key, which is told this once. */
export const MadeApiKey = ApiKey.extend({ key: z.string() });
export type MadeApiKey = z.infer<typeof MadeApiKey>;
