/** Converts between the mail server settings and their form. */
import type { Settings } from "../../../../src/accounts/settings/schema.ts";
import { unwrapData, v1 } from "../../../data/client.ts";
import { queryClient } from "../../../data/query.ts";
import { createSettingsQuery } from "../data.ts";

export type Auth = "password" | "microsoft" | "google";

/** Field names are the paths in error responses of the API. */
export type MailServerFields = {
  "smtp.host": string;
  "smtp.port": number;
  "smtp.tls": "starttls" | "tls" | "none";
  "smtp.user": string;
  "smtp.auth": Auth;
  "smtp.tenant": string;
  "smtp.clientId": string;
  /**
   * Empty leaves the stored secret unchanged, null clears it. The same applies to the other
   * secrets.
   */
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

export const defaultPorts = { starttls: 587, tls: 465, none: 25 };

/** Default SMTP hosts of providers that authenticate by access token. */
export const defaultHosts: Record<Auth, string> = {
  password: "",
  microsoft: "smtp.office365.com",
  google: "smtp.gmail.com",
};

export function toFields({ smtp }: Settings): MailServerFields {
  const { host = "", port = 587, tls = "starttls", user = "", from = "" } = smtp ?? {};
  const { auth = "password", tenant, clientId } = smtp ?? {};
  return {
    "smtp.host": host,
    "smtp.port": port,
    "smtp.tls": tls,
    "smtp.user": user ?? "",
    // Secrets are never sent to the page. Empty leaves them unchanged.
    "smtp.password": "",
    "smtp.clientSecret": "",
    "smtp.serviceAccountKey": "",
    "smtp.auth": auth,
    "smtp.tenant": tenant ?? "",
    "smtp.clientId": clientId ?? "",
    "smtp.from": from,
  };
}

export function buildSmtp(fields: MailServerFields) {
  const user = fields["smtp.user"] === "" ? null : fields["smtp.user"];
  const auth = fields["smtp.auth"];
  const isApp = auth === "microsoft";
  return {
    host: fields["smtp.host"].trim(),
    port: fields["smtp.port"],
    tls: fields["smtp.tls"],
    user,
    auth,
    ...buildSecretPatch("password", auth === "password" && user !== null, fields["smtp.password"]),
    tenant: (isApp && fields["smtp.tenant"].trim()) || null,
    clientId: (isApp && fields["smtp.clientId"].trim()) || null,
    ...buildSecretPatch("clientSecret", isApp, fields["smtp.clientSecret"]),
    ...buildSecretPatch("serviceAccountKey", auth === "google", fields["smtp.serviceAccountKey"]),
    from: fields["smtp.from"],
  };
}

/** The body's field of a secret. Clears it if it belongs to another authentication method. */
function buildSecretPatch(name: string, isOfThisWay: boolean, value: string | null) {
  if (!isOfThisWay) return { [name]: null };
  return value === "" ? {} : { [name]: value };
}

/** Removes the mail server. Its password can't be restored. */
export async function removeMailServer(organizationId: string) {
  const settings = await unwrapData(v1.settings.patch({ smtp: null }));
  queryClient.setQueryData(createSettingsQuery(organizationId).queryKey, settings);
}
