import { Menu } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Icon } from "./icons.tsx";

/** The three dots of a row. Its menu is made when first asked for: there may be a thousand rows. */
export function LazyMenu({
  label,
  tabbed,
  children,
}: {
  label: string;
  /** Whether the keyboard stops here. */
  tabbed: boolean;
  children: () => ReactNode;
}) {
  const [made, setMade] = useState(false);
  const button = (
    <button
      type="button"
      className="dots"
      aria-label={label}
      aria-haspopup="menu"
      tabIndex={tabbed ? 0 : -1}
      {...(!made && { onClick: () => setMade(true) })}
    >
      <Icon name="dots" />
    </button>
  );
  if (!made) return button;
  return (
    <Menu position="bottom-end" width={200} defaultOpened>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>{children()}</Menu.Dropdown>
    </Menu>
  );
}
