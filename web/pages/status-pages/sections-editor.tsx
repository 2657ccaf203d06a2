/** The editor of a status page's sections, with their monitors, names and order. */
import { Button, Checkbox, Menu, ActionIcon, Select, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type {
  StatusPageSection as Section,
  StatusPageSection,
} from "../../../src/status-pages/schema.ts";
import { useOverview, type Overview, type OverviewMonitor } from "../../data/overview.ts";
import { Icon } from "../../components/display/icons.tsx";
import { useReorder } from "../../components/forms/reorder.tsx";
import { t, tCount, tNode } from "../../language/text.ts";

type Props = {
  sections: readonly Section[];
  onChange: (sections: Section[]) => void;
  errorOf: (path: string) => string | undefined;
};

const emptySection: Section = {
  name: null,
  groupId: null,
  monitors: [],
  nested: false,
  folding: "auto",
  audience: "everyone",
};

/** Ensures that the first section is not nested, for example after a reorder. */
const unnestFirst = (sections: readonly Section[]) =>
  sections.map((one, index) => (index === 0 ? { ...one, nested: false } : one));

/** The sections of a page: groups, and lists of chosen monitors. */
export function SectionsEditor({ sections, onChange: save, errorOf }: Props) {
  const onChange = (next: readonly Section[]) => save(unnestFirst(next));
  const { data: overview } = useOverview();
  const { list, itemOf, gripOf } = useReorder(sections, onChange);
  if (overview === undefined) return null;
  const used = new Set(sections.map(({ groupId }) => groupId));
  const listedIds = new Set(
    sections
      .filter(({ groupId }) => groupId === null)
      .flatMap(({ monitors }) => monitors.map(({ id }) => id)),
  );
  const add = (section: Partial<Section>) =>
    onChange([...sections, { ...emptySection, ...section }]);
  const issues = sections.map((_, index) => errorOf(`sections[${index}]`));
  const issue = issues.some((one) => one !== undefined) ? undefined : errorOf("sections");
  return (
    <div className="sections">
      {sections.length === 0 && (
        <p className="quiet panel-none">
          {t(
            "The page shows no monitors yet. Add a group, or a list of monitors under names that visitors understand.",
          )}
        </p>
      )}
      <ul ref={list} aria-label={t("Sections")}>
        {sections.map((section, index) => (
          <li
            key={section.groupId ?? `list ${index}`}
            className={section.nested ? "section nested" : "section"}
            {...itemOf(index)}
          >
            <SectionCard
              section={section}
              overview={overview}
              listed={listedIds}
              isFirst={index === 0}
              error={issues[index]}
              nameError={errorOf(`sections[${index}].name`)}
              grip={(name) => gripOf(index, name)}
              onChange={(next) => onChange(sections.with(index, next))}
              onRemove={() => onChange(sections.toSpliced(index, 1))}
            />
          </li>
        ))}
      </ul>
      {issue !== undefined && <p className="section-error down">{issue}</p>}
      <AddButtons
        groups={overview.groups.filter(({ id }) => !used.has(id))}
        nextNumber={sections.length + 1}
        onAdd={add}
      />
    </div>
  );
}

const AddButtons = ({
  groups,
  nextNumber,
  onAdd,
}: {
  groups: Overview["groups"];
  nextNumber: number;
  onAdd: (section: Partial<Section>) => void;
}) => (
  <div className="sections-add">
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <Button
          size="xs"
          disabled={groups.length === 0}
          leftSection={<Icon name="folder" size={14} />}
        >
          {t("Add group")}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className="menu-scroll">
        {groups.map(({ id, name, color }) => (
          <Menu.Item
            key={id}
            leftSection={<i className={`dot dot-${color}`} />}
            onClick={() => onAdd({ groupId: id })}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
    <Button
      size="xs"
      leftSection={<Icon name="plus" size={14} />}
      onClick={() => onAdd({ name: t("Section {nextNumber}", { nextNumber }) })}
    >
      {t("Add list")}
    </Button>
  </div>
);

type CardProps = {
  section: Section;
  overview: Overview;
  /** Monitors that are already in a list of the page. */
  listed: ReadonlySet<string>;
  /** Whether it is the first section of the page, which can't be part of another one. */
  isFirst: boolean;
  error: string | undefined;
  nameError: string | undefined;
  grip: (name: string) => ReactNode;
  onChange: (section: Section) => void;
  onRemove: () => void;
};

/** A section: its name, and its monitors when it is open. */
function SectionCard({ section, overview, listed, onChange, onRemove, ...props }: CardProps) {
  const { error, nameError, grip, isFirst } = props;
  const { name, groupId, monitors } = section;
  const [open, setOpen] = useState(groupId === null && monitors.length === 0);
  const group = overview.groups.find(({ id }) => id === groupId);
  const members = overview.monitors.filter((monitor) => monitor.groupId === groupId);
  const title = name ?? group?.name ?? t("the section");
  const count = groupId === null ? monitors.length : members.length;
  const setMonitors = (next: ListedMonitors) => onChange({ ...section, monitors: next });
  return (
    <>
      <div className="section-head relative flex gap-6 items-center">
        {grip(title)}
        {group ? (
          <i className={`dot dot-${group.color}`} title={t("A group")} />
        ) : (
          <Icon name="list" size={14} />
        )}
        <TextInput
          size="xs"
          className="flex-1 min-w-0"
          aria-label={
            group ? t("Name of {name} on the page", { name: group.name }) : t("Name of the section")
          }
          placeholder={group?.name ?? t("Name")}
          value={name ?? ""}
          error={nameError !== undefined}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...section, name: value === "" ? null : value })
          }
        />
        {section.audience === "signed-in" && <AudienceMark />}
        <CountToggle count={count} title={title} open={open} onToggle={() => setOpen(!open)} />
        <ActionIcon aria-label={t("Remove {title}", { title })} size={26} onClick={onRemove}>
          <Icon name="close" size={14} />
        </ActionIcon>
      </div>
      {error !== undefined && <p className="section-error down">{error}</p>}
      {open && (
        <div className="section-monitors">
          {groupId === null ? (
            <>
              <FreeList monitors={monitors} overview={overview} onChange={setMonitors} />
              <AddMonitor
                title={title}
                monitors={overview.monitors.filter(({ id }) => !listed.has(id))}
                onAdd={(id) => setMonitors([...monitors, { ...unnamedMonitor, id }])}
              />
            </>
          ) : (
            <GroupNames members={members} monitors={monitors} onChange={setMonitors} />
          )}
          <SectionSettings {...{ section, title, isFirst, onChange }} />
        </div>
      )}
    </>
  );
}

type SettingProps = Pick<CardProps, "section" | "onChange"> & { title: string };

const SectionSettings = ({ isFirst, ...props }: SettingProps & { isFirst: boolean }) => (
  <>
    <FoldingField {...props} />
    {!isFirst && (
      <Checkbox
        size="xs"
        label={t("Part of the section above")}
        aria-label={t("Make {title} a part of the section above", { title: props.title })}
        checked={props.section.nested}
        onChange={({ currentTarget: { checked } }) =>
          props.onChange({ ...props.section, nested: checked })
        }
      />
    )}
    <AudienceField {...props} />
  </>
);

const FoldingField = ({ section, title, onChange }: SettingProps) => (
  <Select
    size="xs"
    aria-label={t("Folding of {title}", { title })}
    data={[
      { value: "auto", label: t("Folded without trouble on long pages") },
      { value: "folded", label: t("Folded at first") },
      { value: "open", label: t("Never folded") },
    ]}
    value={section.folding}
    onChange={(next) => onChange({ ...section, folding: (next ?? "auto") as Section["folding"] })}
    allowDeselect={false}
  />
);

const AudienceMark = () => (
  <span title={t("Only for signed-in people")}>
    <Icon name="lock" size={14} />
  </span>
);

const AudienceField = ({ section, title, onChange }: SettingProps) => (
  <Checkbox
    size="xs"
    label={t("Only for signed-in people")}
    aria-label={t("Show {title} only to signed-in people", { title })}
    checked={section.audience === "signed-in"}
    onChange={({ currentTarget: { checked } }) =>
      onChange({ ...section, audience: checked ? "signed-in" : "everyone" })
    }
  />
);

type ListedMonitors = StatusPageSection["monitors"];

const CountToggle = ({
  count,
  title,
  open,
  onToggle,
}: {
  count: number;
  title: string;
  open: boolean;
  onToggle: () => void;
}) => (
  <button
    type="button"
    className="plain-button section-count num"
    aria-expanded={open}
    onClick={onToggle}
  >
    {tCount(count, "{count} monitor", "{count} monitors")}{" "}
    <span className="visually-hidden">{tNode("of {title}", { title })}</span>
    <Icon name={open ? "down" : "right"} size={12} />
  </button>
);

const AddMonitor = ({
  title,
  monitors,
  onAdd,
}: {
  title: string;
  monitors: readonly OverviewMonitor[];
  onAdd: (id: string) => void;
}) => (
  <Select
    size="xs"
    aria-label={t("Add a monitor to {title}", { title })}
    placeholder={monitors.length === 0 ? t("All monitors are on the page") : t("Add a monitor…")}
    disabled={monitors.length === 0}
    searchable
    value={null}
    data={monitors.slice(0, 500).map(({ id, name }) => ({ value: id, label: name }))}
    onChange={(id) => id !== null && onAdd(id)}
  />
);

/** Defaults of a monitor on the page. */
const unnamedMonitor = { name: null, showDescription: false, link: null };

/** Monitors of a list in their order, with optional public names. */
function FreeList({
  monitors,
  overview,
  onChange,
}: {
  monitors: ListedMonitors;
  overview: Overview;
  onChange: (monitors: ListedMonitors) => void;
}) {
  const { list, itemOf, gripOf } = useReorder(monitors, onChange);
  const nameOf = new Map(overview.monitors.map(({ id, name }) => [id, name]));
  return (
    <ul ref={list}>
      {monitors.map((monitor, index) => {
        const { id, name } = monitor;
        const ownName = nameOf.get(id) ?? t("Deleted monitor");
        return (
          <li key={id} className="relative flex gap-6 items-center" {...itemOf(index)}>
            {gripOf(index, name ?? ownName)}
            <PublicMonitor
              ownName={ownName}
              monitor={monitor}
              onChange={(next) => onChange(monitors.with(index, next))}
            />
            <ActionIcon
              aria-label={t("Remove {name} from the page", { name: name ?? ownName })}
              size={26}
              onClick={() => onChange(monitors.toSpliced(index, 1))}
            >
              <Icon name="close" size={14} />
            </ActionIcon>
          </li>
        );
      })}
    </ul>
  );
}

/**
 * Monitors of a group in its order. The section stores only monitors that differ from the defaults.
 */
function GroupNames({
  members,
  monitors,
  onChange,
}: {
  members: readonly OverviewMonitor[];
  monitors: ListedMonitors;
  onChange: (monitors: ListedMonitors) => void;
}) {
  const published = new Map(monitors.map((monitor) => [monitor.id, monitor]));
  if (members.length === 0) return <p className="quiet">{t("The group has no monitors yet.")}</p>;
  return (
    <ul>
      {members.map(({ id, name }) => (
        <li key={id} className="relative flex gap-6 items-center">
          <PublicMonitor
            ownName={name}
            monitor={published.get(id) ?? { ...unnamedMonitor, id }}
            onChange={(next) => {
              const others = monitors.filter((one) => one.id !== id);
              const isUsual = next.name === null && !next.showDescription && next.link === null;
              onChange(isUsual ? others : [...others, next]);
            }}
          />
        </li>
      ))}
    </ul>
  );
}

function PublicMonitor({
  ownName: own,
  monitor,
  onChange,
}: {
  ownName: string;
  monitor: ListedMonitors[number];
  onChange: (monitor: ListedMonitors[number]) => void;
}) {
  const { name, showDescription, link } = monitor;
  const linkError = link !== null && !/^https?:\/\/./i.test(link);
  return (
    <>
      <TextInput
        size="xs"
        className="flex-1 min-w-0"
        aria-label={t("Public name of {own}", { own })}
        placeholder={own}
        description={name === null ? undefined : <bdi>{own}</bdi>}
        value={name ?? ""}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...monitor, name: value === "" ? null : value })
        }
      />
      <Checkbox
        size="xs"
        label={t("Description")}
        aria-label={t("Show the description of {own}", { own })}
        title={t("Show the monitor's description to the public")}
        checked={showDescription}
        onChange={({ currentTarget }) =>
          onChange({ ...monitor, showDescription: currentTarget.checked })
        }
      />
      <TextInput
        size="xs"
        className="section-link"
        aria-label={t("Link of {own}", { own })}
        placeholder="https:// link"
        inputMode="url"
        value={link ?? ""}
        error={linkError}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...monitor, link: value === "" ? null : value })
        }
      />
    </>
  );
}
