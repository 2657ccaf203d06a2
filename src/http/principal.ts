import type { Role } from "../core/roles.ts";

/** Who asks, on behalf of one organization: an API key, or a person by their session. */
export type Principal = {
  organizationId: string;
  actor: { type: "api-key" | "person"; id: string; name: string };
  scope: "read" | "write";
  /** Of a person; null for an API key. */
  role: Role | null;
};
