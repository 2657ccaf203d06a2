/** Converts a Gatus configuration to a plan. The report mentions every key that is left out. */
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { importBounds, type Limits, noLimits } from "../../core/limits.ts";
import { type Fields, isObject } from "../../core/collections/objects.ts";
import { formatCount, pluralize, toLine } from "../../core/text/formatting.ts";
import { forEachYielding } from "../../core/time/event-loop.ts";
import { createUnreadableError } from "../limits.ts";
import type { NotTaken, Plan, PlannedRecord } from "../plan.ts";
import { Channels } from "./channels.ts";
import { type Configuration, readConfiguration, type Variables } from "./documents.ts";
import { convertEndpoint, type ConvertedEndpoint, convertExternalEndpoint } from "./endpoints.ts";
import { buildMaintenance } from "./maintenance.ts";
import { buildAnnouncement, buildPage } from "./page.ts";
import { formatNotes, Section } from "./section.ts";
import type { ReadNamedFile } from "./targets.ts";

type GatusOptions = {
  now?: number;
  /** Display name of the file; defaults to its base name. */
  name?: string;
  /** Whether the configuration can refer to other files, such as client certificates. Must be false for uploads. */
  readsNamedFiles?: boolean;
  /** Record limits of the organization. */
  limits?: Limits;
};

/**
 * Converts a Gatus configuration. Throws BAD_REQUEST for files that Gatus would reject, and above
 * the organization's limits.
 */
export async function buildGatusPlan(
  from: string,
  variables: Variables,
  options: GatusOptions = {},
): Promise<Plan> {
  const configuration = await readConfiguration(from, variables, options.name);
  const sourceName = options.name ?? from;
  assertFits(configuration.config, sourceName, options.limits ?? noLimits);
  const readNamed: ReadNamedFile =
    options.readsNamedFiles === false ? async () => null : (path) => readNear(from, path);
  return new GatusPlan(configuration, readNamed, options.now ?? Date.now()).buildPlan();
}

/** Reads a file by its path, or by its path relative to the configuration; null if it does not exist. */
async function readNear(from: string, path: string): Promise<string | null> {
  const near = [dirname(from), from].map((folder) => join(folder, path));
  for (const candidate of [path, ...(isAbsolute(path) ? [] : near)]) {
    const text = await readFile(candidate, "utf8").catch(() => null);
    if (text !== null && text.length <= importBounds.namedFile.value) return text;
  }
  return null;
}

const countItems = (value: unknown) => (Array.isArray(value) ? value.length : 0);

function assertFits(config: Fields, name: string, limits: Limits) {
  const endpoints = countItems(config["endpoints"]) + countItems(config["external-endpoints"]);
  const { monitors, "alert-channels": maxChannels } = limits;
  const maxRecords = importBounds.records.value;
  if (endpoints > maxRecords)
    throw createUnreadableError(
      name,
      `it has ${formatCount(endpoints)} records, at most ${formatCount(maxRecords)} can be imported.`,
    );
  if (endpoints > monitors)
    throw createUnreadableError(
      name,
      `it has ${formatCount(endpoints)} endpoints, and an organization can have ${pluralize(monitors, "monitor")}.`,
    );
  const providers = isObject(config["alerting"]) ? Object.values(config["alerting"]) : [];
  const channels = providers.reduce<number>(
    (sum, one) => sum + 1 + countItems(isObject(one) ? one["overrides"] : null),
    0,
  );
  if (channels > maxChannels)
    throw createUnreadableError(
      name,
      `it has ${formatCount(channels)} providers and overrides, and an organization can have ${pluralize(maxChannels, "alert channel")}.`,
    );
}

type Members = { monitorIds: Set<string>; groupIds: Set<string> };
type Window = Members & { fields: Fields; basis: string };

export class GatusPlan {
  readonly #configuration: Configuration;
  readonly #config: Section;
  readonly #channels: Channels;
  readonly #readFile: ReadNamedFile;
  readonly #now: number;
  readonly #monitors: PlannedRecord[] = [];
  readonly #notTaken: NotTaken[] = [];
  readonly #groups = new Map<string, string[]>();
  readonly #windows = new Map<string, Window>();
  readonly #names = new Set<string>();
  readonly #ids = new Set<string>();
  #comparesNumbers = false;

  constructor(configuration: Configuration, readFile: ReadNamedFile, now: number) {
    this.#configuration = configuration;
    this.#config = new Section(configuration.config, "config");
    this.#channels = new Channels(this.#config.map("alerting"));
    this.#readFile = readFile;
    this.#now = now;
  }

  async buildPlan(): Promise<Plan> {
    const context = { channels: this.#channels, readFile: this.#readFile };
    await this.#convertEndpoints("endpoints", "endpoint", (one) => convertEndpoint(one, context));
    const sharedTokens = this.#findSharedTokens();
    await this.#convertEndpoints("external-endpoints", "external-endpoint", (one) =>
      convertExternalEndpoint(one, { channels: this.#channels, sharedTokens }),
    );
    this.#addGlobalMaintenance();
    const announcements = this.#buildAnnouncements();
    const pages = this.#config.has("ui") ? [buildPage(this.#config.map("ui"), this.#groups)] : [];
    this.#leaveOutSuites();
    this.#leaveOutSettings();
    const channels = this.#channels.buildRecords();
    return {
      source: "gatus",
      product: "Gatus",
      records: [
        ...channels.records,
        ...this.#buildGroupRecords(),
        ...this.#monitors,
        ...this.#buildWindowRecords(),
        ...pages,
        ...announcements,
      ],
      notTaken: [...channels.notTaken, ...this.#notTaken],
      hints: this.#buildHints(),
      smtp: this.#channels.buildMailServer(),
    };
  }

  #findSharedTokens(): Set<string> {
    const sections = this.#config.sections("external-endpoints", "external-endpoint");
    const tokens = sections.map((endpoint) => endpoint.text("token"));
    return new Set(tokens.filter((token, index) => tokens.indexOf(token) !== index));
  }

  #buildHints(): string[] {
    const { unsetVariables } = this.#configuration;
    const shownVariables = unsetVariables.slice(0, 100).join(", ");
    const more = unsetVariables.length > 100 ? ` and ${unsetVariables.length - 100} more` : "";
    return [
      ...(unsetVariables.length === 0
        ? []
        : [`These variables are not set: ${shownVariables}${more}. They are empty, as in Gatus.`]),
      ...(this.#comparesNumbers
        ? [
            "A value that a response lacks fails a comparison such as < 100. Gatus compares it as 0.",
          ]
        : []),
      "Gatus stores its history outside the configuration, so the history here is empty.",
    ];
  }

  #convertEndpoints(
    key: string,
    schema: string,
    convert: (endpoint: Section) => ConvertedEndpoint | Promise<ConvertedEndpoint>,
  ) {
    return forEachYielding(this.#config.sections(key, schema), async (endpoint) => {
      const group = endpoint.text("group");
      const name = endpoint.text("name");
      const fullName = JSON.stringify([group, name]);
      if (name === "" || this.#names.has(fullName)) {
        const at = this.#configuration.placeOf(endpoint.fields);
        const reason = name === "" ? "it has no name" : "another endpoint has its name and group";
        this.#leaveOut(
          "monitor",
          `${group}_${name}`,
          name,
          `Not imported: ${reason}${at === null ? "" : ` (${at})`}.`,
        );
        return;
      }
      this.#names.add(fullName);
      const externalId = this.#claimId(`${group}_${name}`);
      const windows = endpoint.sections("maintenance-windows", "maintenance");
      const windowNotes = windows.flatMap((window) =>
        this.#addWindow(window, name, { monitorIds: new Set([externalId]), groupIds: new Set() }),
      );
      this.#add(group, externalId, await convert(endpoint), windowNotes);
    });
  }

  /** Returns a free ID. Names and groups with underscores can yield the same one. */
  #claimId(id: string): string {
    if (this.#ids.has(id)) return this.#claimId(`${id}#`);
    this.#ids.add(id);
    return id;
  }

  #add(group: string, externalId: string, converted: ConvertedEndpoint, windowNotes: string[]) {
    const { monitor, parts, channelIds, comparesNumbers } = converted;
    this.#comparesNumbers ||= comparesNumbers;
    const links = { groupId: group === "" ? [] : [group], alertChannelIds: channelIds };
    const all = [
      { ...monitor, notes: [...monitor.notes, ...windowNotes], id: externalId },
      ...parts.map((part) => ({ ...part, id: this.#claimId(`${externalId}#${part.suffix}`) })),
    ];
    const members = this.#groups.get(group) ?? [];
    for (const { id, fields, notes, isIncomplete } of all) {
      members.push(id);
      this.#monitors.push({
        noun: "monitor",
        externalId: id,
        name: String(fields["name"]),
        fields,
        links,
        notes,
        isIncomplete,
      });
    }
    this.#groups.set(group, members);
    for (const { monitorIds } of this.#windows.values())
      if (monitorIds.has(externalId)) for (const { id } of all) monitorIds.add(id);
  }

  #leaveOut(noun: string, externalId: string, name: string, ...notes: string[]) {
    this.#notTaken.push({ noun, externalId, name: toLine(name, 255), notes });
  }

  /**
   * Adds a maintenance window, and merges equal windows of several endpoints. Returns notes for the
   * endpoint's report.
   */
  #addWindow(section: Section, of: string, members: Members): string[] {
    const window = buildMaintenance(section, this.#now);
    if ("reason" in window) return [`Without its maintenance window: ${window.reason}.`];
    const known = this.#windows.get(window.basis);
    if (known === undefined)
      this.#windows.set(window.basis, {
        ...members,
        basis: window.basis,
        fields: { ...window.fields, title: `Maintenance of ${toLine(of, 200)}` },
      });
    else {
      for (const id of members.monitorIds) known.monitorIds.add(id);
      for (const id of members.groupIds) known.groupIds.add(id);
    }
    return window.notes;
  }

  #addGlobalMaintenance() {
    if (!this.#config.has("maintenance")) return;
    const section = this.#config.map("maintenance");
    const groups = [...this.#groups.keys()].filter((group) => group !== "");
    const members = {
      monitorIds: new Set(this.#groups.get("")),
      groupIds: new Set(groups),
    };
    const notes = this.#addWindow(section, "all monitors", members);
    if (notes.length > 0)
      this.#leaveOut(
        "setting",
        "maintenance",
        "maintenance",
        ...notes.map((note) => note.replace("Without its maintenance window", "Not imported")),
      );
  }

  #buildWindowRecords(): PlannedRecord[] {
    const maxMonitors = 5_000;
    return [...this.#windows.values()].map(({ fields, basis, monitorIds, groupIds }) => {
      const ids = [...monitorIds];
      return {
        noun: "maintenance-window",
        externalId: basis,
        name: String(fields["title"]),
        fields,
        basis: [basis, ids, [...groupIds]],
        links: { monitorIds: ids.slice(0, maxMonitors), groupIds: [...groupIds] },
        notes: [
          "Alerts are suppressed, and checks count towards uptime, as in Gatus.",
          ...(ids.length > maxMonitors
            ? [`Has the first ${maxMonitors} of ${ids.length} monitors.`]
            : []),
        ],
      };
    });
  }

  #buildGroupRecords(): PlannedRecord[] {
    return [...this.#groups.keys()]
      .filter((name) => name !== "")
      .map((name) => ({
        noun: "group",
        externalId: name,
        name: toLine(name, 255),
        fields: { name: toLine(name, 255) || "Group", description: "", tags: [], paused: false },
        links: { alertChannelIds: [] },
        notes: [],
      }));
  }

  #buildAnnouncements(): PlannedRecord[] {
    return this.#config.sections("announcements", "announcement").flatMap((one) => {
      const incident = buildAnnouncement(one, this.#now);
      if (incident === null)
        this.#leaveOut(
          "incident",
          "announcement",
          "announcement",
          "Not imported: it has no message.",
        );
      return incident ?? [];
    });
  }

  #leaveOutSuites() {
    for (const suite of this.#config.sections("suites", "suite")) {
      const name = suite.text("name");
      const requests = pluralize(countItems(suite.value("endpoints")), "request");
      const keys = Object.keys(suite.fields).map((key) => toLine(key, 60));
      this.#leaveOut(
        "suite",
        `${suite.text("group")}_${name}`,
        name,
        `Not imported: one of the suites, with ${requests}. Build it as an http monitor with steps, which can use values of earlier responses.`,
        `Left out with it: ${keys.join(", ")}.`,
      );
      for (const key of Object.keys(suite.fields)) suite.value(key);
    }
  }

  /** Reports unsupported and unknown settings. Keys that start with `x-` or a dot only define YAML anchors. */
  #leaveOutSettings() {
    const reported = new Set(["endpoints", "external-endpoints", "ui", "announcements", "suites"]);
    const leftOut = this.#config
      .listLeftOut((key) => reported.has(key))
      .filter(({ path }) => !/^(?:x-|\.)/.test(path));
    for (const issue of this.#config.listInvalidValues((key) => reported.has(key)))
      this.#leaveOut("setting", issue, toLine(issue, 200), `Not imported: ${toLine(issue, 200)}.`);
    for (const [key, paths] of Map.groupBy(leftOut, ({ path }) => path.split(".")[0] ?? path))
      this.#leaveOut(
        "setting",
        key,
        toLine(key, 60),
        ...formatNotes(paths).map((note) => note.replace(/^Left out/, "Not imported")),
      );
  }
}
