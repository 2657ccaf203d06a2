/** A row in the lists of the settings. */
import type { ReactNode } from "react";
import { Icon, type IconName } from "../../components/display/icons.tsx";

/** A row of a list in the settings: what it is, facts about it, and what can be done with it. */
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
  /** In the icon's place. */
  mark?: ReactNode;
  /** Whose first letter stands in the icon's place. */
  avatar?: string;
  title: ReactNode;
  note: ReactNode;
  facts?: [label: string, value: ReactNode][];
  isOver?: boolean;
  /** What its menu or its button is; their places are kept where there is none. */
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

/** Labels and values, one below the other. */
export function Facts({ facts }: { facts: [label: string, value: ReactNode][] }) {
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
