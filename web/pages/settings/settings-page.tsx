/** The frame of the settings: navigation and the open section. */
import { useMediaQuery } from "@mantine/hooks";
import { Link, useParams } from "@tanstack/react-router";
import { Suspense } from "react";
import { useSignedInPerson } from "../../data/session.ts";
import { Icon } from "../../components/display/icons.tsx";
import { EmptyState, PageHeader } from "../../components/page.tsx";
import { type Section, sectionGroups, sections } from "./sections.ts";

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
        <PageHeader title="Settings" />
        <SectionList current={null} />
      </>
    );
  const chosen = named ?? "organization";
  const section = sections.find(({ path }) => path === chosen);
  if (section === undefined)
    return (
      <EmptyState icon={<Icon name="settings" size={28} />} title="Settings page not found">
        The address is wrong. All pages are listed in <Link to="/settings">Settings</Link>.
      </EmptyState>
    );
  return (
    <div className="settings">
      {!isNarrow && <SectionList current={chosen} />}
      <div className="settings-page">
        <PageHeader
          title={section.label}
          crumbs={isNarrow ? [{ to: "/settings", label: "Settings" }] : []}
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

function NotForYou({ role }: Pick<Section, "role">) {
  const { organization } = useSignedInPerson();
  return (
    <EmptyState icon={<Icon name="lock" size={28} />} title={`For ${role}s`}>
      {role === "administrator"
        ? "Only administrators of the appliance can see this page."
        : `This needs the role ${role} in ${organization.name}; your role is ${organization.role}.`}
    </EmptyState>
  );
}

function SectionList({ current }: { current: string | null }) {
  const { may } = useSignedInPerson();
  return (
    <nav className="settings-list" aria-label="Settings">
      {sectionGroups.map(({ title, sections }) => (
        <section key={title}>
          <h2>{title}</h2>
          {sections
            .filter(({ role }) => may(role))
            .map(({ path, label, icon }) => (
              <Link
                key={path}
                to="/settings/$section"
                params={{ section: path }}
                {...(path === current && { "aria-current": "page" as const })}
              >
                <Icon name={icon} size={17} />
                <span>{label}</span>
                <Icon name="right" size={14} />
              </Link>
            ))}
        </section>
      ))}
    </nav>
  );
}
