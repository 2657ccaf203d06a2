/** Wire format of status pages, their sections, previews and host checks. */
import { z } from "zod";
import {
  bodySchema,
  HttpUrl,
  Id,
  integer,
  line,
  nullable,
  optionalParagraphs,
  toPatchShape,
  secret,
  SlaTarget,
  Timestamp,
  TimeZone,
  reservedSlugs,
} from "../core/fields.ts";
import { pageLanguages } from "../core/languages.ts";
import { statusPageBounds } from "../core/limits.ts";
import { Role } from "../core/roles.ts";
import { audiences, visibilities } from "./access-rules.ts";
import { defaultLook, Look, LookPatch } from "./look-schema.ts";

const maxMonitors = statusPageBounds.monitorsInSections.value;

export const slug = z
  .string()
  .regex(
    /^(?=.{1,63}$)[a-z0-9]+(?:-[a-z0-9]+)*$/,
    "must have 1 to 63 of a-z, 0-9 and single hyphens between them",
  )
  .refine((text) => !reservedSlugs.has(text), "is a reserved word")
  .meta({ example: "payments", description: "The page's address: `/status/payments`." });

const Theme = z.enum(["auto", "light", "dark"]).meta({ id: "StatusPageTheme" });

const Visibility = z.enum(visibilities).meta({
  id: "StatusPageVisibility",
  description:
    "`password` asks visitors for the password, `signed-in` for their account, `addresses` admits clients in `allowedAddresses`, and `hidden` shows the page to no one. Access tokens open every page that is not hidden.",
});

const Audience = z.enum(audiences).meta({
  id: "StatusPageAudience",
  description:
    "`signed-in` omits the section, its monitors, and incidents and maintenance of only these for all other visitors.",
});

const allowedRoles = z
  .array(Role)
  .max(Role.options.length)
  .transform((roles) => Role.options.filter((role) => roles.includes(role)))
  .meta({
    example: ["admin", "owner"],
    description:
      "Roles that count as signed in on this page, for `visibility` and for the `audience` of its sections. Empty for all members.",
  });

const addressIssue = "must be an IP address or a CIDR range, such as 192.168.1.0/24";

const allowedAddresses = z
  .array(
    z
      .union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: addressIssue })
      .refine((text) => !text.endsWith("/0"), "must not be a range of all addresses"),
  )
  .max(statusPageBounds.allowedAddresses.value)
  .transform((all) => [...new Set(all.map((one) => one.toLowerCase()))])
  .meta({
    example: ["192.168.0.0/16", "2001:db8::/32"],
    description:
      "Client addresses and ranges that can open the page. Required while `visibility` is `addresses`. Behind a proxy, see `--trust-proxy`.",
  });

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const hostName = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`, "i");

/** Rejects names with a numeric last label, which browsers parse as an IPv4 address (WHATWG URL §3.5). */
function isPublicName(text: string): boolean {
  const last = text.split(".").at(-1)?.toLowerCase() ?? "";
  return hostName.test(text) && last !== "localhost" && !/^(?:\d+|0x[0-9a-f]*)$/.test(last);
}

const visitorProviders = z
  .array(
    z.strictObject({
      providerId: Id,
      domains: z
        .array(z.string().max(253).refine(isPublicName, "must be a domain, such as team.example"))
        .max(statusPageBounds.visitorDomains.value)
        .transform((domains) => [...new Set(domains.map((one) => one.toLowerCase()))])
        .default([])
        .meta({
          description:
            "Domains of verified e-mail addresses. Empty for all accounts of the provider.",
        }),
    }),
  )
  .max(statusPageBounds.visitorProviders.value)
  .refine(
    (all) => new Set(all.map(({ providerId }) => providerId)).size === all.length,
    "must name each provider once",
  )
  .meta({
    description:
      "Sign-in providers of the organization whose accounts count as signed in on this page, without access to the admin page.",
  });

const hosts = z
  .array(
    z
      .string()
      .refine(isPublicName, "must be a host name in ASCII, without port, and no IP address"),
  )
  .max(10)
  .transform((names) => [...new Set(names.map((name) => name.toLowerCase()))])
  .meta({
    example: ["status.team.example"],
    description:
      "Host names that show the page at `/`, stored in lower case. Each belongs to at most one page. Rejected are names of the appliance itself (`localhost`, its host name, `--allowed-host` and `--url`), IP addresses and names without a dot.",
  });

const Folding = z.enum(["auto", "folded", "open"]).meta({ id: "StatusPageFolding" });

const publicName = "Shown instead of the monitor's own name.";

export const NewStatusPageSection = z
  .strictObject({
    name: line(255).nullable().default(null).meta({
      description: "Required without a `groupId`; with one, shown instead of the group's own name.",
    }),
    groupId: Id.nullable()
      .default(null)
      .meta({ description: "Shows all monitors of the group, in its order." }),
    monitors: z
      .array(
        z.strictObject({
          id: Id,
          name: line(255).nullable().default(null).meta({ description: publicName }),
          showDescription: z.boolean().default(false).meta({
            description:
              "Whether the page shows the monitor's description. By default it is internal.",
          }),
          link: HttpUrl.nullable().default(null).meta({
            description: "Address that the monitor's name links to on the page.",
          }),
        }),
      )
      .max(maxMonitors)
      .default([])
      .meta({
        description:
          "Without a `groupId`, the monitors of the section. With one, public names and descriptions of some monitors of the group.",
      }),
    nested: z.boolean().default(false).meta({
      description:
        "Whether it is part of the closest earlier section that is not nested. Its audience is its own.",
    }),
    folding: Folding.default("auto").meta({
      description:
        "Whether visitors first see only a line with the worst state. `auto` folds what is up on long pages.",
    }),
    audience: Audience.default("everyone"),
  })
  .meta({ id: "NewStatusPageSection" });

const sections = z
  .array(NewStatusPageSection)
  .max(100)
  .superRefine((all, context) => {
    const issue = (path: PropertyKey[], message: string) =>
      context.addIssue({ code: "custom", path, message });
    const groups = new Set<string>();
    const monitors = new Set<string>();
    let count = 0;
    if (all[0]?.nested === true) issue([0, "nested"], "must be false for the first section");
    for (const [index, { name, groupId, monitors: listed }] of all.entries()) {
      if (groupId === null && name === null)
        issue([index, "name"], "is required in a section without groupId");
      if (groupId !== null && groups.has(groupId))
        issue([index, "groupId"], "must name a group only once on a page");
      if (groupId !== null) groups.add(groupId);
      count += listed.length;
      for (const [position, { id }] of listed.entries()) {
        if (monitors.has(id))
          issue([index, "monitors", position, "id"], "must name a monitor only once on a page");
        monitors.add(id);
      }
    }
    if (count > maxMonitors) issue([], `must have at most ${maxMonitors} monitors in all`);
  })
  .meta({ description: `At most ${maxMonitors} monitors in all, each at most once.` });

const PageLanguage = z.enum(pageLanguages).meta({ id: "StatusPageLanguage" });

const languages = z
  .array(PageLanguage)
  .max(pageLanguages.length)
  .transform((tags) => [...new Set(tags)])
  .meta({
    description:
      "Languages that visitors can choose besides the default. With at least one, the page follows `Accept-Language` and `?lang=`.",
    example: ["de", "fr"],
  });

/** Editable fields of a status page. */
export const statusPageFields = {
  slug,
  title: line(255).meta({ example: "Payments" }),
  description: optionalParagraphs(2000)
    .default("")
    .meta({ description: "Text at the top of the page, in Markdown." }),
  accentColor: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, "must be a color as #rrggbb")
    .nullable()
    .default(null)
    .meta({ example: "#2563eb" }),
  theme: Theme.default("auto"),
  look: Look.default(defaultLook).meta({
    description: "Colors, font, shapes, header and lists of the page.",
  }),
  visibility: Visibility.default("public"),
  password: secret()
    .nullable()
    .default(null)
    .meta({ description: "Required while `visibility` is `password`." }),
  allowedRoles: allowedRoles.default([]),
  visitorProviders: visitorProviders.default([]),
  allowedAddresses: allowedAddresses.default([]),
  indexing: z.boolean().default(true).meta({
    description:
      "Whether search engines may list the page. Otherwise it has `noindex`, and `robots.txt` at its own host names disallows it.",
  }),
  sections: sections.default([]),
  hosts: hosts.default([]),
  showLatency: z.boolean().default(false),
  showPaused: z.boolean().default(true).meta({
    description:
      "Whether the page lists paused monitors. Without them, sections that have no other monitor are omitted too. Incidents still name them.",
  }),
  countImpacts: z.boolean().default(false).meta({
    description:
      "Whether impacts of incidents count in the page's uptime and daily bars. On each day, the longer of the two times counts: impacts or failed checks.",
  }),
  chatSubscriptions: z.boolean().default(false).meta({
    description:
      "Whether visitors of a public page, or of one with a password, can subscribe a webhook of Slack, Microsoft Teams or Discord. The channel gets updates after someone follows the link that is posted there.",
  }),
  historyDays: integer(1, 365).default(90).meta({
    description:
      "Days that the page shows. It shows up to 5,000 monitors and 100,000 days in total, so with very many monitors each has fewer days.",
  }),
  slaTarget: nullable(SlaTarget).meta({
    example: 0.999,
    description:
      "Uptime target of reports about the page; the page does not show it. Null for the target of the organization.",
  }),
  timeZone: TimeZone.default("UTC"),
  language: PageLanguage.default("en").meta({ description: "The default language." }),
  languages: languages.default([]),
};

const readOnly = [
  "id",
  "default",
  "logoUrl",
  "faviconUrl",
  "fontUrl",
  "secretsSet",
  "createdAt",
  "updatedAt",
];

export const NewStatusPage = bodySchema(
  readOnly,
  z
    .strictObject(statusPageFields)
    .meta({ id: "NewStatusPage", example: { slug: "payments", title: "Payments" } }),
);
export type NewStatusPage = z.infer<typeof NewStatusPage>;

export const StatusPagePatch = bodySchema(
  readOnly,
  z
    .strictObject({ ...toPatchShape(statusPageFields), look: LookPatch.optional() })
    .meta({ id: "StatusPagePatch", example: { hosts: ["status.team.example"] } }),
);
export type StatusPagePatch = z.infer<typeof StatusPagePatch>;

export const PreviewQuery = z.strictObject({ audience: Audience.default("signed-in") });

/** A sign-in that a status page started, as sealed by the page. */
export const VisitStart = z.strictObject({ visit: z.string().min(1).max(2_000) });
export const VisitAddress = z.object({ url: z.string() });

export const StatusPagePreview = z.object({
  html: z
    .string()
    .meta({ description: "The HTML document, without scripts and without its look." }),
  style: z
    .record(z.string(), z.string())
    .meta({ description: "CSS custom properties of the document's root element." }),
  stylesheet: z.string().nullable().meta({ description: "CSS of the look; null for none." }),
});
export type StatusPagePreview = z.infer<typeof StatusPagePreview>;

export const HostToCheck = z.strictObject({ host: z.string().max(253) });

export const HostCheck = z.object({
  host: z.string(),
  address: z.string().meta({ description: "Address of the page under this name." }),
  record: z
    .object({ type: z.enum(["A", "AAAA", "CNAME"]), value: z.string() })
    .nullable()
    .meta({
      description: "The DNS record that the name needs without a reverse proxy.",
    }),
  works: z.boolean(),
  message: z
    .string()
    .meta({ description: "Result in one sentence: the first problem, or that the name works." }),
  certificateExpiresAt: Timestamp.nullable(),
});
export type HostCheck = z.infer<typeof HostCheck>;

export const StatusPageSection = z
  .object({
    name: z.string().nullable(),
    groupId: Id.nullable(),
    monitors: z.array(
      z.object({
        id: Id,
        name: z.string().nullable(),
        showDescription: z.boolean(),
        link: z.string().nullable(),
      }),
    ),
    nested: z.boolean(),
    folding: Folding,
    audience: Audience,
  })
  .meta({ id: "StatusPageSection" });
export type StatusPageSection = z.infer<typeof StatusPageSection>;

export const StatusPage = z
  .object({
    id: Id,
    slug: z.string(),
    default: z.boolean().meta({
      description: "True for the organization's default page, which can't be deleted.",
    }),
    title: z.string(),
    description: z.string(),
    accentColor: z.string().nullable(),
    theme: Theme,
    look: Look,
    visibility: Visibility,
    allowedRoles: z.array(Role),
    visitorProviders: z.array(z.object({ providerId: Id, domains: z.array(z.string()) })),
    allowedAddresses: z.array(z.string()),
    indexing: z.boolean(),
    sections: z.array(StatusPageSection),
    hosts: z.array(z.string()),
    showLatency: z.boolean(),
    showPaused: z.boolean(),
    countImpacts: z.boolean(),
    chatSubscriptions: z.boolean(),
    historyDays: z.int(),
    slaTarget: z.number().nullable(),
    timeZone: z.string(),
    language: PageLanguage,
    languages: z.array(PageLanguage),
    logoUrl: z.string().nullable().meta({ description: "Path of the logo; null without one." }),
    faviconUrl: z.string().nullable().meta({
      description: "Path of the icon of browser tabs; null for a dot in the color of the state.",
    }),
    fontUrl: z
      .string()
      .nullable()
      .meta({ description: "Path of the uploaded font; null without one." }),
    secretsSet: z.array(z.string()).meta({
      description: "Names of the secret fields that are set; their values are never shown.",
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: "StatusPage",
    description: "The public page of chosen groups and monitors.",
    example: {
      id: "01a1fb99-5e83-7f22-8d4b-6c8e0f2a4b57",
      slug: "payments",
      default: false,
      title: "Payments",
      description: "",
      accentColor: "#2563eb",
      theme: "auto",
      look: defaultLook,
      visibility: "public",
      allowedRoles: [],
      visitorProviders: [],
      allowedAddresses: [],
      indexing: true,
      sections: [
        {
          name: null,
          groupId: "01a1fb99-2b10-7c44-8f0e-6a3d5b7c9e12",
          monitors: [],
          nested: false,
          folding: "auto",
          audience: "everyone",
        },
        {
          name: "Partners",
          groupId: null,
          monitors: [
            {
              id: "01a1fb99-3c58-7a90-b1d2-0f4e6a8c2b35",
              name: "Card network",
              showDescription: false,
              link: null,
            },
          ],
          nested: false,
          folding: "auto",
          audience: "signed-in",
        },
      ],
      hosts: ["status.team.example"],
      showLatency: false,
      showPaused: true,
      countImpacts: false,
      chatSubscriptions: false,
      historyDays: 90,
      slaTarget: 0.999,
      timeZone: "Europe/Berlin",
      language: "en",
      languages: ["de"],
      logoUrl: null,
      faviconUrl: null,
      fontUrl: null,
      secretsSet: [],
      createdAt: "2026-11-20T23:02:00.000Z",
      updatedAt: "2026-11-20T23:02:00.000Z",
    },
  });
export type StatusPage = z.infer<typeof StatusPage>;
