import { searchBounds } from "../../src/core/limits.ts";
import { useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { momentIn } from "../../src/core/time/times.ts";
import { useAlertChannels } from "../data/alert-channels.ts";
import { v1 } from "../data/client.ts";
import { listKey } from "../data/keys.ts";
import { isPartly, knownIn, overviewQuery } from "../data/overview.ts";
import { pageQuery } from "../data/query.ts";
import { useSignedIn } from "../data/session.ts";
import { useStatusPages } from "../data/status-pages.ts";
import { type Dialog, openDialog } from "../components/open-dialog.ts";
import type { IconName } from "../components/display/icons.tsx";
import { StateIcon } from "../components/display/state-icon.tsx";
import { useZone } from "../components/display/time.tsx";
import { notifyError, notify } from "../components/toasts.tsx";
import { testFromList } from "../pages/alert-channels/actions.ts";
import { resolveIncident } from "../pages/incidents/resolve.ts";
import { useWindows } from "../pages/maintenance/data.ts";
import { addMonitor, pauseMonitor } from "../pages/monitors/actions.ts";
import { targetOf } from "../pages/monitors/quick-add.ts";
import { sections } from "../pages/settings/sections.ts";
import { addressOf } from "../pages/status-pages/labels.tsx";
import { themes } from "./person-menu.tsx";
import { useNavigationItems } from "./navigation-items.ts";
import type { Command } from "./palette-rules.ts";
import { useOrganizationSwitch } from "./switching.ts";

const dialogs: { label: string; hint?: string; icon: IconName; dialog: Dialog }[] = [
  { label: "Create monitor", hint: "N", icon: "plus", dialog: { kind: "create-monitor" } },
  { label: "Create group", icon: "folder", dialog: { kind: "create-group" } },
  { label: "Create incident", icon: "warning", dialog: { kind: "create-incident" } },
  { label: "Schedule maintenance", icon: "calendar", dialog: { kind: "plan-maintenance" } },
];

/** Everything the palette can do at the moment. */
export function useCommands(
  text: string,
  onHelp: () => void,
  goTo: (href: string) => void,
): Command[] {
  const { data: overview } = useQuery(overviewQuery);
  const { data: channels = [] } = useAlertChannels();
  const { data: pages = [] } = useStatusPages();
  const { setColorScheme } = useMantineColorScheme();
  const { data: open } = useQuery(
    pageQuery([...listKey("incident"), "open"], (options) =>
      v1.incidents.get({ query: { open: "true", per_page: 20 }, ...options }),
    ),
  );
  // All of them would be many: what was typed is looked for on the server.
  const q = text.trim().slice(0, searchBounds.text.value);
  const { data: past } = useQuery({
    ...pageQuery([...listKey("incident"), "over", "found", q], (options) =>
      v1.incidents.get({ query: { open: "false", per_page: 10, q }, ...options }),
    ),
    enabled: q.length > 2,
  });
  const { data: found } = useQuery({
    ...pageQuery([...listKey("monitor"), "found", q], (options) =>
      v1.monitors.get({
        query: { per_page: 20, q },
        ...options,
      }),
    ),
    enabled: q.length > 1 && overview !== undefined && isPartly(overview),
  });
  const { data: windows = [] } = useWindows(undefined, q.length > 1);
  const zone = useZone();
  const items = useNavigationItems();
  const { mayWrite, may, organization, organizations } = useSignedIn();
  const switchTo = useOrganizationSwitch();
  const commands: Command[] = [];
  const add = (
    label: string,
    icon: Command["icon"],
    run: () => void,
    extra: Partial<Command> = {},
  ) =>
    commands.push({
      key: label,
      label,
      icon,
      run,
      ...extra,
    });
  // What is done to a record is found only by those who began to type it.
  const acts = mayWrite && text.length > 2;

  const target = targetOf(text);
  if (mayWrite && target !== null)
    add(
      `Create monitor: ${text.trim()}`,
      "plus",
      () => void addMonitor(target).then(() => notify(`Created ${target.name}`), notifyError),
      { hint: target.type },
    );
  for (const { to, label, icon, keys } of items)
    add(label, icon, () => goTo(to), { key: to, hint: keys.toUpperCase(), common: true });
  if (mayWrite) {
    for (const { label, icon, dialog, hint } of dialogs)
      add(label, icon, () => openDialog(dialog), { common: true, ...(hint && { hint }) });
    for (const [label, path] of [
      ["Create alert channel", "/alert-channels?new="],
      ["Create status page", "/status-pages?new="],
    ] as const)
      add(label, "plus", () => goTo(path), { common: true });
  }
  for (const { path, icon, act } of sections)
    if (act !== undefined && may(act.role))
      add(act.label, icon, () => goTo(`/settings/${path}?new=true`));
  for (const { path, label, icon, role } of sections)
    if (may(role)) add(`Settings: ${label}`, icon, () => goTo(`/settings/${path}`));
  add("Wall view", "screen", () => goTo("/wall"), { hint: "For a TV", common: true });
  for (const { id, name } of organizations)
    if (id !== organization.id)
      add(`Switch to ${name}`, "folder", () => void switchTo(id).catch(notifyError), {
        key: id,
        hint: "Organization",
      });
  add("Shortcuts", "keyboard", onHelp, { hint: "?", common: true });
  for (const { value, label, icon } of themes)
    add(`Theme: ${label}`, icon, () => setColorScheme(value), { key: `theme ${value}` });

  const known = overview === undefined ? [] : knownIn(overview);
  const here = new Set(known.map(({ id }) => id));
  const others = (found?.data ?? [])
    .filter(({ id }) => !here.has(id))
    .map(({ id, name, status, paused, tags }) => ({
      id,
      name,
      status,
      paused,
      tags,
      target: null,
    }));
  for (const monitor of [...known, ...others]) {
    const { id, name, status, paused } = monitor;
    const icon = <StateIcon state={status} />;
    const keywords = [monitor.target ?? "", ...monitor.tags].join(" ");
    add(name, icon, () => goTo(`/monitors/${id}`), { key: id, hint: "Monitor", keywords });
    if (acts)
      add(
        `${paused ? "Resume" : "Pause"} ${name}`,
        paused ? "play" : "pause",
        () => void pauseMonitor(monitor),
        { key: `pause ${id}` },
      );
  }
  for (const { id, name, tags } of overview?.groups ?? [])
    add(name, "folder", () => goTo(`/monitors?q=${encodeURIComponent(name)}`), {
      key: id,
      hint: "Group",
      keywords: tags.join(" "),
    });
  const tags = [...(overview?.monitors ?? []), ...(overview?.groups ?? [])].flatMap(
    (one) => one.tags,
  );
  for (const tag of new Set(tags))
    add(`Tag: ${tag}`, "tag", () => goTo(`/monitors?tag=${encodeURIComponent(tag)}`), {
      key: `tag ${tag}`,
      hint: "Tag",
    });
  for (const { id, title } of windows)
    add(title, "calendar", () => goTo(`/maintenance/${id}`), { key: id, hint: "Maintenance" });
  // Monitors that fail again and again have many of the same title.
  for (const { id, title, createdAt } of past?.data ?? [])
    add(title, "check", () => goTo(`/incidents/${id}`), {
      key: id,
      hint: `Resolved incident · ${momentIn(zone, Date.parse(createdAt), Date.now())}`,
    });
  for (const incident of open?.data ?? []) {
    const { id, title } = incident;
    add(title, "warning", () => goTo(`/incidents/${id}`), { key: id, hint: "Incident" });
    if (mayWrite)
      add(`Resolve ${title}`, "check", () => resolveIncident(incident), { key: `resolve ${id}` });
  }
  for (const channel of channels) {
    const { id, name } = channel;
    add(name, "bell", () => goTo(`/alert-channels/${id}`), { key: id, hint: "Alert channel" });
    if (acts)
      add(`Send test to ${name}`, "bell", () => void testFromList(channel), { key: `test ${id}` });
  }
  for (const page of pages) {
    const { id, title } = page;
    add(title, "page", () => goTo(`/status-pages/${id}`), { key: id, hint: "Status page" });
    if (text.length > 2)
      add(
        `Open ${title} in a new tab`,
        "external",
        () => void window.open(addressOf(page), "_blank", "noreferrer"),
        { key: `open ${id}` },
      );
  }
  return commands;
}
