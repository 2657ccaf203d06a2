/** Converts Gatus' page to a status page, and its announcements to incidents. */
import { createLookup } from "../../core/collections/objects.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { toLine, truncateCodePoints } from "../../core/text/formatting.ts";
import type { PlannedRecord } from "../plan.ts";
import { toCleanLine, toParagraphs } from "../values.ts";
import type { Section } from "./section.ts";

const maxMonitors = 1_000;
const maxSections = 100;

/** Converts `ui` to a status page that contains all monitors in groups. */
export function buildPage(
  ui: Section,
  members: ReadonlyMap<string, readonly string[]>,
): PlannedRecord {
  const readTexts = (...keys: string[]) =>
    keys.map((key) => toCleanLine(ui.text(key))).filter((one) => one !== "");
  const [title = "Status"] = readTexts("dashboard-heading", "header", "title");
  const [, ...others] = readTexts("dashboard-heading", "header", "title");
  const links = ui
    .sections("buttons", "button")
    .map((button) => `[${toCleanLine(button.text("name"))}](${toCleanLine(button.text("link"))})`);
  const link = toCleanLine(ui.text("link"));
  const description = [
    ...readTexts("dashboard-subheading", "description"),
    ...(link === "" ? [] : [link]),
    links.join(" · "),
  ].filter((one) => one !== "");
  const dark = ui.flag("dark-mode");
  let remainingMonitors = maxMonitors;
  const sections = [...members].slice(0, maxSections).flatMap(([group, ids]) => {
    const listedIds = ids.slice(0, remainingMonitors);
    remainingMonitors -= listedIds.length;
    return listedIds.length === 0
      ? []
      : [{ name: toLine(group, 255) || "Services", monitors: listedIds }];
  });
  const total = [...members.values()].reduce((sum, ids) => sum + ids.length, 0);
  const shownMonitors = sections.reduce((sum, { monitors }) => sum + monitors.length, 0);
  return {
    noun: "status-page",
    externalId: "ui",
    name: toLine(title, 255),
    fields: {
      slug: "gatus",
      title: toLine(title, 255),
      description: toParagraphs(description.join("\n\n"), 2_000),
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
      ...(shownMonitors < total ? [`Shows the first ${shownMonitors} of ${total} monitors.`] : []),
      ...ui.buildNotes(),
    ],
  };
}

const severities: Readonly<Record<string, string>> = createLookup({
  outage: "major",
  warning: "minor",
});

/**
 * Converts an announcement to an incident, which is open if it reports trouble and is not archived.
 * Returns null without a message.
 */
export function buildAnnouncement(section: Section, now: number): PlannedRecord | null {
  const type = section.text("type") || "none";
  const message = toParagraphs(section.text("message"));
  const writtenTime = section.text("timestamp");
  const isArchived = section.flag("archived") === true;
  if (message === "") return null;
  const at = Math.min(Date.parse(writtenTime) || now, now);
  const severity = severities[type];
  const isOpen = severity !== undefined && !isArchived;
  const createdAt = new Date(at).toISOString();
  return {
    noun: "incident",
    externalId: `${writtenTime}#${Bun.hash(message).toString(36)}`,
    name: toLine(message, 100),
    fields: {
      title: toLine(message.split("\n")[0] ?? message, 200) || "Announcement",
      message: truncateCodePoints(message, 5_000),
      severity: severity ?? "minor",
      createdAt,
      resolvedAt: isOpen ? null : createdAt,
    },
    links: {},
    notes: [
      isOpen
        ? "Open, and shown on each status page of the organization: resolve it once it is over."
        : `Resolved: an announcement of the type ${toLine(type, 30)}${isArchived ? " that is archived" : ""} reports no trouble.`,
      ...section.buildNotes(),
    ],
  };
}
