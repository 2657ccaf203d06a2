import type { Role } from "../../src/core/roles.ts";
import { Icon } from "../components/icons.tsx";
import { sections } from "../pages/settings/sections.ts";
import type { Command } from "./palette-rules.ts";

/** Ways into the settings, as far as somebody may go, and to the wall. */
export function settingsCommands(
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
