import type { Role } from "../../../src/core/roles.ts";
import { t } from "../../language/text.ts";

/** Names of roles within a sentence. */
export const roleNames: Record<Role, string> = {
  viewer: t("viewer"),
  member: t("member"),
  admin: t("admin"),
  owner: t("owner"),
};
