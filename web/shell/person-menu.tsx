import { Menu, useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useProblems } from "../data/problems.ts";
import { signOut, useSignedIn } from "../data/session.ts";
import { palette } from "../components/open-dialog.ts";
import { plural } from "../components/display/format.ts";
import { Icon, type IconName } from "../components/display/icons.tsx";
import { MenuItem } from "../components/menus.tsx";
import { KeyHint } from "../components/page.tsx";
import { notifyError } from "../components/toasts.tsx";
import { onPhones, useNavigationItems } from "./navigation-items.ts";
import { useOrganizationSwitch } from "./switching.ts";

/** Also in the palette. */
export const themes: { value: "light" | "dark" | "auto"; label: string; icon: IconName }[] = [
  { value: "light", label: "Light", icon: "sun" },
  { value: "dark", label: "Dark", icon: "moon" },
  { value: "auto", label: "System", icon: "screen" },
];

/** Organization, person, theme: the corner of the navigation. */
export function PersonMenu({ onHelp }: { onHelp: () => void }) {
  const { person, organization, organizations } = useSignedIn();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const navigate = useNavigate();
  const switchTo = useOrganizationSwitch();
  const items = useNavigationItems();
  // On a phone the settings are in here.
  const troubles = useProblems().data?.appliance.length ?? 0;
  const checked = (is: boolean) => (is ? <Icon name="check" size={14} /> : null);
  return (
    <Menu position="top-start" floatingStrategy="fixed" width={240} withinPortal>
      <Menu.Target>
        <button type="button" className="rail-person">
          <span className="visually-hidden">Organization and account: </span>
          <span className="avatar" aria-hidden="true">
            {Array.from(organization.name)[0]?.toUpperCase()}
          </span>
          <span className="rail-person-words ellipsis min-w-0">
            {organization.name}
            <small>{organization.role}</small>
          </span>
          <Icon name="down" size={14} />
          <span className="rail-label only-phone" aria-hidden="true">
            More
          </span>
          {troubles > 0 && (
            <em className="num rail-warn only-phone">
              {troubles}
              <span className="rail-word"> {troubles === 1 ? "problem" : "problems"}</span>
            </em>
          )}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {organizations.length > 1 && (
          <>
            <Menu.Label>Organization</Menu.Label>
            {organizations.map(({ id, name }) => (
              <Menu.Item
                key={id}
                onClick={() => switchTo(id).catch(notifyError)}
                rightSection={checked(id === organization.id)}
              >
                {name}
              </Menu.Item>
            ))}
            <Menu.Divider />
          </>
        )}
        <Menu.Label className="only-phone">Go to</Menu.Label>
        {items.slice(onPhones).map(({ to, label, icon }) => (
          <Menu.Item
            key={to}
            className="only-phone"
            leftSection={<Icon name={icon} />}
            rightSection={
              to === "/settings" &&
              troubles > 0 && <span className="degraded num">{plural(troubles, "problem")}</span>
            }
            onClick={() => void navigate({ to })}
          >
            {label}
          </Menu.Item>
        ))}
        <MenuItem icon="screen" onClick={() => void navigate({ to: "/wall" })}>
          Wall view
        </MenuItem>
        <Menu.Label>Theme</Menu.Label>
        {themes.map(({ value, label, icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon name={icon} />}
            rightSection={checked(value === colorScheme)}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<Icon name="search" />}
          rightSection={<KeyHint keys="modK" />}
          onClick={() => palette.set(true)}
        >
          Commands
        </Menu.Item>
        <Menu.Item
          leftSection={<Icon name="keyboard" />}
          rightSection={<KeyHint keys="?" />}
          onClick={onHelp}
        >
          Shortcuts
        </Menu.Item>
        <Menu.Item
          leftSection={<Icon name="terminal" />}
          component="a"
          href="/docs"
          target="_blank"
        >
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{person.email}</Menu.Label>
        <MenuItem icon="person" onClick={() => void navigate({ href: "/settings/profile" })}>
          My profile
        </MenuItem>
        <MenuItem icon="exit" onClick={() => signOut().catch(notifyError)}>
          Sign out
        </MenuItem>
      </Menu.Dropdown>
    </Menu>
  );
}
