/** Wire format of the look of a status page: its colors, font, shapes, header and lists. */
import { z } from "zod";
import { HttpUrl, line, optionalParagraphs, paragraphs, toPatchShape } from "../core/fields.ts";
import { statusPageBounds } from "../core/limits.ts";

const color = z
  .string()
  .regex(/^#[0-9a-f]{6}$/i, "must be a color as #rrggbb")
  .nullable()
  .default(null)
  .meta({ example: "#f6f7fb" });

const noGrounds = { background: null, surface: null, text: null };
const Grounds = z
  .strictObject({ background: color, surface: color, text: color })
  .meta({ id: "StatusPageColors" });

const noStates = { up: null, degraded: null, down: null, maintenance: null, none: null };
const StateColors = z
  .strictObject({ up: color, degraded: color, down: color, maintenance: color, none: color })
  .meta({ id: "StatusPageStateColors" });

const links = z
  .array(z.strictObject({ label: line(60), url: HttpUrl }))
  .max(statusPageBounds.links.value)
  .meta({ example: [{ label: "Help", url: "https://team.example/help" }] });

/** An HTTP origin. Excludes characters with a meaning in a Content-Security-Policy. */
const originPattern = /^https?:\/\/[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::\d{1,5})?$/i;

/** Fields of a look. A patch replaces only the named ones. */
export const lookFields = {
  colors: Grounds.default(noGrounds).meta({
    description:
      "Colors of the light theme; null for the default. Rejected if texts would have a contrast below 4.5 (WCAG 2.2).",
  }),
  darkColors: Grounds.default(noGrounds).meta({ description: "Colors of the dark theme." }),
  stateSet: z.enum(["standard", "color-blind"]).default("standard").meta({
    description: "`color-blind` has state colors that people with color blindness can distinguish.",
  }),
  stateColors: StateColors.default(noStates).meta({
    description:
      "State colors for both themes; null for the color of `stateSet`. Like `accentColor`, they are mixed with as little black or white as each theme needs for readable text.",
  }),
  font: z.enum(["inter", "system", "serif", "mono"]).default("inter"),
  corners: z.enum(["round", "small", "square"]).default("round"),
  logoSize: z.enum(["small", "medium", "large"]).default("medium").meta({
    description: "Height of the logo: 24, 32 or 56 pixels.",
  }),
  header: z.enum(["left", "centered"]).default("left"),
  layout: z.enum(["list", "compact", "grid"]).default("list").meta({
    description:
      "Layout of the monitors. `compact` and `grid` show the last 30 days, as narrow windows do.",
  }),
  showUptime: z.boolean().default(true).meta({
    description:
      "Whether monitors have their uptime in percent. Days, JSON and badges have it in any case.",
  }),
  showIcons: z.boolean().default(true).meta({
    description: "Whether states have an icon next to their word.",
  }),
  headerLinks: links.default([]),
  footerLinks: links.default([]),
  banner: z
    .strictObject({
      text: paragraphs(500).meta({
        description: "In Markdown.",
        example: "We are moving on Friday.",
      }),
      tone: z.enum(["neutral", "good", "notice", "warning", "critical"]).default("neutral"),
    })
    .nullable()
    .default(null)
    .meta({ description: "An announcement at the top of the page; null without one." }),
  css: optionalParagraphs(statusPageBounds.css.value).default("").meta({
    example: ".hero { border: 2px solid var(--accent) }",
    description:
      "Further CSS for colors, fonts, spacing, borders and sizes. It can't load files, and can't use properties such as `position`, `display` and `z-index`. The page for subscribing does not use it.",
  }),
  embedOrigins: z
    .array(
      z.string().max(300).regex(originPattern, "must be an origin, such as https://team.example"),
    )
    .max(statusPageBounds.embedOrigins.value)
    .overwrite((all) => [...new Set(all.map((one) => one.toLowerCase()))])
    .default([])
    .meta({
      example: ["https://team.example"],
      description:
        "Origins whose pages can show the page, or its widget at `/embed`, in an `<iframe>` (CSP `frame-ancestors`).",
    }),
};

export const Look = z.strictObject(lookFields).meta({ id: "StatusPageLook" });
export type Look = z.output<typeof Look>;

export const defaultLook: Look = Look.parse({});

/** A change to a look: absent fields keep their values. */
export const LookPatch = z
  .strictObject(toPatchShape(lookFields))
  .meta({ id: "StatusPageLookPatch" });
