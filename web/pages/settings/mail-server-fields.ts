import type { Settings } from "../../../src/settings/schema.ts";
import { send } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";
import { withUndo } from "../../parts/toasts.tsx";
import { again, settingsQuery } from "./data.ts";

/** Named as the API names them in its errors. */
export type MailServerFields = {
  "smtp.host": string;
  "smtp.port": number;
  "smtp.tls": "starttls" | "tls" | "none";
  "smtp.user": string;
  /** Empty keeps what is stored, null clears it. */
  "smtp.password": string | null;
  "smtp.from": string;
};

export const usualPorts = { starttls: 587, tls: 465, none: 25 };

export function fieldsOf({ smtp }: Settings): MailServerFields {
  const { host = "", port = 587, tls = "starttls", user = "", from = "" } = smtp ?? {};
  return {
    "smtp.host": host,
    "smtp.port": port,
    "smtp.tls": tls,
    "smtp.user": user ?? "",
    // Never shown; left empty, it stays.
    "smtp.password": "",
    "smtp.from": from,
  };
}

export function smtpOf(fields: MailServerFields) {
  const user = fields["smtp.user"] === "" ? null : fields["smtp.user"];
  const password = fields["smtp.password"];
  return {
    host: fields["smtp.host"],
    port: fields["smtp.port"],
    tls: fields["smtp.tls"],
    user,
    ...(user === null ? { password: null } : password !== "" && { password }),
    from: fields["smtp.from"],
  };
}

export function removeMailServer(organizationId: string, settings: Settings) {
  const query = settingsQuery(organizationId);
  withUndo("Removed the mail server", {
    hide: () =>
      queryClient.setQueryData(query.queryKey, { ...settings, smtp: null, secretsSet: [] }),
    restore: () => void again(query),
    commit: () => send("PATCH", "/api/v1/settings", { smtp: null }),
  });
}
