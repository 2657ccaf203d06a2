/** The items of the person menu: organizations, pages, theme, help and account. */
import { Menu, useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { countProblems, useProblems } from "../data/problems.ts";
import { useSignedInPerson } from "../data/session.ts";
import { palette } from "../components/open-dialog.ts";
import { formatCount } from "../components/display/format.ts";
import { Icon, type IconName } from "../components/display/icons.tsx";
import { ActionItem } from "../components/menus.tsx";
import { KeyHint } from "../components/page.tsx";
import { notifyError } from "../components/toasts.tsx";
import { onPhones, useNavigationItems } from "./navigation-items.ts";
import { usePersonActions } from "./person-actions.ts";
import { useOrganizationSwitch } from "./organization-switch.ts";
import { t, tCount } from "../language/text.ts";

/** Color themes, also offered in the command palette. */
export const themes: { value: "light" | "dark" | "auto"; label: string; icon: IconName }[] = [
  { value: "light", label: t("Light"), icon: "sun" },
  { value: "dark", label: t("Dark"), icon: "moon" },
  { value: "auto", label: t("System"), icon: "screen" },
];

const checkMark = (isChecked: boolean) => (isChecked ? <Icon name="check" size={14} /> : null);

export function PersonItems({ onHelp }: { onHelp: () => void }) {
  const { person } = useSignedInPerson();
  const actions = usePersonActions(onHelp);
  const { data } = useProblems();
  const { onCall, appliance } = countProblems(data);
  const failing = data?.channels.length ?? 0;
  return (
    <>
      <OrganizationItems />
      <PageItems onCall={onCall} appliance={appliance} failing={failing} />
      <ActionItem action={actions.wall} />
      <ThemeItems />
      <Menu.Divider />
      <Menu.Item
        leftSection={<Icon name="search" />}
        rightSection={<KeyHint keys="modK" />}
        onClick={() => palette.set(true)}
      >
        {t("Commands")}
      </Menu.Item>
      <ActionItem action={actions.shortcuts} rightSection={<KeyHint keys="?" />} />
      <Menu.Item
        leftSection={<Icon name={actions.reference.icon} />}
        component="a"
        href="/docs"
        target="_blank"
      >
        {actions.reference.label}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Label>{person.email}</Menu.Label>
      <ActionItem action={actions.profile} />
      <ActionItem action={actions.signOut} />
    </>
  );
}

function OrganizationItems() {
  const { organization, organizations } = useSignedInPerson();
  const switchTo = useOrganizationSwitch();
  if (organizations.length < 2) return null;
  return (
    <>
      <Menu.Label>{t("Organization")}</Menu.Label>
      {organizations.map(({ id, name }) => (
        <Menu.Item
          key={id}
          onClick={() => switchTo(id).catch(notifyError)}
          rightSection={checkMark(id === organization.id)}
        >
          {name}
        </Menu.Item>
      ))}
      <Menu.Divider />
    </>
  );
}

/** Pages that the navigation has no space for. On phones, they include the settings. */
function PageItems({
  onCall,
  appliance,
  failing,
}: {
  onCall: number;
  appliance: number;
  failing: number;
}) {
  const navigate = useNavigate();
  const hints: Record<string, string | false> = {
    "/on-call": onCall > 0 && tCount(onCall, "{count} problem", "{count} problems"),
    "/settings": appliance > 0 && tCount(appliance, "{count} problem", "{count} problems"),
    "/alert-channels": failing > 0 && t("{count} failing", { count: formatCount(failing) }),
  };
  return (
    <>
      <Menu.Label className="only-phone">{t("Go to")}</Menu.Label>
      {useNavigationItems()
        .slice(onPhones)
        .map(({ to, label, icon }) => (
          <Menu.Item
            key={to}
            className="only-phone"
            leftSection={<Icon name={icon} />}
            rightSection={hints[to] && <span className="degraded num">{hints[to]}</span>}
            onClick={() => void navigate({ to })}
          >
            {label}
          </Menu.Item>
        ))}
    </>
  );
}

function ThemeItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <>
      <Menu.Label>{t("Theme")}</Menu.Label>
      {themes.map(({ value, label, icon }) => (
        <Menu.Item
          key={value}
          leftSection={<Icon name={icon} />}
          rightSection={checkMark(value === colorScheme)}
          onClick={() => setColorScheme(value)}
        >
          {label}
        </Menu.Item>
      ))}
    </>
  );
}
