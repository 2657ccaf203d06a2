/** Collects the commands of the palette: pages, actions, and records of the cache or the server. */
import { maxSearchLength } from "../data/search-limit.ts";
import { useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { formatDateTime } from "../../src/core/time/times.ts";
import { useAlertChannels } from "../data/alert-channels.ts";
import { v1, addIdempotencyKey } from "../data/client.ts";
import { listKey } from "../data/keys.ts";
import {
  isPartial,
  listKnownMonitors,
  type OverviewGroup,
  overviewQuery,
} from "../data/overview.ts";
import { createPageQuery } from "../data/query.ts";
import { createProvisionalId } from "../data/record.ts";
import { useSignedInPerson } from "../data/session.ts";
import { useStatusPages } from "../data/status-pages.ts";
import type { RecordAction } from "../components/menus.tsx";
import { hold } from "../components/held-changes.tsx";
import { type Dialog, openDialog } from "../components/open-dialog.ts";
import type { IconName } from "../components/display/icons.tsx";
import { StateIcon } from "../components/display/state-icon.tsx";
import { useZone } from "../components/display/time.tsx";
import { notifyError, notify } from "../components/toasts.tsx";
import { setEnabled, testFromList } from "../pages/alert-channels/actions.ts";
import { useWindows } from "../pages/maintenance/current-windows.ts";
import { listTakeOvers, useOnCall } from "../pages/on-call/data.ts";
import { peopleQuery } from "../pages/settings/data.ts";
import {
  acknowledgeAlert,
  listSnoozes,
  openAgain,
  openStatuses,
  useAlerts,
} from "../pages/alerts/data.ts";
import { addMonitor } from "../pages/monitors/actions.ts";
import {
  getGroupActions,
  getMonitorActions,
  listPauses,
} from "../pages/monitors/record-actions.ts";
import { parseTarget } from "../pages/monitors/quick-add.ts";
import { sections } from "../pages/settings/sections.ts";
import { buildPageUrl } from "../pages/status-pages/labels.tsx";
import { Finder, type SearchField } from "./finder.tsx";
import { themes } from "./person-items.tsx";
import { useNavigationItems } from "./navigation-items.ts";
import { type Command, rankCommands, selectForActions } from "./palette-rules.ts";
import { recentRecords } from "./recent-records.ts";
import { usePersonActions } from "./person-actions.ts";
import { useOrganizationSwitch } from "./organization-switch.ts";
import { nameIncident } from "../language/server-text.ts";
import { nameAlert } from "../language/server-text.ts";
import { t } from "../language/text.ts";

const dialogs: { label: string; keys?: string; icon: IconName; dialog: Dialog }[] = [
  { label: t("Create monitor"), keys: "N", icon: "plus", dialog: { kind: "create-monitor" } },
  { label: t("Create group"), icon: "folder", dialog: { kind: "create-group" } },
  { label: t("Create incident"), icon: "warning", dialog: { kind: "create-incident" } },
  { label: t("Schedule maintenance"), icon: "calendar", dialog: { kind: "plan-maintenance" } },
];

const creatingPages = [
  [t("Create alert channel"), "/alert-channels?new="],
  [t("Create status page"), "/status-pages?new="],
] as const;

type Search = {
  text: string;
  /** Whether to load records that are seldom cached. */
  isSearching: boolean;
  goTo: (href: string) => void;
};

/** Finds commands and recent records for the typed text. */
export default function CommandFinder({
  text,
  onText,
  onHelp,
}: SearchField & { onHelp: () => void }) {
  const navigate = useNavigate();
  const recent = recentRecords.use();
  const { id: openId } = useParams({ strict: false });
  const recentIds = useMemo(() => [...recent].filter((one) => one !== openId), [recent, openId]);
  // Also true without a text, if the recent records must be loaded.
  const isSearching = text.trim().length > 1 || recentIds.length > 0;
  const goTo = (href: string) => void navigate({ href });
  const commands = useCommands({ text, isSearching, onHelp, goTo });
  const found = useMemo(() => rankCommands(commands, text, recentIds), [commands, text, recentIds]);
  return <Finder text={text} onText={onText} found={found} />;
}

/** All commands for a text: pages, actions and records. */
function useCommands({ onHelp, ...search }: Search & { onHelp: () => void }): Command[] {
  const { text, goTo } = search;
  return [
    ...useNewMonitorCommand(text),
    ...usePageCommands(onHelp, goTo),
    ...useMonitorCommands(search),
    ...useIncidentCommands(search),
    ...useAlertCommands(search),
    ...usePeopleCommands(search),
    ...useOtherRecordCommands(search),
  ];
}

const createCommand = (
  label: string,
  icon: Command["icon"],
  run: () => void,
  extra: Partial<Command> = {},
): Command => ({ key: label, label, icon, run, ...extra });

/** The commands of a record's actions. */
const createActionCommands = (
  { id, name }: { id: string; name: string },
  actions: readonly (RecordAction | null)[],
  hint: string,
): Command[] =>
  actions.flatMap((action) => {
    if (action === null) return [];
    const {
      label,
      icon,
      run,
      phrase = (name: string) => t("{label} {name}", { label, name }),
    } = action;
    return createCommand(phrase(name), icon, run, { key: `${label} ${id}`, hint });
  });

/** The part of the text that the server searches for. */
const toSearchText = (text: string) => text.trim().slice(0, maxSearchLength);

/**
 * Whether to offer actions on single records: only from three letters on, because there are many.
 */
const hasActions = (text: string) => text.length > 2;

/** Offers to create a monitor if the text is an address. */
function useNewMonitorCommand(text: string): Command[] {
  const { mayWrite } = useSignedInPerson();
  const target = parseTarget(text);
  if (!mayWrite || target === null) return [];
  const create = () =>
    addMonitor(target).then(() => notify(t("Created {name}", { name: target.name })), notifyError);
  return [
    createCommand(t("Create monitor: {text}", { text: text.trim() }), "plus", () => void create(), {
      hint: target.type,
    }),
  ];
}

/** Commands to create the records that the person may create. */
const listCreatingCommands = (
  { mayWrite, mayWriteAll }: { mayWrite: boolean; mayWriteAll: boolean },
  goTo: (href: string) => void,
): Command[] => [
  ...dialogs
    .filter(({ dialog }) => (dialog.kind === "create-group" ? mayWriteAll : mayWrite))
    .map(({ label, icon, dialog, keys }) =>
      createCommand(label, icon, () => openDialog(dialog), {
        common: true,
        ...(keys && { keys }),
      }),
    ),
  ...(mayWriteAll ? creatingPages : []).map(([label, path]) =>
    createCommand(label, "plus", () => goTo(path), { common: true }),
  ),
];

/** Commands of the on-call pages, and of their records for administrators. */
const listOnCallCommands = (goTo: (href: string) => void, mayEdit: boolean): Command[] => [
  createCommand(t("Readiness"), "people", () => goTo("/on-call/readiness")),
  createCommand(t("Alert sources"), "webhook", () => goTo("/on-call/alert-sources"), {
    keywords: "prometheus alertmanager grafana zabbix integrations",
  }),
  ...(mayEdit
    ? [
        createCommand(t("Create schedule"), "people", () =>
          openDialog({ kind: "create-schedule" }),
        ),
        createCommand(t("Create escalation policy"), "bell", () =>
          openDialog({ kind: "create-policy" }),
        ),
        createCommand(t("Create alert source"), "webhook", () =>
          openDialog({ kind: "create-source" }),
        ),
      ]
    : []),
];

/** Commands for pages, dialogs, settings, organizations, shortcuts and themes. */
function usePageCommands(onHelp: () => void, goTo: (href: string) => void): Command[] {
  const { setColorScheme } = useMantineColorScheme();
  const items = useNavigationItems();
  const rights = useSignedInPerson();
  const { isLimited, may, organization, organizations } = rights;
  const switchTo = useOrganizationSwitch();
  const { wall, shortcuts, reference, signOut } = usePersonActions(onHelp);
  const commands = items.map(({ to, label, icon, keys }) =>
    createCommand(label, icon, () => goTo(to), { key: to, keys: keys.toUpperCase(), common: true }),
  );
  commands.push(...listCreatingCommands(rights, goTo));
  if (!isLimited) commands.push(...listOnCallCommands(goTo, may("admin")));
  for (const { path, icon, act } of sections)
    if (act !== undefined && may(act.role) && !(act.isForAll && isLimited))
      commands.push(createCommand(act.label, icon, () => goTo(`/settings/${path}?new=true`)));
  for (const { path, label, icon, role, settings } of sections)
    if (may(role))
      commands.push(
        createCommand(t("Settings: {label}", { label }), icon, () => goTo(`/settings/${path}`), {
          keywords: settings.join(" "),
        }),
      );
  for (const { id, name } of organizations)
    if (id !== organization.id)
      commands.push(
        createCommand(
          t("Switch to {name}", { name }),
          "folder",
          () => void switchTo(id).catch(notifyError),
          {
            key: id,
            hint: t("Organization"),
          },
        ),
      );
  return [
    ...commands,
    createCommand(wall.label, wall.icon, wall.run, { hint: t("For a TV"), common: true }),
    createCommand(shortcuts.label, shortcuts.icon, shortcuts.run, { keys: "?", common: true }),
    createCommand(reference.label, reference.icon, reference.run, {
      keywords: t("docs documents"),
    }),
    createCommand(signOut.label, signOut.icon, signOut.run, { keywords: t("log out") }),
    ...themes.map(({ value, label, icon }) =>
      createCommand(t("Theme: {label}", { label }), icon, () => setColorScheme(value), {
        key: `theme ${value}`,
      }),
    ),
  ];
}

/** The monitors of the overview. If it has only the first ones, the server searches for others. */
function useKnownMonitors(text: string) {
  const { data: overview } = useQuery(overviewQuery);
  const q = toSearchText(text);
  const { data: found } = useQuery({
    ...createPageQuery([...listKey("monitor"), "found", q], (options) =>
      v1.monitors.get({ query: { per_page: 20, q }, ...options }),
    ),
    enabled: q.length > 1 && overview !== undefined && isPartial(overview),
  });
  const known = overview === undefined ? [] : listKnownMonitors(overview);
  const knownIds = new Set(known.map(({ id }) => id));
  const others = (found?.data ?? []).filter(({ id }) => !knownIds.has(id));
  return { overview, monitors: [...known, ...others.map((one) => ({ ...one, target: null }))] };
}

/** Commands for monitors, groups and tags. A group is before a monitor that matches as well. */
function useMonitorCommands({ text, goTo }: Search): Command[] {
  const { mayWrite } = useSignedInPerson();
  const zone = useZone();
  const { overview, monitors } = useKnownMonitors(text);
  const groups = overview?.groups ?? [];
  const tagged = [...(overview?.monitors ?? []), ...groups];
  return [
    ...monitors.map(({ id, name, status, target, tags }) =>
      createCommand(name, <StateIcon state={status} />, () => goTo(`/monitors/${id}`), {
        key: id,
        hint: t("Monitor"),
        keywords: [target ?? "", ...tags].join(" "),
      }),
    ),
    ...groups.map(({ id, name, tags }) =>
      createCommand(name, "folder", () => goTo(`/monitors?q=${encodeURIComponent(name)}`), {
        key: id,
        hint: t("Group"),
        keywords: tags.join(" "),
      }),
    ),
    ...[...new Set(tagged.flatMap(({ tags }) => tags))].map((tag) =>
      createCommand(
        t("Tag: {tag}", { tag }),
        "tag",
        () => goTo(`/monitors?tag=${encodeURIComponent(tag)}`),
        {
          key: `tag ${tag}`,
          hint: t("Tag"),
        },
      ),
    ),
    // After the records, so that a name alone with Enter opens the record.
    ...(mayWrite && hasActions(text) ? listMonitorActions(groups, monitors, text, zone) : []),
  ];
}

function listMonitorActions(
  groups: readonly OverviewGroup[],
  monitors: readonly Parameters<typeof getMonitorActions>[0][],
  text: string,
  zone: string,
): Command[] {
  const chosen = selectForActions(monitors, text);
  return [
    ...selectForActions(groups, text).flatMap((group) =>
      createActionCommands(group, Object.values(getGroupActions(group)), t("Group")),
    ),
    ...chosen.flatMap((monitor) =>
      createActionCommands(monitor, Object.values(getMonitorActions(monitor)), t("Monitor")),
    ),
    // After all others, because there are several per monitor.
    ...chosen.flatMap((monitor) =>
      createActionCommands(monitor, listPauses(monitor, zone), t("Monitor")),
    ),
  ];
}

/** Commands for maintenance windows and incidents. The server finds the resolved ones. */
function useIncidentCommands({ text, isSearching, goTo }: Search): Command[] {
  const { mayWrite } = useSignedInPerson();
  const zone = useZone();
  const q = toSearchText(text);
  const { data: open } = useQuery(
    createPageQuery([...listKey("incident"), "open"], (options) =>
      v1.incidents.get({ query: { open: "true", per_page: 20 }, ...options }),
    ),
  );
  const { data: past } = useQuery({
    ...createPageQuery([...listKey("incident"), "over", "found", q], (options) =>
      v1.incidents.get({ query: { open: "false", per_page: 10, q }, ...options }),
    ),
    enabled: q.length > 2,
  });
  const { data: windows = [] } = useWindows(undefined, isSearching);
  const visit = (id: string) => () => goTo(`/incidents/${id}`);
  return [
    ...windows.map(({ id, title }) =>
      createCommand(title, "calendar", () => goTo(`/maintenance/${id}`), {
        key: id,
        hint: t("Maintenance"),
      }),
    ),
    ...(past?.data ?? []).map((incident) =>
      createCommand(nameIncident(incident), "check", visit(incident.id), {
        key: incident.id,
        // Monitors that fail repeatedly have many incidents with the same title.
        hint: t("Resolved incident · {time}", {
          time: formatDateTime(zone, Date.parse(incident.createdAt), Date.now()),
        }),
      }),
    ),
    ...(open?.data ?? []).flatMap((incident) => {
      const { id, partial } = incident;
      const title = nameIncident(incident);
      const resolve = () => resolveIncident(id);
      return [
        createCommand(title, "warning", visit(id), { key: id, hint: t("Incident") }),
        ...(mayWrite && partial !== true
          ? [
              createCommand(t("Resolve {title}", { title }), "check", resolve, {
                key: `resolve ${id}`,
              }),
            ]
          : []),
      ];
    }),
  ];
}

/** Resolves an incident after the hold. */
function resolveIncident(id: string) {
  const idempotency = addIdempotencyKey(createProvisionalId());
  hold((query) => v1.incidents({ id }).resolve.post(undefined, { query, ...idempotency })).catch(
    notifyError,
  );
}

/** Commands for alerts whose problem is not over. */
function useAlertCommands({ text, isSearching, goTo }: Search): Command[] {
  const { mayWrite, person } = useSignedInPerson();
  const zone = useZone();
  const { data } = useAlerts({ status: openStatuses.join(",") }, 1, isSearching);
  return (data?.data ?? []).flatMap((alert) => {
    const { id, status, acknowledgments } = alert;
    const title = nameAlert(alert);
    const isOwn = status === "acknowledged" && acknowledgments.some((one) => one.id === person.id);
    const actions: RecordAction[] = [
      isOwn
        ? { label: t("Open again"), icon: "bell", run: () => void openAgain(alert) }
        : { label: t("Acknowledge"), icon: "check", run: () => void acknowledgeAlert(alert) },
      ...listSnoozes(alert, zone).map(({ label, run }) => ({
        label: t("Snooze {label}", { label }),
        icon: "mute" as const,
        run,
        phrase: (name: string) => t("Snooze {name} {label}", { name, label }),
      })),
    ];
    return [
      createCommand(title, "bell", () => goTo(`/alerts/${id}`), { key: id, hint: t("Alert") }),
      ...(mayWrite && hasActions(text)
        ? createActionCommands({ id, name: title }, actions, t("Alert"))
        : []),
    ];
  });
}

/** Commands for the people of the organization. */
function usePeopleCommands({ isSearching, goTo }: Search): Command[] {
  const { data: people = [] } = useQuery({ ...peopleQuery, enabled: isSearching });
  return people.map(({ id, name, email }) =>
    createCommand(name, "person", () => goTo("/settings/people"), {
      key: id,
      hint: t("Person"),
      keywords: email,
    }),
  );
}

/** Commands for schedules, alert channels and status pages. */
function useOtherRecordCommands({ text, isSearching, goTo }: Search): Command[] {
  const { mayWriteAll: mayWrite, person } = useSignedInPerson();
  const zone = useZone();
  const { data: channels = [] } = useAlertChannels();
  const { data: pages = [] } = useStatusPages();
  const { data: schedules = [] } = useOnCall(isSearching);
  const commands = schedules.map(({ scheduleId, scheduleName }) =>
    createCommand(scheduleName, "people", () => goTo(`/on-call/${scheduleId}`), {
      key: scheduleId,
      hint: t("Schedule"),
    }),
  );
  if (mayWrite && hasActions(text))
    for (const { scheduleId: id, scheduleName: name } of schedules)
      for (const { label, run } of listTakeOvers({ scheduleId: id }, person.id, zone))
        commands.push(
          createCommand(t("Take over {name} {label}", { name, label }), "people", run, {
            key: `take over ${label} ${id}`,
            hint: t("Schedule"),
          }),
        );
  for (const channel of channels) {
    const { id, name, enabled } = channel;
    const open = () => goTo(`/alert-channels/${id}`);
    commands.push(createCommand(name, "bell", open, { key: id, hint: t("Alert channel") }));
    if (mayWrite && hasActions(text))
      commands.push(
        createCommand(
          t("Send test to {name}", { name }),
          "bell",
          () => void testFromList(channel),
          {
            key: `test ${id}`,
          },
        ),
        createCommand(
          enabled ? t("Disable {name}", { name }) : t("Enable {name}", { name }),
          enabled ? "pause" : "play",
          () => void setEnabled(channel),
          { key: `enable ${id}`, hint: t("Alert channel") },
        ),
      );
  }
  for (const page of pages) {
    const { id, title } = page;
    const edit = () => goTo(`/status-pages/${id}`);
    const open = () => void window.open(buildPageUrl(page), "_blank", "noreferrer");
    commands.push(createCommand(title, "page", edit, { key: id, hint: t("Status page") }));
    if (hasActions(text))
      commands.push(
        createCommand(t("Open {title} in a new tab", { title }), "external", open, {
          key: `open ${id}`,
        }),
      );
  }
  return commands;
}
