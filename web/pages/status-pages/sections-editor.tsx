import { Button, Menu } from "@mantine/core";
import type { StatusPageSection as Section } from "../../../src/status-pages/schema.ts";
import { useOverview } from "../../data/overview.ts";
import { Icon } from "../../components/icons.tsx";
import { useReorder } from "../../components/reorder.tsx";
import { SectionCard } from "./section-card.tsx";

type Props = {
  sections: readonly Section[];
  onChange: (sections: Section[]) => void;
  errorOf: (path: string) => string | undefined;
};

/** What the page shows: groups as they are, and lists of one's own. */
export function SectionsEditor({ sections, onChange, errorOf }: Props) {
  const { data: overview } = useOverview();
  const { list, itemOf, gripOf } = useReorder(sections, onChange);
  if (overview === undefined) return null;
  const used = new Set(sections.map(({ groupId }) => groupId));
  const free = overview.groups.filter(({ id }) => !used.has(id));
  const listed = new Set(
    sections
      .filter(({ groupId }) => groupId === null)
      .flatMap(({ monitors }) => monitors.map(({ id }) => id)),
  );
  const add = (section: Partial<Section>) =>
    onChange([...sections, { name: null, groupId: null, monitors: [], ...section }]);
  const issues = sections.map((_, index) => errorOf(`sections[${index}]`));
  const issue = issues.some((one) => one !== undefined) ? undefined : errorOf("sections");
  return (
    <div className="sections">
      {sections.length === 0 && (
        <p className="quiet panel-none">
          The page shows no monitors yet. Add a group, or a list of monitors under names that
          visitors understand.
        </p>
      )}
      <ul ref={list} aria-label="Sections">
        {sections.map((section, index) => (
          <li key={section.groupId ?? `list ${index}`} className="section" {...itemOf(index)}>
            <SectionCard
              section={section}
              overview={overview}
              listed={listed}
              error={issues[index]}
              nameError={errorOf(`sections[${index}].name`)}
              grip={(name) => gripOf(index, name)}
              onChange={(next) => onChange(sections.with(index, next))}
              onRemove={() => onChange(sections.toSpliced(index, 1))}
            />
          </li>
        ))}
      </ul>
      {issue !== undefined && <p className="section-flaw down">{issue}</p>}
      <div className="sections-add">
        <Menu position="bottom-start" width={240}>
          <Menu.Target>
            <Button
              size="xs"
              disabled={free.length === 0}
              leftSection={<Icon name="folder" size={14} />}
            >
              Add group
            </Button>
          </Menu.Target>
          <Menu.Dropdown className="menu-scroll">
            {free.map(({ id, name, color }) => (
              <Menu.Item
                key={id}
                leftSection={<i className={`dot dot-${color}`} />}
                onClick={() => add({ groupId: id })}
              >
                {name}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
        <Button
          size="xs"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => add({ name: `Section ${sections.length + 1}` })}
        >
          Add list
        </Button>
      </div>
    </div>
  );
}
