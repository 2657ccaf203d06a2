/** Exports an organization as a configuration. */
import type { ScheduleLayer } from "../alerting/schedules/schema.ts";
import { slugify } from "../core/text/formatting.ts";
import { forEachYielding } from "../core/time/event-loop.ts";
import type { Scope } from "../events/scope.ts";
import { configurationPrefix } from "../imports/store.ts";
import { computeDefaultTimeout } from "../monitoring/monitors/schema.ts";
import { StreamedList, StreamedRecord } from "../core/text/streamed-list.ts";
import { findUsage } from "../database/file/usage.ts";
import {
  type Current,
  loadCurrentRecords,
  runInConfigurationTurn,
  loadMonitorHeads,
  type MonitorHead,
  readMonitors,
} from "./records.ts";
import type { ConfigExport, ConfigSecret } from "./schema.ts";
import { fieldsOf, sectionNames, sections } from "./sections-schema.ts";
import type { Fields } from "../core/collections/objects.ts";
import { listMembers } from "../accounts/people/store.ts";
import type { EscalationStep } from "../alerting/policies/schema.ts";
import type { StatusPageSection } from "../status-pages/schema.ts";
import { getOwnOrganization } from "../accounts/organizations/service.ts";

const maxKeyLength = 60;

type NamedRecord = Pick<Current, "section" | "id" | "name" | "link">;
type ExportedRecord = Pick<Current, "section" | "id" | "isDefaultPage" | "fields">;

/** Exports the configuration that would recreate the organization. Secrets are replaced by placeholders. */
export const exportConfiguration = (scope: Scope): Promise<ConfigExport> =>
  runInConfigurationTurn(scope, () => createExport(scope));

/** Like `exportConfiguration`, but never streams: for callers that do not write a response. */
export const exportInMemory = (scope: Scope): Promise<ConfigExport> =>
  runInConfigurationTurn(scope, async () => (await createExportWriter(scope)).exportBuffered());

/** Exports an organization. Large sets of monitors are streamed. Call it only from the organization's queue. */
export async function createExport(scope: Scope): Promise<ConfigExport> {
  const writer = await createExportWriter(scope);
  const { bytes } = await findUsage(scope.store, scope.organizationId, "monitors");
  return bytes > bufferedBytes ? writer.exportStreamed() : writer.exportBuffered();
}

/** Total size of monitors above which they are streamed, in bytes. */
const bufferedBytes = 4 * 1024 * 1024;

async function createExportWriter(scope: Scope) {
  const others = sectionNames.filter((section) => section !== "monitors");
  const { all, links } = await loadCurrentRecords(scope, others);
  const heads = await loadMonitorHeads(scope, links);
  const sources = new Set(links.map(({ source }) => source));
  const [only] = sources.size === 1 ? [...sources] : [];
  const source = only?.slice(configurationPrefix.length) ?? "main";
  const now = new Date(scope.clock()).toISOString();
  const current = all.filter((one) => one.link !== null || !isOver(one, now));
  const keys = await assignKeys([...current, ...heads], `${configurationPrefix}${source}`);
  const { slug } = await getOwnOrganization(scope);
  for (const { id, email } of await listMembers(scope)) keys.set(id, email);
  return new ExportWriter(scope, source, slug, keys, current, heads);
}

class ExportWriter {
  readonly #scope: Scope;
  readonly #source: string;
  readonly #slug: string;
  readonly #keys: ReadonlyMap<string, string>;
  readonly #current: readonly Current[];
  readonly #monitors: readonly MonitorHead[];
  readonly #groupsWithPolicy: ReadonlySet<string>;

  constructor(
    scope: Scope,
    source: string,
    slug: string,
    keys: ReadonlyMap<string, string>,
    current: readonly Current[],
    monitors: readonly MonitorHead[],
  ) {
    this.#scope = scope;
    this.#source = source;
    this.#slug = slug;
    this.#keys = keys;
    this.#current = current;
    this.#monitors = monitors;
    this.#groupsWithPolicy = new Set(
      current.flatMap(({ id, section, row }) =>
        section === "groups" && row["escalationPolicyId"] !== null ? [id] : [],
      ),
    );
  }

  async exportBuffered(): Promise<ConfigExport> {
    const { document, secrets, variables } = await this.#exportWithoutMonitors();
    if (this.#monitors.length > 0) {
      const entries: Fields = {};
      for await (const portion of this.#exportMonitors(secrets, variables))
        for (const [key, entry] of portion) entries[key] = entry;
      document["monitors"] = entries;
    }
    return { document: orderSections(document), secrets };
  }

  /**
   * Streams the monitors. The list of secrets follows the document, so each pass over the document
   * collects its secrets.
   */
  async exportStreamed(): Promise<ConfigExport> {
    const { document, secrets, variables } = await this.#exportWithoutMonitors();
    let monitorSecrets: ConfigSecret[] = [];
    const monitors = new StreamedRecord(() => {
      monitorSecrets = [];
      return this.#exportMonitors(monitorSecrets, new Set(variables));
    });
    const all = new StreamedList<ConfigSecret>(async function* () {
      yield secrets;
      yield monitorSecrets;
    });
    // Only the response writer reads the list, and it accepts both kinds of lists.
    return {
      document: orderSections({ ...document, monitors }),
      secrets: all as unknown as ConfigSecret[],
    };
  }

  async #exportWithoutMonitors() {
    const variables = new Set<string>();
    const secrets: ConfigSecret[] = [];
    const document: Fields = { source: this.#source };
    for (const [section, records] of Map.groupBy(this.#current, (one) => one.section)) {
      const entries: Fields = {};
      await forEachYielding(records, (one) => {
        const [key, entry] = this.#buildEntry(one, secrets, variables);
        entries[key] = entry;
      });
      document[section] = entries;
    }
    return { document, secrets, variables };
  }

  async *#exportMonitors(secrets: ConfigSecret[], variables: Set<string>) {
    for await (const portion of readMonitors(this.#scope, this.#monitors))
      yield portion.map((one) => this.#buildEntry(one, secrets, variables));
  }

  #buildEntry(
    one: ExportedRecord,
    secrets: ConfigSecret[],
    variables: Set<string>,
  ): [string, Fields] {
    const key = this.#keys.get(one.id) ?? "";
    const found: string[][] = [];
    const entry = buildEntry(one, this.#keys, this.#slug, this.#groupsWithPolicy, found);
    for (const path of found)
      secrets.push({
        path: [one.section, key, ...path],
        variable: nameVariable([key, ...path], variables),
      });
    return [key, entry];
  }
}

/** Orders the sections by their references. */
const orderSections = (document: Fields): Fields =>
  Object.fromEntries(
    ["source", ...sectionNames].flatMap((name) =>
      document[name] === undefined ? [] : [[name, document[name]]],
    ),
  );

/** Whether it is a past one-time window, which no longer needs to be planned. */
function isOver({ section, row }: Current, now: string): boolean {
  const { rrule, endsAt } = row;
  return section === "maintenanceWindows" && rrule === null && String(endsAt) <= now;
}

/** Returns a key for each record by ID: its managed key, or a key derived from its name. */
async function assignKeys(
  all: readonly NamedRecord[],
  source: string,
): Promise<Map<string, string>> {
  const keys = new Map<string, string>();
  const takenKeys = new Set<string>();
  const assignKey = ({ section, id }: NamedRecord, key: string) => {
    takenKeys.add(`${section} ${key}`);
    keys.set(id, key);
  };
  for (const one of all) if (one.link?.source === source) assignKey(one, one.link.externalId);
  await forEachYielding(all, (one) => {
    if (keys.has(one.id)) return;
    const slug = slugify(one.name, maxKeyLength);
    const { noun } = sections[one.section];
    const wish = /^[a-z]/.test(slug) ? slug : `${noun}${slug === "" ? "" : "-"}${slug}`;
    let key = wish;
    for (let count = 2; takenKeys.has(`${one.section} ${key}`); count++) key = `${wish}-${count}`;
    assignKey(one, key);
  });
  return keys;
}

/** Converts a record to an entry without default values. Adds the paths of its secrets to `secrets`. */
function buildEntry(
  { section, isDefaultPage, fields: read }: ExportedRecord,
  keys: ReadonlyMap<string, string>,
  slug: string,
  groupsWithPolicy: ReadonlySet<string>,
  secrets: string[][],
): Fields {
  const fields = read();
  const { naming, references, kinds } = sections[section];
  const type = kinds === null ? null : String(fields["type"]);
  const shape = fieldsOf(section, type);
  const kind = type === null ? undefined : kinds?.[type];
  const entry: Fields = {
    ...(isDefaultPage && { default: true }),
    [naming]: fields[naming],
    ...(type !== null && { type }),
  };
  const names = [...Object.keys(kind?.fields ?? {}), ...Object.keys(shape)];
  for (const name of new Set(names)) {
    if (name === naming || (section === "statusPages" && name === "default")) continue;
    if (section === "statusPages" && name === "password") {
      if (fields["passwordHash"] !== null) secrets.push([name]);
      continue;
    }
    // A pause with an end is not part of a configuration.
    if (section === "monitors" && name === "paused" && fields["pausedUntil"] !== null) continue;
    // A status that people set is operation, not configuration.
    if (section === "monitors" && name.startsWith("manual")) continue;
    const value = toEntryValue(fields[references[name]?.as ?? name], name);
    if (value !== undefined && !isUsual(name, value)) entry[name] = value;
  }
  return entry;

  function isUsual(name: string, value: unknown): boolean {
    // If this field is missing, a new monitor gets the channels of its group and the default
    // channels. So it has no default value.
    if (section === "monitors" && name === "alertChannels") return false;
    // If this field is missing, a new monitor gets the policy of its group.
    if (section === "monitors" && name === "escalationPolicy")
      return value === null && !groupsWithPolicy.has(String(fields["groupId"]));
    if (section === "monitors" && name === "timeout")
      return value === computeDefaultTimeout(Number(fields["interval"]));
    if (isDefaultPage && name === "slug") return value === slug;
    const { success, data } = shape[name]?.safeParse(undefined) ?? { success: false };
    return success && Bun.deepEquals(data, value);
  }

  function toEntryValue(value: unknown, name: string): unknown {
    if (references[name] !== undefined)
      return Array.isArray(value) ? value.flatMap((id) => keyOf(id) ?? []) : (keyOf(value) ?? null);
    if (section === "escalationPolicies" && name === "steps")
      return (value as EscalationStep[]).map(toEntryStep);
    if (section === "schedules" && name === "layers")
      return (value as ScheduleLayer[]).map(({ personIds, ...layer }) => ({
        ...layer,
        people: personIds.map((id) => keyOf(id)),
      }));
    if (section === "statusPages" && name === "sections")
      return (value as StatusPageSection[]).filter(isKnown).map(toEntrySection);
    for (const path of Object.keys(kind?.secrets ?? {})) {
      const [field = "", inner] = path.split(".");
      if (field !== name || value === null) continue;
      if (inner === undefined) {
        secrets.push([name]);
        return undefined;
      }
      const { ...open } = value as Fields;
      for (const own of inner === "*" ? Object.keys(open) : [inner]) {
        if (typeof open[own] !== "string") continue;
        secrets.push([name, own]);
        if (inner === "*") open[own] = null;
        else delete open[own];
      }
      value = open;
    }
    return value;
  }

  /** Returns the key of a record. Undefined without an ID, or if the record was created after its section was read. */
  function keyOf(id: unknown): string | undefined {
    return keys.get(String(id));
  }

  function isKnown({ groupId }: StatusPageSection): boolean {
    return groupId === null || keys.has(groupId);
  }

  function toEntryStep({ afterMinutes, targets }: EscalationStep): Fields {
    return { afterMinutes, targets: targets.map(({ type, id }) => ({ [type]: keyOf(id) })) };
  }

  function toEntrySection({
    name,
    groupId,
    monitors,
    nested,
    folding,
    audience,
  }: StatusPageSection): Fields {
    const listedMonitors = monitors.filter(({ id }) => keys.has(id));
    return {
      ...(name !== null && { name }),
      ...(groupId !== null && { group: keyOf(groupId) }),
      ...(listedMonitors.length > 0 && {
        monitors: listedMonitors.map((one) => ({
          monitor: keyOf(one.id),
          ...(one.name !== null && { name: one.name }),
          ...(one.showDescription && { showDescription: true }),
          ...(one.link !== null && { link: one.link }),
        })),
      }),
      ...(nested && { nested }),
      ...(folding !== "auto" && { folding }),
      ...(audience !== "everyone" && { audience }),
    };
  }
}

/** Returns a unique variable name, such as `ON_CALL_WEBHOOK_URL` for `on-call` and `webhookUrl`. */
function nameVariable(path: readonly string[], takenNames: Set<string>): string {
  const wish = path
    .join("_")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toUpperCase();
  let name = wish;
  for (let count = 2; takenNames.has(name); count++) name = `${wish}_${count}`;
  takenNames.add(name);
  return name;
}
