/** A row in the lists of the settings, and a list of facts. */
import type { ReactNode } from "react";
import { Icon, type IconName } from "../../components/display/icons.tsx";

/** A list row in the settings: title, note, facts and actions. */
export function Entry({
  icon,
  mark,
  avatar,
  title,
  note,
  facts = [],
  isOver = false,
  menu,
  action,
}: {
  icon?: IconName;
  /** Replaces the icon. */
  mark?: ReactNode;
  /** A name whose first letter replaces the icon. */
  avatar?: string;
  title: ReactNode;
  note: ReactNode;
  facts?: [label: string, value: ReactNode][];
  isOver?: boolean;
  /** The row's menu and button. Pass null to leave the space empty. */
  menu?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <li className={isOver ? "entry entry-over" : "entry"}>
      {(icon ?? mark) && (
        <span className="grid place-center faint">{icon ? <Icon name={icon} /> : mark}</span>
      )}
      {avatar !== undefined && (
        <span className="avatar" aria-hidden="true">
          {Array.from(avatar)[0]?.toUpperCase()}
        </span>
      )}
      <div className="entry-words">
        <b>{title}</b>
        <small>{note}</small>
      </div>
      {facts.length > 0 && (
        <dl className="entry-facts">
          {facts.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {menu !== undefined && <span className="entry-menu">{menu}</span>}
      {action !== undefined && <span className="entry-act">{action}</span>}
    </li>
  );
}

/** A list of labels and values. */
export function FactList({ facts }: { facts: [label: string, value: ReactNode][] }) {
  return (
    <dl className="settings-facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
