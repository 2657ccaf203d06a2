import { z } from "zod";
import { noWeaker, sameHost, sameIn, sameValue } from "../base/destinations.ts";
import {
  bodyOf,
  EmailAddress,
  Host,
  line,
  patchOf,
  Port,
  secret,
  Timestamp,
} from "../base/fields.ts";
import { kind } from "../base/kinds.ts";

const Tls = z.enum(["starttls", "tls", "none"]).meta({
  description:
    "`starttls` (port 587) asks for encryption and goes no further without it, `tls` (port 465) begins with it, `none` is for relays on the LAN.",
});

/** A sender: an address, alone or as `Name <address>`. */
const From = line(320)
  .refine(
    (text) => EmailAddress.safeParse(/^[^<>]*<([^<>]+)>$/.exec(text)?.[1] ?? text).success,
    "must be an e-mail address, alone or as Name <address>",
  )
  .meta({ example: "Signalbox <signalbox@team.example>" });

const smtp = {
  host: Host,
  port: Port.default(587),
  user: line(320).nullable().default(null),
  password: secret().nullable().default(null),
  from: From,
  tls: Tls.default("starttls"),
};

/** The mail server that an organization sends through. */
export const SmtpSettings = z.strictObject(smtp).meta({ id: "SmtpSettings" });
export type SmtpSettings = z.output<typeof SmtpSettings>;

const sameMailServer = sameIn({
  host: sameHost,
  port: sameValue,
  tls: noWeaker("none", "starttls", "tls"),
});

export const settingsKinds = {
  organization: kind(
    { smtp: SmtpSettings.nullable() },
    { "smtp.password": { smtp: sameMailServer } },
  ),
};

/** A patch of the mail server: absent keeps, null removes it all. */
export const SmtpPatch = z.strictObject(patchOf(smtp)).nullable().meta({ id: "SmtpPatch" });

export const SettingsPatch = bodyOf(
  ["secretsSet", "updatedAt"],
  z.strictObject({ smtp: SmtpPatch.optional() }).meta({
    id: "SettingsPatch",
    example: {
      smtp: { host: "mail.lan", port: 587, user: "signalbox", from: "signalbox@team.example" },
    },
  }),
);
export type SettingsPatch = z.output<typeof SettingsPatch>;

export const Settings = z
  .object({
    smtp: z
      .object({
        host: z.string(),
        port: z.int(),
        user: z.string().nullable(),
        from: z.string(),
        tls: Tls,
      })
      .nullable()
      .meta({ description: "The mail server of e-mail channels; null where none is set." }),
    secretsSet: z.array(z.string()).meta({
      description: "Paths of the secret fields that are set; their values are never shown.",
    }),
    updatedAt: Timestamp,
  })
  .meta({
    id: "Settings",
    description: "What an organization sets for itself.",
    example: {
      smtp: {
        host: "mail.lan",
        port: 587,
        user: "signalbox",
        from: "signalbox@team.example",
        tls: "starttls",
      },
      secretsSet: ["smtp.password"],
      updatedAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type Settings = z.infer<typeof Settings>;
