/** Converts Gatus' page to a status page, and its announcements to incidents. */
import type { Fields } from "../../core/collections/objects.ts";
import { toLine } from "../../core/text/words.ts";
import type { Planned } from "../plan.ts";
import { clean, paragraphs } from "../values.ts";
import type { Section } from "./section.ts";

const maxMonitors = 1_000;
const maxSections = 100;

/** Converts `ui` to a status page that contains all monitors in groups. */
export function pageOf(ui: Section, members: ReadonlyMap<string, readonly string[]>): Planned {
  const texts = (...keys: string[]) =>
    keys.map((key) => clean(ui.text(key))).filter((one) => one !== "");
  const [title = "Status"] = texts("dashboard-heading", "header", "title");
  const [, ...others] = texts("dashboard-heading", "header", "title");
  const links = ui
    .maps("buttons", "button")
    .map((button) => `[${clean(button.text("name"))}](${clean(button.text("link"))})`);
  const link = clean(ui.text("link"));
  const description = [
    ...texts("dashboard-subheading", "description"),
    ...(link === "" ? [] : [link]),
    links.join(" · "),
  ].filter((one) => one !== "");
  const dark = ui.flag("dark-mode");
  let left = maxMonitors;
  const sections = [...members].slice(0, maxSections).flatMap(([group, ids]) => {
    const shown = ids.slice(0, left);
    left -= shown.length;
    return shown.length === 0 ? [] : [{ name: toLine(group, 255) || "Services", monitors: shown }];
  });
  const total = [...members.values()].reduce((sum, ids) => sum + ids.length, 0);
  const shown = sections.reduce((sum, { monitors }) => sum + monitors.length, 0);
  return {
    noun: "status-page",
    externalId: "ui",
    name: toLine(title, 255),
    fields: {
      slug: "gatus",
      title: toLine(title, 255),
      description: paragraphs(description.join("\n\n")).slice(0, 2_000),
      theme: dark === null ? "auto" : dark ? "dark" : "light",
      visibility: "hidden",
      hosts: [],
      showLatency: true,
      timeZone: "UTC",
      sections,
      icon: "",
    } satisfies Fields,
    links: { monitorIds: sections.flatMap(({ monitors }) => monitors) },
    notes: [
      "Hidden: publish it once you have looked at it.",
      ...(others.length === 0
        ? []
        : [`Without its other titles: ${others.map((one) => toLine(one, 100)).join(", ")}.`]),
      ...(shown < total ? [`Shows the first ${shown} of ${total} monitors.`] : []),
      ...ui.notes(),
    ],
  };
}

const severities: Readonly<Record<string, string>> = { outage: "major", warning: "minor" };

/**
 * Converts an announcement to an incident, which is open if it reports trouble and is not archived.
 * Returns null without a message.
 */
export function announcementOf(section: Section, now: number): Planned | null {
  const type = section.text("type") || "none";
  const message = paragraphs(section.text("message"));
  const written = section.text("timestamp");
  const isArchived = section.flag("archived") === true;
  if (message === "") return null;
  const at = Math.min(Date.parse(written) || now, now);
  const severity = severities[type];
  const isOpen = severity !== undefined && !isArchived;
  const createdAt = new Date(at).toISOString();
  return {
    noun: "incident",
    externalId: `${written}#${Bun.hash(message).toString(36)}`,
    name: toLine(message, 100),
    fields: {
      title: toLine(message.split("\n")[0] ?? message, 200) || "Announcement",
      message: message.slice(0, 5_000),
      severity: severity ?? "minor",
      createdAt,
      resolvedAt: isOpen ? null : createdAt,
    },
    links: {},
    notes: [
      isOpen
        ? "Open, and shown on each status page of the organization: resolve it once it is over."
        : `Resolved: an announcement of the type ${toLine(type, 30)}${isArchived ? " that is archived" : ""} reports no trouble.`,
      ...section.notes(),
    ],
  };
}
