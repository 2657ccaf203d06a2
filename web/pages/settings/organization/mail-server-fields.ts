/** Converts between the mail server settings and their form. */
import type { Settings } from "../../../../src/accounts/settings/schema.ts";
import { dataOf, v1 } from "../../../data/client.ts";
import { queryClient } from "../../../data/query.ts";
import { withUndo } from "../../../components/toasts.tsx";
import { settingsQuery } from "../data.ts";

export type Auth = "password" | "microsoft" | "google";

/** Named as the API names them in its errors. */
export type MailServerFields = {
  "smtp.host": string;
  "smtp.port": number;
  "smtp.tls": "starttls" | "tls" | "none";
  "smtp.user": string;
  "smtp.auth": Auth;
  "smtp.tenant": string;
  "smtp.clientId": string;
  /** Empty keeps what is stored, null clears it; so with the other secrets. */
  "smtp.password": string | null;
  "smtp.clientSecret": string | null;
  "smtp.serviceAccountKey": string | null;
  "smtp.from": string;
};

export const secretFields = [
  "smtp.password",
  "smtp.clientSecret",
  "smtp.serviceAccountKey",
] as const;

export const usualPorts = { starttls: 587, tls: 465, none: 25 };

/** Where the services that give out access tokens take mail. */
export const usualHosts: Record<Auth, string> = {
  password: "",
  microsoft: "smtp.office365.com",
  google: "smtp.gmail.com",
};

export function fieldsOf({ smtp }: Settings): MailServerFields {
  const { host = "", port = 587, tls = "starttls", user = "", from = "" } = smtp ?? {};
  const { auth = "password", tenant, clientId } = smtp ?? {};
  return {
    "smtp.host": host,
    "smtp.port": port,
    "smtp.tls": tls,
    "smtp.user": user ?? "",
    // Never shown; left empty, it stays.
    "smtp.password": "",
    "smtp.clientSecret": "",
    "smtp.serviceAccountKey": "",
    "smtp.auth": auth,
    "smtp.tenant": tenant ?? "",
    "smtp.clientId": clientId ?? "",
    "smtp.from": from,
  };
}

export function smtpOf(fields: MailServerFields) {
  const user = fields["smtp.user"] === "" ? null : fields["smtp.user"];
  const auth = fields["smtp.auth"];
  const isApp = auth === "microsoft";
  return {
    host: fields["smtp.host"].trim(),
    port: fields["smtp.port"],
    tls: fields["smtp.tls"],
    user,
    auth,
    ...secret("password", auth === "password" && user !== null, fields["smtp.password"]),
    tenant: (isApp && fields["smtp.tenant"].trim()) || null,
    clientId: (isApp && fields["smtp.clientId"].trim()) || null,
    ...secret("clientSecret", isApp, fields["smtp.clientSecret"]),
    ...secret("serviceAccountKey", auth === "google", fields["smtp.serviceAccountKey"]),
    from: fields["smtp.from"],
  };
}

/** Of another way of signing in it goes with that way. */
function secret(name: string, isOfThisWay: boolean, value: string | null) {
  if (!isOfThisWay) return { [name]: null };
  return value === "" ? {} : { [name]: value };
}

export function removeMailServer(organizationId: string, settings: Settings) {
  const query = settingsQuery(organizationId);
  withUndo("Removed the mail server", {
    hide: () =>
      queryClient.setQueryData(query.queryKey, { ...settings, smtp: null, secretsSet: [] }),
    restore: () => queryClient.setQueryData(query.queryKey, settings),
    commit: () => dataOf(v1.settings.patch({ smtp: null })),
  });
}
