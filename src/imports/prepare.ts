import { and, eq, sql } from "drizzle-orm";
import { timestamp } from "../core/clock.ts";
import { AppError } from "../core/errors.ts";
import { listed, mustBeUnchanged } from "../database/references.ts";
import { inPortions, type Statement } from "../database/store.ts";
import { organizationSettings } from "../database/tables/accounts.ts";
import { auditAndEvent, auditAndEventEach } from "../events/commit.ts";
import type { Scope } from "../events/scope.ts";
import {
  mustHaveFewChannels,
  assignMonitors,
  followAllPauses,
  followPauses,
} from "../monitoring/groups/store.ts";
import { changeSettings, findSettings, settingsAfter } from "../accounts/settings/service.ts";
import { SettingsPatch } from "../accounts/settings/schema.ts";
import { parse } from "../core/validation.ts";
import { makers, mustFit, tableOf } from "./records.ts";
import type { Made, Making } from "./maker.ts";
import { tokenHash } from "./make-monitors.ts";
import type { ImportItem, ImportReport } from "./schema.ts";
import { type ExternalRecord, lastSaid, putExternalRecord } from "./store.ts";
import type { Fields } from "../core/objects.ts";
import type { Plan, Planned } from "./plan.ts";
import { type Noun, nouns } from "./rules.ts";
export type ImportOptions = {
  dryRun?: boolean;
  /** Whether every monitor comes in paused, and stays so until it is imported without this. */
  paused?: boolean;
  /** What is wanted, as `monitor:17`; undefined for everything. */
  only?: ReadonlySet<string>;
  /** Days that results and hours are kept here. */
  keepResults: number;
  keepHours: number;
  picture?: Making["picture"];
  progress?: (done: number, total: number) => void;
};

export const keyOf = ({ noun, externalId }: Pick<Planned, "noun" | "externalId">) =>
  `${noun}:${externalId}`;

/** What a record was there when it was imported last. */
type Last = { fields: Fields; links: Planned["links"]; basis: unknown };

/** Ids of the records that are still here. */
export async function existing(
  { store, organizationId }: Scope,
  known: readonly Pick<ExternalRecord, "noun" | "recordId">[],
) {
  const ids = new Set<string>();
  for (const noun of nouns) {
    const { table } = tableOf[noun];
    const wanted = known.filter((row) => row.noun === noun).map(({ recordId }) => recordId);
    const rows = await store.db
      .select({ id: table.id })
      .from(table)
      .where(
        and(
          eq(table.organizationId, organizationId),
          sql`${table.id} in (select value from ${listed(wanted)})`,
        ),
      );
    for (const { id } of rows) ids.add(id);
  }
  return ids;
}

type Prepared = {
  statements: Statement[];
  newMonitorIds: string[];
  report: Omit<ImportReport, "history">;
};

/** What is to be written, and what is to be said of it. */
export async function prepared(
  scope: Scope,
  plan: Plan,
  planned: readonly Planned[],
  known: ReadonlyMap<string, ExternalRecord>,
  here: ReadonlySet<string>,
  options: ImportOptions,
  keyFor: Making["keyOf"],
  importId: string,
): Promise<Prepared> {
  const { organizationId, store } = scope;
  const now = scope.clock();
  const at = timestamp(now);
  const ids = new Map<string, string>();
  for (const [key, { recordId }] of known) if (here.has(recordId)) ids.set(key, recordId);
  const making: Making = {
    scope,
    now,
    at,
    idsOf: (noun, externalIds) => externalIds.flatMap((id) => ids.get(`${noun}:${id}`) ?? []),
    keyOf: keyFor,
    tokensInUse: await tokensInUse(scope, planned),
    picture: options.picture ?? (async () => null),
  };
  const statements: Statement[] = [];
  const items: ImportItem[] = [];
  const created = new Map<Noun, string[]>();
  const joining = new Map<string, string[]>();
  const touched: string[] = [];
  for (const noun of nouns)
    for (const [index, one] of planned.filter((its) => its.noun === noun).entries()) {
      // Others have their turn between some of them.
      if (index % 20 === 19) await Bun.sleep(0);
      const key = keyOf(one);
      const record = known.get(key);
      const item = (
        decision: ImportItem["decision"],
        notes: readonly string[] = [],
        isIncomplete = false,
      ) =>
        items.push({
          noun,
          externalId: one.externalId,
          name: one.name,
          decision,
          isIncomplete: one.isIncomplete === true || isIncomplete,
          notes: [...one.notes, ...notes],
        });
      if (record !== undefined && !here.has(record.recordId)) {
        item("not-taken", [
          "Not taken: it was imported once, and deleted here since. Undo that import to have it again.",
        ]);
        continue;
      }
      if (record === undefined) {
        const adopted = noun === "status-page" ? await pageToAdopt(scope, one, making) : null;
        if (adopted !== null) {
          const made = await adopted.update();
          statements.push(
            ...made.statements,
            ...auditOf(scope, noun, adopted.id, Object.keys(one.fields), at),
          );
          statements.push(remembered(scope, plan.source, one, adopted.id, importId, true));
          item("updated", [
            ...made.notes,
            `The page with the address /status/${String(one.fields["slug"])} was here already: it has its content now.`,
          ]);
          continue;
        }
        const made: Made = await makers[noun].create(
          await withFreeSlug(scope, one, planned),
          making,
        );
        ids.set(key, made.id);
        statements.push(
          ...made.statements,
          remembered(scope, plan.source, one, made.id, importId, false),
        );
        created.set(noun, [...(created.get(noun) ?? []), made.id]);
        const [groupId] =
          noun === "monitor" ? making.idsOf("group", one.links["groupId"] ?? []) : [];
        if (groupId !== undefined) joining.set(groupId, [...(joining.get(groupId) ?? []), made.id]);
        item("created", made.notes, made.isIncomplete);
        continue;
      }
      const changed = changeOf(lastSaid(scope.vault, record) as Last, one);
      if (changed === null) {
        item("unchanged");
        continue;
      }
      const made = await makers[noun].update(one, record.recordId, changed, making);
      if (made === null) continue;
      statements.push(...made.statements);
      statements.push(...auditOf(scope, noun, record.recordId, changed.names, at));
      statements.push(
        remembered(scope, plan.source, one, record.recordId, record.importId, record.adopted),
      );
      if (noun === "monitor") touched.push(record.recordId);
      item("updated", [`Changed: ${changed.names.join(", ")}.`, ...made.notes], made.isIncomplete);
    }
  const newMonitorIds = created.get("monitor") ?? [];
  for (const [groupId, members] of joining)
    statements.push(...assignMonitors(scope, groupId, members, "end", at));
  for (const [noun, its] of created) {
    const { action } = tableOf[noun];
    if (action !== null && noun !== "monitor")
      statements.push(
        ...auditAndEventEach(scope, { action: `${action}.created`, subjectIds: its }, at),
      );
  }
  statements.push(
    ...(touched.length === 0 && newMonitorIds.length > 0
      ? followPauses(organizationId, at, newMonitorIds)
      : await followAllPauses(scope, at, newMonitorIds)),
    ...inPortions(newMonitorIds, (some) => [mustHaveFewChannels(scope, some)]),
    ...mustFit(scope, at),
  );
  const mail = await mailStatements(scope, plan, planned, at);
  const notTaken = options.only === undefined ? plan.notTaken : [];
  return {
    statements: [...statements, ...mail.statements],
    newMonitorIds,
    report: {
      source: plan.source,
      product: plan.product,
      items: [
        ...items,
        ...notTaken.map((one) => ({ ...one, decision: "not-taken" as const, isIncomplete: false })),
      ],
      hints: [
        ...plan.hints,
        ...mail.hints,
        ...(options.paused === true
          ? [
              "Every monitor is paused. Import again without --paused to resume those that were active there.",
            ]
          : []),
      ],
    },
  };

  /** The page of the organization that has the slug already, unless it came from elsewhere. */
  async function pageToAdopt(its: Scope, one: Planned, of: Making) {
    const [page] = await store.query<{ id: string; isDefault: 0 | 1 }>(
      `select id, is_default as isDefault from status_pages p where organization_id = ? and slug = ?
         and not exists (select 1 from external_records e
           where e.organization_id = p.organization_id and e.noun = 'status-page' and e.record_id = p.id)`,
      [its.organizationId, String(one.fields["slug"])],
    );
    if (page === undefined) return null;
    const all = { ...changeAll(one), has: () => true };
    ids.set(keyOf(one), page.id);
    return {
      id: page.id,
      update: async () =>
        (await makers["status-page"].update(one, page.id, all, of)) ?? {
          statements: [],
          notes: [],
        },
    };
  }
}

function auditOf(
  scope: Scope,
  noun: Noun,
  subjectId: string,
  fields: readonly string[],
  at: string,
) {
  const { action } = tableOf[noun];
  return action === null
    ? []
    : auditAndEvent(scope, { action: `${action}.updated`, subjectId, fields }, at);
}

const changeAll = ({ fields, links }: Planned) => ({
  fields,
  links,
  names: [...Object.keys(fields), ...Object.keys(links)],
});

function remembered(
  scope: Scope,
  source: string,
  { noun, externalId, fields, links, basis }: Planned,
  recordId: string,
  importId: string,
  adopted: boolean,
): Statement {
  const last: Last = { fields, links, basis };
  const record = { source, noun, externalId, recordId, importId, adopted };
  return putExternalRecord(scope, record, last);
}

/** What has changed there since; null for nothing. */
function changeOf(last: Last, { fields, links, basis }: Planned) {
  const differs = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);
  if (basis !== undefined && !differs(basis, last.basis)) return null;
  const all = new Set([...Object.keys(fields), ...Object.keys(last.fields)]);
  const changedFields = [...all].filter((name) => differs(fields[name], last.fields[name]));
  const changedLinks = Object.keys(links).filter((name) => differs(links[name], last.links[name]));
  const names = [...changedFields, ...changedLinks];
  if (names.length === 0) return null;
  const pick = <T>(from: Record<string, T>, which: readonly string[]) =>
    Object.fromEntries(which.flatMap((name) => (name in from ? [[name, from[name] as T]] : [])));
  return {
    fields: pick(fields, changedFields),
    links: pick(links, changedLinks),
    names,
    has: (name: string) => names.includes(name),
  };
}

/** A page under an address that is free: with a number behind it, where it is somebody else's. */
async function withFreeSlug(
  { store }: Scope,
  planned: Planned,
  all: readonly Planned[],
): Promise<Planned> {
  if (planned.noun !== "status-page") return planned;
  const slug = String(planned.fields["slug"]);
  const isWanted = (one: string) =>
    all.some(
      (other) => other !== planned && other.noun === "status-page" && other.fields["slug"] === one,
    );
  for (let count = 1; count < 1_000; count++) {
    const end = count === 1 ? "" : `-${count}`;
    const wanted = `${slug.slice(0, 63 - end.length)}${end}`;
    const rows = await store.query("select 1 from status_pages where slug = ?", [wanted]);
    if (rows.length > 0 || (count > 1 && isWanted(wanted))) continue;
    if (count > 1)
      planned.notes.push(
        `Its address is /status/${wanted}: /status/${slug} is somebody else's here.`,
      );
    return { ...planned, fields: { ...planned.fields, slug: wanted } };
  }
  throw new AppError("CONFLICT", `There is no free address for the status page ${planned.name}.`);
}

async function tokensInUse({ store }: Scope, planned: readonly Planned[]): Promise<Set<string>> {
  const hashes = planned.flatMap(({ fields }) =>
    typeof fields["pushToken"] === "string" ? [tokenHash(fields["pushToken"])] : [],
  );
  const rows = await store.query<{ hash: string }>(
    "select push_token_hash as hash from monitors where push_token_hash in (select value from json_each(?))",
    [JSON.stringify(hashes)],
  );
  return new Set(rows.map(({ hash }) => hash));
}

/** The mail server of e-mails that were imported, where the organization has none. */
async function mailStatements(
  scope: Scope,
  { smtp }: Plan,
  planned: readonly Planned[],
  at: string,
) {
  const needed = planned.some(
    ({ noun, fields }) => noun === "alert-channel" && fields["type"] === "email",
  );
  if (smtp === null || !needed) return { statements: [], hints: [] };
  const before = await findSettings(scope.store, scope.organizationId);
  if (before.smtp !== null) return { statements: [], hints: [] };
  try {
    const after = await settingsAfter(scope, before, parse(SettingsPatch, { smtp }));
    return {
      statements: [
        mustBeUnchanged(organizationSettings, scope.organizationId, before),
        changeSettings(scope, after),
        ...auditAndEvent(
          scope,
          { action: "settings.updated", subjectId: scope.organizationId, fields: ["smtp"] },
          at,
        ),
      ],
      hints: [
        `E-mails go through ${String(smtp["host"])}:${String(smtp["port"])} (${String(smtp["tls"])}), as they did there. Try it in Settings.`,
      ],
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return {
      statements: [],
      hints: [
        `The mail server could not be taken: ${error.message} Set it in Settings, or e-mails are not sent.`,
      ],
    };
  }
}
