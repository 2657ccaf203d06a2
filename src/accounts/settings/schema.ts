/** Wire format of an organization's settings, such as its mail server. */
import { z } from "zod";
import {
  createStrengthCheck,
  isSameHost,
  createFieldsCheck,
  isSameValue,
} from "../../core/security/destinations.ts";
import { reportBounds } from "../../core/limits.ts";
import { toAsciiEmail } from "../../core/text/email-address.ts";
import {
  bodySchema,
  EmailAddress,
  Host,
  Id,
  line,
  toPatchShape,
  Port,
  secret,
  Timestamp,
  nullable,
} from "../../core/fields.ts";
import { pageLanguages } from "../../core/languages.ts";
import { parseJsonOrNull } from "../../core/collections/objects.ts";
import { defineKind } from "../../core/kinds.ts";
import { pemSchema } from "../../core/security/pem.ts";

const Tls = z.enum(["starttls", "tls", "none"]).meta({
  description:
    "`starttls` (port 587) requires encryption before anything is sent, `tls` (port 465) begins with it, `none` is for relays on the LAN.",
});

/** A sender: an e-mail address, alone or as `Name <address>`. */
const From = line(320)
  .refine(
    (text) => toAsciiEmail(extractAddress(text)) !== null,
    "must be an e-mail address, alone or as Name <address>",
  )
  .overwrite((text) =>
    text.replace(extractAddress(text), (address) => toAsciiEmail(address) ?? address),
  )
  .meta({ example: "Signalbox <signalbox@team.example>" });

function extractAddress(text: string): string {
  return /^[^<>]*<([^<>]+)>$/.exec(text)?.[1] ?? text;
}

const Auth = z.enum(["password", "microsoft", "google"]).meta({
  description:
    "How `user` signs in: by its `password`; at Microsoft 365 by an app of Entra ID (`tenant`, `clientId`, `clientSecret`), at Google Workspace by a service account (`serviceAccountKey`), both with OAuth 2.0 and for the mailbox that `user` names. The fields of the other methods are cleared.",
});

/** The fields that are used from a Google service account file. Its URLs are ignored. */
const ServiceAccount = z.object({
  type: z.literal("service_account"),
  client_email: z.email().max(254),
  private_key_id: z.string().max(200).optional(),
  private_key: z
    .string()
    .max(8_192)
    .regex(/^-----BEGIN PRIVATE KEY-----\s[A-Za-z0-9+/=\s]+-----END PRIVATE KEY-----\s*$/),
});
export type ServiceAccountKey = z.output<typeof ServiceAccount>;

const ServiceAccountKey = z
  .string()
  .max(16_384)
  .transform((text, context) => {
    const key = ServiceAccount.safeParse(parseJsonOrNull(text));
    if (key.success) return JSON.stringify(key.data);
    context.addIssue({
      code: "custom",
      message: "must be the JSON key of a service account, as downloaded from Google's console",
    });
    return z.NEVER;
  })
  .meta({ writeOnly: true });

const smtp = {
  host: Host,
  port: Port.default(587),
  user: nullable(line(320)),
  auth: Auth.default("password"),
  password: nullable(secret()),
  tenant: nullable(
    z
      .string()
      .regex(
        /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/,
        "must be a tenant's ID or domain",
      ),
  ).meta({ example: "team.onmicrosoft.com" }),
  clientId: nullable(line(100)),
  clientSecret: nullable(secret()),
  serviceAccountKey: nullable(ServiceAccountKey),
  from: From,
  tls: Tls.default("starttls"),
};

/** Required fields of each authentication method, in addition to the user. */
const fieldsOfMethod = {
  password: ["password"],
  microsoft: ["tenant", "clientId", "clientSecret"],
  google: ["serviceAccountKey"],
} as const;

/** The mail server of an organization. */
export const SmtpSettings = z
  .strictObject(smtp)
  .superRefine((settings, context) => {
    const { auth, user, password, tls } = settings;
    const issue = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (auth === "password") {
      if (user === null && password !== null) issue("user", "is required with a password");
      return;
    }
    if (user === null) issue("user", "is required: it names the mailbox to send as");
    for (const name of fieldsOfMethod[auth])
      if (settings[name] === null) issue(name, `is required when auth is ${auth}`);
    if (tls === "none") issue("tls", "must be starttls or tls: a token is never sent unencrypted");
  })
  .meta({ id: "SmtpSettings" });
export type SmtpSettings = z.output<typeof SmtpSettings>;

/** Removes the fields of other authentication methods. */
function clearOtherMethods({ smtp, ...record }: Record<string, unknown>): Record<string, unknown> {
  if (typeof smtp !== "object" || smtp === null) return { ...record, smtp };
  const { auth = "password" } = smtp as { auth?: unknown };
  const others = Object.entries(fieldsOfMethod).flatMap(([way, names]) =>
    way === auth ? [] : names,
  );
  return {
    ...record,
    smtp: { ...smtp, ...Object.fromEntries(others.map((name) => [name, null])) },
  };
}

const sameMailServer = createFieldsCheck({
  host: isSameHost,
  port: isSameValue,
  tls: createStrengthCheck("none", "starttls", "tls"),
});

export const settingsKinds = {
  organization: defineKind(
    { smtp: SmtpSettings.nullable() },
    {
      "smtp.password": { smtp: sameMailServer },
      // Tokens from these secrets are sent to the mail server.
      "smtp.clientSecret": { smtp: sameMailServer },
      "smtp.serviceAccountKey": { smtp: sameMailServer },
    },
    {},
    clearOtherMethods,
  ),
};

/** A patch of the mail server. An absent value leaves it unchanged; null removes it. */
export const SmtpPatch = z.strictObject(toPatchShape(smtp)).nullable().meta({ id: "SmtpPatch" });

const keepDeletedDays = z.int().min(0).max(365).meta({
  description:
    "Days for which deleted records can be restored. With 0 they are removed within a minute.",
});

const oneAlertPerCause = z.boolean().meta({
  description:
    "Whether monitors that go down within a minute for the same cause, such as an unreachable host, are reported in one alert.",
});

/** Whether time in maintenance is left out of the uptime, or counts as down time. */
export const MaintenanceTime = z.enum(["excluded", "down"]).meta({
  description:
    "Time in maintenance: `excluded` from the uptime, or counted as `down` time. Default: `excluded`.",
});
export type MaintenanceTime = z.output<typeof MaintenanceTime>;

const language = z.enum(pageLanguages).nullable().default(null);

/** A recipient of a report: an address, or a person of the organization. */
const ReportRecipient = z
  .strictObject({
    email: EmailAddress.nullable().default(null),
    personId: Id.nullable().default(null).meta({
      description: "A person of the organization, at the address of their account.",
    }),
    language: language.meta({
      description: "Language of the mail. Null for the language of the status page, or English.",
    }),
  })
  .refine(({ email, personId }) => (email === null) !== (personId === null), {
    path: ["email"],
    message: "or personId is required, and not both",
  })
  .meta({ id: "ReportRecipient" });
export type ReportRecipient = z.output<typeof ReportRecipient>;

/** Identifies a recipient, even when the address of the person changes. */
export const getRecipientKey = ({ email, personId }: ReportRecipient) =>
  personId ?? email?.toLowerCase() ?? "";

const ReportMail = z
  .strictObject({
    interval: z.enum(["weekly", "monthly"]).meta({
      description: "`weekly`: from Monday to Sunday.",
    }),
    groupId: Id.nullable().default(null),
    statusPageId: Id.nullable().default(null).meta({
      description: "Without a group or a page, the report is about the whole organization.",
    }),
    slaTarget: z.number().gt(0).max(1).nullable().default(null).meta({
      description:
        "Uptime target, such as 0.999. Null for the target of the group, the page or the organization.",
    }),
    maintenance: MaintenanceTime.default("excluded"),
    to: z
      .array(ReportRecipient)
      .min(1)
      .max(reportBounds.recipients.value)
      .refine((all) => new Set(all.map(getRecipientKey)).size === all.length, {
        message: "must name each recipient once",
      }),
  })
  .refine(({ groupId, statusPageId }) => groupId === null || statusPageId === null, {
    path: ["groupId"],
    message: "cannot be combined with statusPageId",
  })
  .meta({ id: "ReportMail" });
export type ReportMail = z.output<typeof ReportMail>;

const subjectOf = ({ interval, groupId, statusPageId }: ReportMail) =>
  JSON.stringify([interval, groupId, statusPageId]);

const reportMails = z
  .array(ReportMail)
  .max(reportBounds.mails.value)
  .refine((all) => new Set(all.map(subjectOf)).size === all.length, {
    message: "must have one entry per interval and group or page",
  })
  .meta({ description: "Reports that are sent by mail when their week or month is over." });

export const SettingsPatch = bodySchema(
  ["secretsSet", "updatedAt"],
  z
    .strictObject({
      smtp: SmtpPatch.optional(),
      certificateAuthorities: pemSchema("CERTIFICATE", 65_536).nullable().optional().meta({
        description:
          "Certificates of additional authorities, in PEM, one after the other; null for none.",
      }),
      keepDeletedDays: keepDeletedDays.optional(),
      oneAlertPerCause: oneAlertPerCause.optional(),
      reportMails: reportMails.optional(),
    })
    .meta({
      id: "SettingsPatch",
      example: {
        smtp: { host: "mail.lan", port: 587, user: "signalbox", from: "signalbox@team.example" },
      },
    }),
);
export type SettingsPatch = z.output<typeof SettingsPatch>;

/** A trusted certificate authority: subject and expiry of its certificate, and the certificate. */
export const TrustedAuthority = z.object({
  name: z.string(),
  expiresAt: Timestamp,
  pem: z.string(),
});
export type TrustedAuthority = z.infer<typeof TrustedAuthority>;

export const Settings = z
  .object({
    smtp: z
      .object({
        host: z.string(),
        port: z.int(),
        user: z.string().nullable(),
        auth: Auth,
        tenant: z.string().nullable(),
        clientId: z.string().nullable(),
        from: z.string(),
        tls: Tls,
      })
      .nullable()
      .meta({ description: "The mail server of e-mail channels; null if none is set." }),
    certificateAuthorities: z.string().nullable().meta({
      description:
        "Certificates of authorities, in PEM, that the checks of all monitors trust in addition to the public ones; null for none.",
    }),
    keepDeletedDays,
    oneAlertPerCause,
    reportMails: z.array(
      z.object({
        interval: z.enum(["weekly", "monthly"]),
        groupId: Id.nullable(),
        statusPageId: Id.nullable(),
        slaTarget: z.number().nullable(),
        maintenance: MaintenanceTime,
        to: z.array(
          z.object({
            email: z.string().nullable(),
            personId: Id.nullable(),
            language: z.enum(pageLanguages).nullable(),
          }),
        ),
      }),
    ),
    secretsSet: z.array(z.string()).meta({
      description: "Paths of the secret fields that are set; their values are never shown.",
    }),
    updatedAt: Timestamp,
  })
  .meta({
    id: "Settings",
    description: "Settings of an organization.",
    example: {
      smtp: {
        host: "mail.lan",
        port: 587,
        user: "signalbox",
        auth: "password",
        tenant: null,
        clientId: null,
        from: "signalbox@team.example",
        tls: "starttls",
      },
      certificateAuthorities: null,
      keepDeletedDays: 30,
      oneAlertPerCause: true,
      reportMails: [
        {
          interval: "monthly",
          groupId: null,
          statusPageId: null,
          slaTarget: 0.999,
          maintenance: "excluded",
          to: [{ email: "management@team.example", personId: null, language: "de" }],
        },
      ],
      secretsSet: ["smtp.password"],
      updatedAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type Settings = z.infer<typeof Settings>;
