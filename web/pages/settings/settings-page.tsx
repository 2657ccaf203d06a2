/** The frame of the settings: navigation and the open section. */
import { TextInput } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Link, useParams } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { useSignedInPerson } from "../../data/session.ts";
import { Icon } from "../../components/display/icons.tsx";
import { EmptyState, PageHeader } from "../../components/page.tsx";
import { searchSections, type Section, sectionGroups, sections } from "./sections.ts";
import { roleNames } from "../../components/display/role-names.ts";
import { t, tNode } from "../../language/text.ts";

/** The list of sections next to the open one. Narrow windows show only one of them. */
export default function SettingsPage() {
  const { section: named } = useParams({ strict: false });
  const { may } = useSignedInPerson();
  const isNarrow = useMediaQuery("(max-width: 900px)", undefined, {
    getInitialValueInEffect: false,
  });
  if (named === undefined && isNarrow)
    return (
      <>
        <PageHeader title={t("Settings")} />
        <SectionList current={null} />
      </>
    );
  const chosen = named ?? "organization";
  const section = sections.find(({ path }) => path === chosen);
  if (section === undefined)
    return (
      <EmptyState icon={<Icon name="settings" size={28} />} title={t("Settings page not found")}>
        {tNode("The address is wrong. All pages are listed in {link}.", {
          link: <Link to="/settings">{t("Settings")}</Link>,
        })}
      </EmptyState>
    );
  return (
    <div className="settings">
      {!isNarrow && <SectionList current={chosen} />}
      <div className="settings-page">
        <PageHeader
          title={section.label}
          crumbs={isNarrow ? [{ to: "/settings", label: t("Settings") }] : []}
        />
        {may(section.role) ? (
          <Suspense>
            <section.page />
          </Suspense>
        ) : (
          <NotForYou role={section.role} />
        )}
      </div>
    </div>
  );
}

/** Titles of sections that the person can't open, by what they need. */
const titlesOfOthers: Record<Section["role"], string> = {
  viewer: t("For viewers"),
  member: t("For members"),
  admin: t("For admins"),
  owner: t("For owners"),
  administrator: t("For administrators"),
  unlimited: t("Not for your groups"),
};

function NotForYou({ role }: Pick<Section, "role">) {
  const { organization } = useSignedInPerson();
  return (
    <EmptyState icon={<Icon name="lock" size={28} />} title={titlesOfOthers[role]}>
      {role === "administrator"
        ? t("Only administrators of the appliance can see this page.")
        : role === "unlimited"
          ? t("This concerns all monitors of {name}. You are limited to some monitor groups.", {
              name: organization.name,
            })
          : t("This needs the role {role} in {organization}; your role is {own}.", {
              role: roleNames[role],
              organization: organization.name,
              own: roleNames[organization.role],
            })}
    </EmptyState>
  );
}

function SectionList({ current }: { current: string | null }) {
  const { may } = useSignedInPerson();
  const [text, setText] = useState("");
  const groups = sectionGroups
    .map(({ title, sections }) => ({
      title,
      found: searchSections(
        sections.filter(({ role }) => may(role)),
        text,
      ),
    }))
    .filter(({ found }) => found.length > 0);
  return (
    <nav className="settings-list" aria-label={t("Settings")}>
      <TextInput
        type="search"
        aria-label={t("Search settings")}
        placeholder={t("Search settings")}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key }) => key === "Escape" && setText("")}
      />
      {groups.length === 0 && <p className="quiet text-s">{t("No settings found.")}</p>}
      {groups.map(({ title, found }) => (
        <section key={title}>
          <h2>{title}</h2>
          {found.map(({ section: { path, label, icon }, settings }) => (
            <Link
              key={path}
              to="/settings/$section"
              params={{ section: path }}
              {...(path === current && { "aria-current": "page" as const })}
            >
              <Icon name={icon} size={17} />
              <span>
                {label}
                {settings.length > 0 && <small>{settings.join(", ")}</small>}
              </span>
              <Icon name="right" size={14} />
            </Link>
          ))}
        </section>
      ))}
    </nav>
  );
}
