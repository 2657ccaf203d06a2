/** Collects the commands of the palette: pages, actions, and records of the cache or the server. */
import { maxSearchLength } from "../data/search-limit.ts";
import { useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { formatDateTime } from "../../src/core/time/times.ts";
import { useAlertChannels } from "../data/alert-channels.ts";
import { v1, withIdempotencyKey } from "../data/client.ts";
import { listKey } from "../data/keys.ts";
import { isPartly, listKnownMonitors, overviewQuery } from "../data/overview.ts";
import { createPageQuery } from "../data/query.ts";
import { createProvisionalId } from "../data/record.ts";
import { useSignedInPerson } from "../data/session.ts";
import { useStatusPages } from "../data/status-pages.ts";
import { hold } from "../components/held-changes.tsx";
import { type Dialog, openDialog } from "../components/open-dialog.ts";
import type { IconName } from "../components/display/icons.tsx";
import { StateIcon } from "../components/display/state-icon.tsx";
import { useZone } from "../components/display/time.tsx";
import { notifyError, notify } from "../components/toasts.tsx";
import { testFromList } from "../pages/alert-channels/actions.ts";
import { useWindows } from "../pages/maintenance/data.ts";
import { useOnCall } from "../pages/on-call/data.ts";
import { addMonitor, pauseMonitor } from "../pages/monitors/actions.ts";
import { parseTarget } from "../pages/monitors/quick-add.ts";
import { sections } from "../pages/settings/sections.ts";
import { buildPageUrl } from "../pages/status-pages/labels.tsx";
import { themes } from "./person-menu.tsx";
import { useNavigationItems } from "./navigation-items.ts";
import type { Command } from "./palette-rules.ts";
import { useOrganizationSwitch } from "./organization-switch.ts";

const dialogs: { label: string; hint?: string; icon: IconName; dialog: Dialog }[] = [
  { label: "Create monitor", hint: "N", icon: "plus", dialog: { kind: "create-monitor" } },
  { label: "Create group", icon: "folder", dialog: { kind: "create-group" } },
  { label: "Create incident", icon: "warning", dialog: { kind: "create-incident" } },
  { label: "Schedule maintenance", icon: "calendar", dialog: { kind: "plan-maintenance" } },
];

const creatingPages = [
  ["Create alert channel", "/alert-channels?new="],
  ["Create status page", "/status-pages?new="],
] as const;

/** All commands for a text: pages, actions and records. */
export function useCommands(
  text: string,
  onHelp: () => void,
  goTo: (href: string) => void,
): Command[] {
  return [
    ...useNewMonitorCommand(text),
    ...usePageCommands(onHelp, goTo),
    ...useMonitorCommands(text, goTo),
    ...useIncidentCommands(text, goTo),
    ...useOtherRecordCommands(text, goTo),
  ];
}

const createCommand = (
  label: string,
  icon: Command["icon"],
  run: () => void,
  extra: Partial<Command> = {},
): Command => ({ key: label, label, icon, run, ...extra });

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
  const create = () => addMonitor(target).then(() => notify(`Created ${target.name}`), notifyError);
  return [
    createCommand(`Create monitor: ${text.trim()}`, "plus", () => void create(), {
      hint: target.type,
    }),
  ];
}

/** Commands for pages, dialogs, settings, organizations, shortcuts and themes. */
function usePageCommands(onHelp: () => void, goTo: (href: string) => void): Command[] {
  const { setColorScheme } = useMantineColorScheme();
  const items = useNavigationItems();
  const { mayWrite, may, organization, organizations } = useSignedInPerson();
  const switchTo = useOrganizationSwitch();
  const commands = items.map(({ to, label, icon, keys }) =>
    createCommand(label, icon, () => goTo(to), { key: to, hint: keys.toUpperCase(), common: true }),
  );
  if (mayWrite)
    commands.push(
      ...dialogs.map(({ label, icon, dialog, hint }) =>
        createCommand(label, icon, () => openDialog(dialog), {
          common: true,
          ...(hint && { hint }),
        }),
      ),
      ...creatingPages.map(([label, path]) =>
        createCommand(label, "plus", () => goTo(path), { common: true }),
      ),
    );
  if (may("admin"))
    commands.push(
      createCommand("Create schedule", "people", () => openDialog({ kind: "create-schedule" })),
      createCommand("Create escalation policy", "bell", () =>
        openDialog({ kind: "create-policy" }),
      ),
    );
  for (const { path, icon, act } of sections)
    if (act !== undefined && may(act.role))
      commands.push(createCommand(act.label, icon, () => goTo(`/settings/${path}?new=true`)));
  for (const { path, label, icon, role, settings } of sections)
    if (may(role))
      commands.push(
        createCommand(`Settings: ${label}`, icon, () => goTo(`/settings/${path}`), {
          keywords: settings.join(" "),
        }),
      );
  commands.push(
    createCommand("Wall view", "screen", () => goTo("/wall"), { hint: "For a TV", common: true }),
  );
  for (const { id, name } of organizations)
    if (id !== organization.id)
      commands.push(
        createCommand(`Switch to ${name}`, "folder", () => void switchTo(id).catch(notifyError), {
          key: id,
          hint: "Organization",
        }),
      );
  return [
    ...commands,
    createCommand("Shortcuts", "keyboard", onHelp, { hint: "?", common: true }),
    ...themes.map(({ value, label, icon }) =>
      createCommand(`Theme: ${label}`, icon, () => setColorScheme(value), {
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
    enabled: q.length > 1 && overview !== undefined && isPartly(overview),
  });
  const known = overview === undefined ? [] : listKnownMonitors(overview);
  const knownIds = new Set(known.map(({ id }) => id));
  const others = (found?.data ?? []).filter(({ id }) => !knownIds.has(id));
  return { overview, monitors: [...known, ...others.map((one) => ({ ...one, target: null }))] };
}

/** Commands for monitors, groups and tags. */
function useMonitorCommands(text: string, goTo: (href: string) => void): Command[] {
  const { mayWrite } = useSignedInPerson();
  const { overview, monitors } = useKnownMonitors(text);
  const commands: Command[] = [];
  for (const monitor of monitors) {
    const { id, name, status, paused } = monitor;
    const icon = <StateIcon state={status} />;
    const keywords = [monitor.target ?? "", ...monitor.tags].join(" ");
    const open = () => goTo(`/monitors/${id}`);
    commands.push(createCommand(name, icon, open, { key: id, hint: "Monitor", keywords }));
    if (mayWrite && hasActions(text))
      commands.push(
        createCommand(
          `${paused ? "Resume" : "Pause"} ${name}`,
          paused ? "play" : "pause",
          () => void pauseMonitor(monitor),
          { key: `pause ${id}` },
        ),
      );
  }
  for (const { id, name, tags } of overview?.groups ?? [])
    commands.push(
      createCommand(name, "folder", () => goTo(`/monitors?q=${encodeURIComponent(name)}`), {
        key: id,
        hint: "Group",
        keywords: tags.join(" "),
      }),
    );
  const tagged = [...(overview?.monitors ?? []), ...(overview?.groups ?? [])];
  for (const tag of new Set(tagged.flatMap(({ tags }) => tags)))
    commands.push(
      createCommand(`Tag: ${tag}`, "tag", () => goTo(`/monitors?tag=${encodeURIComponent(tag)}`), {
        key: `tag ${tag}`,
        hint: "Tag",
      }),
    );
  return commands;
}

/** Commands for maintenance windows and incidents. The server finds the resolved ones. */
function useIncidentCommands(text: string, goTo: (href: string) => void): Command[] {
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
  const { data: windows = [] } = useWindows(undefined, q.length > 1);
  const visit = (id: string) => () => goTo(`/incidents/${id}`);
  return [
    ...windows.map(({ id, title }) =>
      createCommand(title, "calendar", () => goTo(`/maintenance/${id}`), {
        key: id,
        hint: "Maintenance",
      }),
    ),
    ...(past?.data ?? []).map(({ id, title, createdAt }) =>
      createCommand(title, "check", visit(id), {
        key: id,
        // Monitors that fail repeatedly have many incidents with the same title.
        hint: `Resolved incident · ${formatDateTime(zone, Date.parse(createdAt), Date.now())}`,
      }),
    ),
    ...(open?.data ?? []).flatMap((incident) => {
      const { id, title } = incident;
      const resolve = () => resolveIncident(id);
      return [
        createCommand(title, "warning", visit(id), { key: id, hint: "Incident" }),
        ...(mayWrite
          ? [createCommand(`Resolve ${title}`, "check", resolve, { key: `resolve ${id}` })]
          : []),
      ];
    }),
  ];
}

/** Resolves an incident after the hold. */
function resolveIncident(id: string) {
  const once = withIdempotencyKey(createProvisionalId());
  hold((query) => v1.incidents({ id }).resolve.post(undefined, { query, ...once })).catch(
    notifyError,
  );
}

/** Commands for schedules, alert channels and status pages. */
function useOtherRecordCommands(text: string, goTo: (href: string) => void): Command[] {
  const { mayWrite } = useSignedInPerson();
  const { data: channels = [] } = useAlertChannels();
  const { data: pages = [] } = useStatusPages();
  const { data: schedules = [] } = useOnCall(text.trim().length > 1);
  const commands = schedules.map(({ scheduleId, scheduleName }) =>
    createCommand(scheduleName, "people", () => goTo(`/on-call/${scheduleId}`), {
      key: scheduleId,
      hint: "Schedule",
    }),
  );
  for (const channel of channels) {
    const { id, name } = channel;
    const open = () => goTo(`/alert-channels/${id}`);
    commands.push(createCommand(name, "bell", open, { key: id, hint: "Alert channel" }));
    if (mayWrite && hasActions(text))
      commands.push(
        createCommand(`Send test to ${name}`, "bell", () => void testFromList(channel), {
          key: `test ${id}`,
        }),
      );
  }
  for (const page of pages) {
    const { id, title } = page;
    const edit = () => goTo(`/status-pages/${id}`);
    const open = () => void window.open(buildPageUrl(page), "_blank", "noreferrer");
    commands.push(createCommand(title, "page", edit, { key: id, hint: "Status page" }));
    if (hasActions(text))
      commands.push(
        createCommand(`Open ${title} in a new tab`, "external", open, { key: `open ${id}` }),
      );
  }
  return commands;
}
