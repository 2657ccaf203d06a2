/** Writes the monitors of an organization for another program, with a report of everything that has no equivalent there. */
import { pluralize } from "../../core/text/formatting.ts";
import type { Fields } from "../../core/collections/objects.ts";
import { buildBlackbox, toProbe } from "./blackbox.ts";
import type { ExportFormat } from "./formats.ts";
import { readGatus, toGatus, buildTokenVariable } from "./gatus.ts";
import { readKuma, requiredFields, toKuma } from "./kuma.ts";
import {
  entriesOf,
  type Exported,
  type ForeignEntry,
  listMonitors,
  normalizeFields,
  type OurMonitor,
} from "./monitors.ts";

/** The text of the other program's file, and lines for people about each difference. */
type ForeignExport = { text: string; report: string[] };

type Converter = {
  /** `taken` has the names that earlier monitors use there. */
  convert: (monitor: OurMonitor, takenNames: Set<string>) => ForeignEntry | null;
  read: (foreign: ForeignEntry, monitor: OurMonitor) => Promise<Fields | null>;
};

const converters: Record<"uptime-kuma" | "gatus", Converter> = {
  "uptime-kuma": { convert: toKuma, read: readKuma },
  gatus: { convert: toGatus, read: readGatus },
};

export async function exportAs(format: ExportFormat, exported: Exported): Promise<ForeignExport> {
  const monitors = listMonitors(exported);
  const { text, differences } =
    format === "prometheus-blackbox"
      ? await writeBlackbox(monitors)
      : await writeConverted(format, monitors, [
          ...exported.secrets.map(({ variable }) => variable),
          ...monitors.map((monitor) => buildTokenVariable(monitor)),
        ]);
  const omittedSections = [
    "alertChannels",
    "escalationPolicies",
    "schedules",
    "maintenanceWindows",
    "statusPages",
  ];
  const nouns = [
    "alert channel",
    "escalation policy",
    "schedule",
    "maintenance window",
    "status page",
  ];
  const others = omittedSections.flatMap((section, index) => {
    const count = entriesOf(exported, section).length;
    return count === 0 ? [] : [pluralize(count, nouns[index] ?? "record")];
  });
  const notes = monitors.flatMap(({ fields, secrets }, index) =>
    [
      ...(differences[index] ?? []),
      ...(secrets.length === 0 ? [] : [`Enter its secrets: ${secrets.join(", ")}.`]),
    ].map((note) => ({ note, name: String(fields["name"]) })),
  );
  const lines = [...Map.groupBy(notes, ({ note }) => note)].map(
    ([note, monitorNotes]) => `${note} ${monitorNotes.map(({ name }) => `“${name}”`).join(", ")}`,
  );
  return {
    text,
    report: [
      ...lines,
      ...(others.length === 0 ? [] : [`Not exported: ${others.join(", ")}.`]),
      ...(format === "uptime-kuma" && monitors.some(({ group }) => group !== null)
        ? [
            "Uptime Kuma does not read from a backup which group a monitor is in: choose the groups there again.",
          ]
        : []),
      "Incidents and history are not exported.",
    ],
  };
}

const noEquivalent = ["Not exported: there is no such check."];
const notInverted = ["Not exported: an inverted check would mean the opposite there."];

const describeMissing = ({ fields }: OurMonitor) =>
  fields["inverted"] === true ? notInverted : noEquivalent;

/** Converts monitors, and imports each result again: every field that differs then has no equivalent. */
async function writeConverted(
  format: "uptime-kuma" | "gatus",
  monitors: readonly OurMonitor[],
  variables: readonly string[],
) {
  const { convert, read } = converters[format];
  const differences: string[][] = [];
  const entries: { foreign: ForeignEntry; monitor: OurMonitor }[] = [];
  const taken = new Set<string>();
  for (const monitor of monitors) {
    const foreign = convert(monitor, taken);
    const readAgain = foreign && (await read(foreign, monitor));
    if (foreign === null || readAgain === null) differences.push(describeMissing(monitor));
    else {
      entries.push({ foreign, monitor });
      differences.push([
        ...describeDifferences(monitor.fields, readAgain),
        ...(foreign.notes ?? []),
      ]);
    }
  }
  return {
    text: format === "gatus" ? await formatGatus(entries, variables) : formatKuma(entries),
    differences,
  };
}

function describeDifferences(before: Fields, after: Fields): string[] {
  const [ours, theirs] = [normalizeFields(before), normalizeFields(after)];
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  const changed = [...names].filter(
    (name) => JSON.stringify(ours[name]) !== JSON.stringify(theirs[name]),
  );
  return changed.length === 0 ? [] : [`Different there: ${changed.sort().join(", ")}.`];
}

type Entry = { foreign: ForeignEntry; monitor: OurMonitor };

/** Builds a backup with a group per group here, and the tags of monitors. */
function formatKuma(entries: readonly Entry[]): string {
  const names = [...new Set(entries.flatMap(({ monitor }) => monitor.group ?? []))];
  const groups = names.map((name, index) => ({
    ...requiredFields,
    id: index + 1,
    type: "group",
    name,
    active: 1,
  }));
  const tagIds = new Map<string, number>();
  const monitorList = entries.map(({ foreign, monitor: { fields, group } }, index) => ({
    id: names.length + index + 1,
    parent: group === null ? null : names.indexOf(group) + 1,
    ...foreign.entry,
    tags: (fields["tags"] as string[]).map((name) => {
      if (!tagIds.has(name)) tagIds.set(name, tagIds.size + 1);
      return { tag_id: tagIds.get(name), name, value: "", color: "#4B5563" };
    }),
  }));
  return `${JSON.stringify(
    {
      version: "1.23.16",
      notificationList: [],
      proxyList: [],
      monitorList: [...groups, ...monitorList],
    },
    null,
    2,
  )}\n`;
}

async function formatGatus(
  entries: readonly Entry[],
  variables: readonly string[],
): Promise<string> {
  const { stringify } = await import("yaml");
  const sections = Map.groupBy(entries, ({ foreign }) => foreign.section);
  const text = stringify(
    Object.fromEntries(
      [...sections].map(([section, some]) => [section, some.map(({ foreign }) => foreign.entry)]),
    ),
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
  // Gatus expands variables in the whole file; $$ is a dollar sign.
  return text.replace(/\$(?:\{(\w+)\})?/g, (all, name?: string) =>
    variables.includes(name ?? "") ? all : `$${all}`,
  );
}

async function writeBlackbox(monitors: readonly OurMonitor[]) {
  const { stringify } = await import("yaml");
  const converted = monitors.map((monitor) => toProbe(monitor));
  const { modules, jobs } = buildBlackbox(
    converted.flatMap((one) => (one === null ? [] : [one.probe])),
  );
  const options = { lineWidth: 0, aliasDuplicateObjects: false };
  return {
    text: `# blackbox.yml\n${stringify({ modules }, options)}---\n# prometheus.yml\n${stringify({ scrape_configs: jobs }, options)}`,
    differences: converted.map((one, index) => {
      const monitor = monitors[index];
      if (one === null)
        return monitor?.fields["paused"] === true
          ? ["Not exported: it is paused."]
          : monitor === undefined
            ? noEquivalent
            : describeMissing(monitor);
      return one.lost.length === 0 ? [] : [`Without its ${one.lost.sort().join(", ")}.`];
    }),
  };
}
