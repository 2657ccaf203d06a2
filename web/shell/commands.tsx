import { listKey } from "../data/keys.ts";
import { useQuery } from "@tanstack/react-query";
import { dataOf, v1 } from "../data/client.ts";
import { pageQuery } from "../data/query.ts";
import { changeMonitor, useOverview } from "../data/overview.ts";
import { useSignedIn } from "../data/session.ts";
import { Icon } from "../components/icons.tsx";
import { StateIcon } from "../components/state-icon.tsx";
import { notifyError, notify } from "../components/toasts.tsx";
import { targetOf } from "../pages/monitors/quick-add.ts";
import { addMonitor } from "../pages/monitors/actions.ts";
import { openDialog } from "../components/dialogs.ts";
import { useChannelCommands } from "../pages/alert-channels/commands.tsx";
import { useStatusPageCommands } from "../pages/status-pages/commands.tsx";
import { useNavigationItems } from "./navigation-items.ts";
import { useOrganizationSwitch } from "./switching.ts";
import type { Command } from "./palette-rules.ts";
import type { Role } from "../../src/core/roles.ts";
import { sections } from "../pages/settings/sections.ts";

const keysOf = (keys: string) => keys.toUpperCase();

/** Everything the palette can do at the moment. */
export function useCommands(
  text: string,
  onHelp: () => void,
  goTo: (href: string) => void,
): Command[] {
  const { data: overview } = useOverview();
  const { mayWrite, may, organization, organizations } = useSignedIn();
  const switchTo = useOrganizationSwitch();
  const { data: open } = useQuery(
    pageQuery([...listKey("incident"), "open"], (options) =>
      v1.incidents.get({ query: { open: "true", per_page: 20 }, ...options }),
    ),
  );
  const ofChannels = useChannelCommands(text, goTo);
  const ofStatusPages = useStatusPageCommands(text, goTo);
  const commands: Command[] = useNavigationItems().map(({ to, label, icon, keys }) => ({
    key: to,
    label,
    hint: keysOf(keys),
    icon: <Icon name={icon} />,
    run: () => goTo(to),
    common: true,
  }));
  const target = targetOf(text);
  if (mayWrite) {
    if (target !== null)
      commands.unshift({
        key: "create",
        label: `Create monitor: ${text.trim()}`,
        hint: target.type,
        icon: <Icon name="plus" />,
        run: () => void addMonitor(target),
      });
    commands.push({
      key: "new-monitor",
      label: "Create monitor",
      hint: "N",
      icon: <Icon name="plus" />,
      run: () => openDialog({ kind: "create-monitor" }),
      common: true,
    });
    commands.push({
      key: "new-group",
      label: "Create group",
      icon: <Icon name="folder" />,
      run: () => openDialog({ kind: "create-group" }),
      common: true,
    });
    commands.push({
      key: "open-incident",
      label: "Create incident",
      icon: <Icon name="warning" />,
      run: () => openDialog({ kind: "create-incident" }),
      common: true,
    });
    commands.push({
      key: "plan-maintenance",
      label: "Plan maintenance",
      icon: <Icon name="calendar" />,
      run: () => openDialog({ kind: "plan-maintenance" }),
      common: true,
    });
  }
  commands.push(...settingsCommands(may, goTo));
  for (const { id, name } of organizations)
    if (id !== organization.id)
      commands.push({
        key: id,
        label: `Switch to ${name}`,
        hint: "Organization",
        icon: <Icon name="folder" />,
        run: () => void switchTo(id).catch(notifyError),
      });
  commands.push({
    key: "help",
    label: "Shortcuts",
    hint: "?",
    icon: <Icon name="keyboard" />,
    run: onHelp,
    common: true,
  });
  for (const { id, name, status, paused } of overview?.monitors ?? []) {
    commands.push({
      key: id,
      label: name,
      hint: "Monitor",
      icon: <StateIcon state={status} />,
      run: () => goTo(`/monitors/${id}`),
    });
    if (mayWrite && text.length > 2)
      commands.push({
        key: `pause ${id}`,
        label: `${paused ? "Resume" : "Pause"} ${name}`,
        icon: <Icon name={paused ? "play" : "pause"} />,
        run: () => void setPaused(id, name, !paused),
      });
  }
  for (const { id, title } of open?.data ?? []) {
    commands.push({
      key: id,
      label: title,
      hint: "Incident",
      icon: <Icon name="warning" />,
      run: () => goTo(`/incidents/${id}`),
    });
    if (mayWrite)
      commands.push({
        key: `resolve ${id}`,
        label: `Resolve ${title}`,
        icon: <Icon name="check" />,
        run: () => {
          dataOf(v1.incidents({ id }).resolve.post())
            .then(() => notify(`Resolved: ${title}`))
            .catch(notifyError);
        },
      });
  }
  commands.push(...ofChannels, ...ofStatusPages);
  return commands;
}

async function setPaused(id: string, name: string, paused: boolean) {
  changeMonitor(id, { paused, status: paused ? "paused" : "pending" });
  try {
    await dataOf(v1.monitors({ id }).patch({ paused }));
    notify(`${paused ? "Paused" : "Resumed"} ${name}`);
  } catch (error) {
    changeMonitor(id, { paused: !paused });
    notifyError(error);
  }
}

/** Ways into the settings, as far as somebody may go, and to the wall. */
function settingsCommands(
  may: (needed: Role | "administrator") => boolean,
  goTo: (href: string) => void,
): Command[] {
  const acts = sections.flatMap(({ path, icon, act }) =>
    act !== undefined && may(act.role)
      ? [
          {
            key: `act ${path}`,
            label: act.label,
            icon: <Icon name={icon} />,
            run: () => goTo(`/settings/${path}?new=true`),
          },
        ]
      : [],
  );
  const ways = sections
    .filter(({ role }) => may(role))
    .map(({ path, label, icon }) => ({
      key: `settings ${path}`,
      label: `Settings: ${label}`,
      icon: <Icon name={icon} />,
      run: () => goTo(`/settings/${path}`),
    }));
  const wall = { key: "wall", label: "Wall view", hint: "For a TV", common: true };
  return [...acts, ...ways, { ...wall, icon: <Icon name="screen" />, run: () => goTo("/wall") }];
}
