/** Which routes can notify subscribers or channels, and that they can be held. */
import { expect, test } from "bun:test";
import { concernsAlerting } from "../../src/alerting/deciding/decide.ts";
import type { LoggedEvent } from "../../src/events/catalog.ts";
import { findLastSeq, readSince } from "../../src/events/log.ts";
import type { Route } from "../../src/http/openapi.ts";
import { concernsSubscribers } from "../../src/status-pages/subscribers/rules.ts";
import type { Client } from "../support/appliance.ts";
import { createPublisher, type Publisher } from "../support/publisher.ts";
import { createSampleMembers, signInMember } from "../support/people.ts";
import {
  buildInput,
  createRecordForRoute,
  fillIds,
  nounOf,
  sampleBodies,
} from "../support/records.ts";
import { dashboard } from "../support/routes.ts";

/** All routes that write data of an organization: those of the admin page, which include the API. */
const writes = (dashboard.routes as unknown as Route[]).filter(
  ({ method, hooks }) => method !== "GET" && hooks.detail?.endpoint?.access === "write",
);
const nameOf = ({ hooks }: Route) => hooks.detail?.endpoint?.name ?? "";
const canHold = ({ hooks }: Route) =>
  hooks.detail?.endpoint?.query?.safeParse({ hold: "1" }).success === true;

const settingReason = "alerts a channel only to a problem that already exists";
const requestedReason = "sends one message, to an address that the person has just chosen";
const importReason = "follows a preview of all its changes";
const ownReason = "reaches only the person who sends the request";
const caseReason = "changes only the case that a service already has";
const unrelatedReason = "is about accounts or files, and notifies no subscriber or channel";

/** Routes that need no hold, with the reason. */
const immediateRoutes: Record<string, string> = {
  acknowledgeAlert: caseReason,
  snoozeAlert: caseReason,
  replayAlertSourceRequest: "handles a request again that another tool sent",
  createAlertChannel: settingReason,
  updateAlertChannel: settingReason,
  restoreAlertChannel: settingReason,
  updateMonitor: settingReason,
  updateMonitorGroup: settingReason,
  unmuteMonitorGroup: settingReason,
  orderMonitors: settingReason,
  editIncidentUpdate: "corrects a published text, which sends nothing",
  addSubscriber: requestedReason,
  importSubscribers: "adds recipients of later updates, and sends nothing",
  releaseSubscriber: "changes what one subscriber gets, and sends nothing",
  sendTestMail: requestedReason,
  testAlertChannel: requestedReason,
  tryAlertChannel: requestedReason,
  tryChangedAlertChannel: requestedReason,
  deleteContactMethod: ownReason,
  drillPerson: requestedReason,
  setPersonDrill: "plans a message that is marked as a drill, and sends nothing now",
  sendVerificationCode: ownReason,
  testContactMethod: ownReason,
  updateContactMethod: ownReason,
  verifyContactMethod: ownReason,
  applyConfig: importReason,
  startImport: importReason,
  undoImport: importReason,
  previewImport: unrelatedReason,
  continueUpload: unrelatedReason,
  checkStatusPageHost: unrelatedReason,
  updateOrganization: unrelatedReason,
  changeMember: unrelatedReason,
  removeMember: unrelatedReason,
  invite: unrelatedReason,
  createApiKey: unrelatedReason,
  changeApiKey: unrelatedReason,
  revokeApiKey: unrelatedReason,
  setPasswordPolicy: unrelatedReason,
};

/** IDs of all groups, or of all monitors without a group. */
const listIds = ({ database, ours }: World, table: string) =>
  database
    .query<{ id: string }, [string]>(`select id from ${table} where organization_id = ?`)
    .all(ours.id)
    .map(({ id }) => id);

let restored = 0;
const restoreRenamed = () => ({ name: `Restored ${++restored}` });

/** Bodies of routes that need others than the API's samples. */
const bodies: Record<string, (world: World) => object> = {
  orderMonitors: (world) => ({
    groupId: listIds(world, "monitor_groups")[0],
    monitorIds: listIds(world, "monitors"),
  }),
  reorderMonitorGroups: (world) => ({ groupIds: listIds(world, "monitor_groups") }),
  restoreAlertChannel: restoreRenamed,
  restoreAlertSource: restoreRenamed,
  restoreMonitor: restoreRenamed,
  restoreMonitorGroup: restoreRenamed,
  updateSettings: () => ({ keepDeletedDays: 20 }),
};

/** Creates the child record that a route needs within the record `id`, and returns its ID. */
async function createChild(api: Client, { path }: Route, id: string) {
  const at = `/api/v1/incidents/${id}`;
  if (path.includes("/postmortem")) {
    await api("PATCH", at, { body: { status: "resolved" } });
    await api("PATCH", `${at}/postmortem`, { body: { message: "Why" } });
  }
  if (path.includes(":updateId")) return (await api("GET", at)).json.data.updates[0].id;
  const list = path.replace(/\/:\w+Id$/, "");
  const creation = writes.find((one) => one.method === "POST" && one.path === list);
  if (list === path || creation === undefined) return;
  const created = await api(
    "POST",
    fillIds(list, id).replace("/dashboard", ""),
    buildInput(creation),
  );
  return created.json.data.id;
}

/** Executes a route. Returns whether it can notify; null if the route needs more than a sample. */
async function execute(world: World, route: Route) {
  const { ours, store, mails, page } = world;
  const { api } = ours;
  const needsRecord = route.path.includes("/:id");
  if (needsRecord && !canCreate(route)) return null;
  const id = needsRecord ? await createRecordForRoute(api, route) : "";
  const child = await createChild(api, route, id);
  const body = bodies[nameOf(route)]?.(world);
  const last = await findLastSeq(store);
  mails.length = 0;
  const path = fillIds(route.path, id, child);
  const { status } = await page(
    route.method,
    path,
    body === undefined ? buildInput(route) : { body },
  );
  if (status >= 300) return null;
  return mails.length > 0 || (await readSince(store, last, 1_000)).some(canNotify);
}

const otherNouns = ["held-changes", "deleted-records", "alerts"];
const canCreate = ({ path }: Route) =>
  nounOf(path) in sampleBodies || otherNouns.includes(nounOf(path));

const canNotify = (event: LoggedEvent) => concernsAlerting(event) || concernsSubscribers(event);

type World = Publisher & { page: Client };

test("every route that can notify subscribers or channels can be held, or has a reason not to be", async () => {
  await using publisher = await createPublisher();
  const { page } = await signInMember(publisher, "owner");
  await createSampleMembers(publisher);
  const world = { ...publisher, page };
  const needed: string[] = [];
  for (const route of writes)
    if (!canHold(route) && (await execute(world, route)) !== false) needed.push(nameOf(route));
  expect(needed.toSorted()).toEqual(Object.keys(immediateRoutes).toSorted());
}, 60_000);
