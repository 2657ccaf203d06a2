/** Creates and updates maintenance windows, status pages and incidents from imported records. */
import { listChangedFields } from "../core/field-changes.ts";
import { createId } from "../core/ids.ts";
import { parse } from "../core/validation.ts";
import { guardVersion } from "../database/references.ts";
import { auditEntries } from "../database/tables/events.ts";
import { incidents } from "../database/tables/incidents.ts";
import { maintenanceWindows } from "../database/tables/monitoring.ts";
import { statusPages } from "../database/tables/status-pages.ts";
import { createInsert } from "../database/store.ts";
import { insertIncident, patchIncident } from "../incidents/statements.ts";
import { NewIncident } from "../incidents/schema.ts";
import { findHead } from "../incidents/store.ts";
import { MaintenanceWindowPatch, NewMaintenanceWindow } from "../monitoring/maintenance/schema.ts";
import {
  changeWindow,
  findWindow,
  insertWindow,
  replaceMembers,
  type StoredWindow,
} from "../monitoring/maintenance/store.ts";
import { assertImage } from "../status-pages/rules.ts";
import { NewStatusPage } from "../status-pages/schema.ts";
import {
  changePage,
  findPages,
  insertPage,
  noFiles,
  type StoredPage,
} from "../status-pages/store.ts";
import type { PlannedRecord } from "./plan.ts";
import { type RecordMaker, type MakingContext, getLinkedIds, findRefusal } from "./maker.ts";
import type { Fields } from "../core/collections/objects.ts";
import { buildFirstVersion, buildNextVersion } from "../database/rows.ts";

export const maintenanceWindowMaker: RecordMaker = {
  async create({ fields, links }, { scope, now, at, idsOf }) {
    const input = parse(NewMaintenanceWindow, fields);
    const { organizationId } = scope;
    const id = createId(now);
    return {
      id,
      statements: [
        // An import notifies no one.
        insertWindow({
          ...input,
          progressNotices: false,
          organizationId,
          id,
          ...buildFirstVersion(at),
        }),
        ...replaceMembers(scope, id, resolveMembers(links, idsOf)),
      ],
      notes: [],
    };
  },
  async update(_planned, id, { fields, links, has }, { scope, at, idsOf }) {
    const before = await findWindow(scope, id);
    if (before === null) return null;
    const input = parse(MaintenanceWindowPatch, fields) as Partial<StoredWindow>;
    const after = { ...before, ...input, ...buildNextVersion(before, at) };
    const all = resolveMembers(links, idsOf);
    const members = {
      ...(has("monitorIds") && { monitorIds: all.monitorIds }),
      ...(has("groupIds") && { groupIds: all.groupIds }),
    };
    const names = [...Object.keys(input), ...Object.keys(members)];
    return {
      statements: [
        guardVersion(maintenanceWindows, scope.organizationId, before),
        changeWindow(after),
        ...replaceMembers(scope, id, members),
      ],
      notes: [],
      changes: listChangedFields(before, { ...after, ...members }, names),
    };
  },
};

const resolveMembers = (links: PlannedRecord["links"], idsOf: MakingContext["idsOf"]) => ({
  monitorIds: idsOf("monitor", getLinkedIds(links, "monitorIds")),
  groupIds: idsOf("group", getLinkedIds(links, "groupIds")),
});

export const statusPageMaker: RecordMaker = {
  async create({ fields }, context) {
    const { scope, now, at } = context;
    const id = createId(now);
    const { input, logo, notes } = await parsePageInput(fields, context, id);
    const page: StoredPage = {
      organizationId: scope.organizationId,
      id,
      isDefault: false,
      ...input,
      passwordHash: null,
      ...noFiles,
      ...logo,
      ...buildFirstVersion(at),
    };
    return {
      id,
      statements: insertPage(scope, page),
      notes,
    };
  },
  async update({ fields }, id, changed, context) {
    const { scope, at } = context;
    const [before] = await findPages(scope, id);
    if (before === undefined) return null;
    const { input, logo, notes } = await parsePageInput(
      { ...fields, slug: before.slug },
      context,
      id,
    );
    const changedFields = Object.fromEntries(
      Object.entries(input).filter(([name]) => changed.has(name) && name !== "slug"),
    ) as Partial<StoredPage>;
    return {
      statements: [
        guardVersion(statusPages, scope.organizationId, before),
        ...changePage(scope, before, {
          ...changedFields,
          ...(changed.has("icon") && logo),
          ...buildNextVersion(before, at),
        }),
      ],
      notes,
      changes: listChangedFields(
        before,
        changedFields,
        Object.keys(changedFields),
        changed.has("icon") ? ["logo"] : [],
      ),
    };
  },
};

async function parsePageInput(
  { icon, sections, hosts, ...fields }: Fields,
  { scope, idsOf, picture }: MakingContext,
  id: string,
) {
  const notes: string[] = [];
  const requestedHosts = hosts as string[];
  const takenHosts = await scope.store.query<{ host: string }>(
    `select host from status_page_hosts where host in (select value from json_each(?)) and page_id <> ?`,
    [JSON.stringify(requestedHosts), id],
  );
  const free = requestedHosts.filter(
    (host) => !scope.ownHosts.isReserved(host) && !takenHosts.some((one) => one.host === host),
  );
  for (const host of requestedHosts)
    if (!free.includes(host))
      notes.push(`Without its host name ${host}: another page here has it.`);
  const { password: _password, ...input } = parse(NewStatusPage, {
    ...fields,
    hosts: free,
    sections: (sections as { name: string; monitors: string[] }[]).map(({ name, monitors }) => ({
      name,
      monitors: idsOf("monitor", monitors).map((monitorId) => ({ id: monitorId })),
    })),
  });
  const logo = { logoType: null as string | null, logoData: null as string | null };
  const address = typeof icon === "string" ? icon : "";
  const image = address === "" || address === "/icon.svg" ? null : await picture(address);
  if (image !== null && (await findRefusal(async () => assertImage(image))) === null) {
    logo.logoType = image.type;
    logo.logoData = image.bytes.toBase64();
  } else if (address !== "" && address !== "/icon.svg")
    notes.push(
      "Without its logo: it is in the folder upload of the data directory. Give the whole directory, or set it here.",
    );
  return { input, logo, notes };
}

const insertAuditEntry = createInsert(auditEntries);

export const incidentMaker: RecordMaker = {
  async create({ fields }, { scope, at }) {
    const { createdAt, resolvedAt, ...rest } = fields as {
      createdAt: string;
      resolvedAt: string | null;
    } & Fields;
    const input = parse(NewIncident, rest);
    const { organizationId, actor, requestId } = scope;
    const opened = insertIncident(
      organizationId,
      { ...input, monitorIds: [] },
      "manual",
      Date.parse(createdAt),
    );
    const resolved =
      resolvedAt === null
        ? []
        : patchIncident(
            organizationId,
            opened.after,
            { status: "resolved" },
            Date.parse(resolvedAt),
          ).statements;
    return {
      id: opened.after.id,
      statements: [
        ...opened.statements,
        ...resolved,
        // Writes only the audit entry: an event would notify people of an incident of another installation.
        insertAuditEntry({
          organizationId,
          at,
          actorType: actor.type,
          actorId: actor.id,
          actorName: actor.name,
          action: "incident.opened",
          subjectId: opened.after.id,
          requestId,
        }),
      ],
      notes: [],
    };
  },
  async update({ fields }, id, changed, { scope, now }) {
    const before = await findHead(scope, id);
    if (before === null) return null;
    const { title, severity, message } = changed.fields as {
      title?: string;
      severity?: "minor" | "major" | "critical";
      message?: string;
    };
    const isOver =
      changed.has("resolvedAt") && fields["resolvedAt"] !== null && before.status !== "resolved";
    const patch = {
      ...(title !== undefined && { title }),
      ...(severity !== undefined && { severity }),
      ...(message !== undefined && { message }),
      ...(isOver && { status: "resolved" as const }),
    };
    if (Object.keys(patch).length === 0) return { statements: [], notes: [] };
    const write = patchIncident(scope.organizationId, before, patch, now);
    return {
      statements: [guardVersion(incidents, scope.organizationId, before), ...write.statements],
      notes: [],
    };
  },
};
