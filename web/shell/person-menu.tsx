/** The person menu in the corner of the navigation: organization, theme, help and account. */
import { type ComponentProps, lazy, Suspense } from "react";
import { createChunk } from "../data/chunks.ts";
import { countProblems, useProblems } from "../data/problems.ts";
import { useSignedInPerson } from "../data/session.ts";
import { Icon } from "../components/display/icons.tsx";
import { LazyMenu } from "../components/menus.tsx";
import { roleNames } from "../components/display/role-names.ts";
import { t } from "../language/text.ts";

const loadItems = createChunk(async () => ({
  default: (await import("./person-items.tsx")).PersonItems,
}));
const PersonItems = lazy(loadItems);

/** The person menu. On phones, its badge counts the problems behind its pages. */
export function PersonMenu({ onHelp }: { onHelp: () => void }) {
  const { data } = useProblems();
  const { onCall, appliance } = countProblems(data);
  const failingChannels = data?.channels.length ?? 0;
  return (
    <LazyMenu
      position="top-start"
      floatingStrategy="fixed"
      width={240}
      withinPortal
      load={loadItems}
      button={<PersonButton problems={onCall + appliance + failingChannels} />}
    >
      {() => (
        <Suspense>
          <PersonItems onHelp={onHelp} />
        </Suspense>
      )}
    </LazyMenu>
  );
}

function PersonButton({ problems, ...button }: { problems: number } & ComponentProps<"button">) {
  const { organization } = useSignedInPerson();
  return (
    <button type="button" {...button} className="rail-person">
      <span className="visually-hidden">{t("Organization and account:")} </span>
      <span className="avatar" aria-hidden="true">
        {Array.from(organization.name)[0]?.toUpperCase()}
      </span>
      <span className="rail-person-words ellipsis min-w-0">
        {organization.name}
        <small>{roleNames[organization.role]}</small>
      </span>
      <Icon name="down" size={14} />
      <span className="rail-label only-phone" aria-hidden="true">
        {t("More")}
      </span>
      {problems > 0 && (
        <em className="num rail-warn only-phone">
          {problems}
          <span className="rail-word"> {problems === 1 ? t("problem") : t("problems")}</span>
        </em>
      )}
    </button>
  );
}
