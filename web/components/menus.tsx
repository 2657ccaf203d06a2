/** Menus with further actions, for rows of lists and for pages of records. */
import { ActionIcon, Menu, type MenuProps } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import {
  cloneElement,
  type ComponentProps,
  type ReactElement,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from "react";
import { useSignedInPerson } from "../data/session.ts";
import { type Action, copyCurl } from "./copy.tsx";
import { Icon, type IconName } from "./display/icons.tsx";
import { t } from "../language/text.ts";

export function MenuItem({
  icon,
  ...props
}: {
  icon: IconName;
  onClick: () => void;
  disabled?: boolean;
  className?: string;
  rightSection?: ReactNode;
  children: ReactNode;
}) {
  return <Menu.Item {...props} leftSection={<Icon name={icon} />} />;
}

/** An action of a record, which menus, buttons and the command palette share. */
export type RecordAction = {
  label: string;
  icon: IconName;
  run: () => void;
  /** The label with the name of the record, if the name does not follow the label. */
  phrase?: (name: string) => string;
};

/** The entry of an action. */
export const ActionItem = ({
  action: { label, icon, run },
  ...props
}: {
  action: RecordAction;
  className?: string;
  rightSection?: ReactNode;
}) => (
  <MenuItem {...props} icon={icon} onClick={run}>
    {label}
  </MenuItem>
);

/** The last entry of a menu, for a destructive action. */
export function DangerItem({
  icon = "trash",
  ...props
}: {
  icon?: IconName;
  onClick: () => void;
  disabled?: boolean;
  children: ReactNode;
}) {
  return <Menu.Item {...props} className="menu-danger" leftSection={<Icon name={icon} />} />;
}

/** Opens the audit log of a record, for people who can read it. */
export function HistoryItem({ id }: { id: string }) {
  const navigate = useNavigate();
  const params = { section: "audit-log" };
  if (!useSignedInPerson().may("admin")) return null;
  return (
    <MenuItem
      icon="list"
      onClick={() =>
        void navigate({ to: "/settings/$section", params, search: { record: id } as never })
      }
    >
      {t("History")}
    </MenuItem>
  );
}

/** The last entries of a record's menu: history, copy as curl, and delete if the person can. */
export function RecordItems({
  id,
  curl,
  onDelete,
  children = t("Delete"),
}: {
  id: string;
  curl: () => Action;
  onDelete: false | (() => void);
  /** Label of the delete action. */
  children?: ReactNode;
}) {
  return (
    <>
      <HistoryItem id={id} />
      <MenuItem icon="terminal" onClick={() => copyCurl(curl())}>
        {t("Copy as curl")}
      </MenuItem>
      {onDelete !== false && (
        <>
          <Menu.Divider />
          <DangerItem onClick={onDelete}>{children}</DangerItem>
        </>
      )}
    </>
  );
}

/** The “More actions” menu of a record's page. */
export function MoreActions({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <LazyMenu
      position="bottom-end"
      width={210}
      button={
        <ActionIcon
          variant="default"
          size={34}
          aria-label={t("More actions")}
          {...(className !== undefined && { className })}
        >
          <Icon name="dots" />
        </ActionIcon>
      }
    >
      {() => children}
    </LazyMenu>
  );
}

type LazyMenuProps = Omit<MenuProps, "children"> & {
  button: ReactElement<ComponentProps<"button">>;
  /** Loads the items before the first opening, because the menu focuses its first item as it opens. */
  load?: () => Promise<unknown>;
  children: () => ReactNode;
};

/** A menu that renders on the first click of its button. */
export function LazyMenu(props: LazyMenuProps) {
  const [isUsed, setIsUsed] = useState(false);
  if (isUsed) return <UsedMenu {...props} />;
  return cloneElement(props.button, { "aria-haspopup": "menu", onClick: () => setIsUsed(true) });
}

/** Opens after it has focused its new button, because a closed menu returns the focus to where it was before. */
function UsedMenu({ button, load = async () => {}, children, ...menu }: LazyMenuProps) {
  const [isOpened, setIsOpened] = useState(false);
  const target = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    target.current?.focus({ preventScroll: true });
    const open = () => setIsOpened(true);
    void load().then(open, open);
  }, []);
  return (
    <Menu {...menu} opened={isOpened} onChange={setIsOpened}>
      <Menu.Target>{cloneElement(button, { ref: target })}</Menu.Target>
      <Menu.Dropdown>{children()}</Menu.Dropdown>
    </Menu>
  );
}

/** The “…” menu of a row. */
export function RowMenu({
  label,
  tabbed = true,
  children,
}: {
  label: string;
  /** Whether the Tab key reaches the button. */
  tabbed?: boolean;
  children: () => ReactNode;
}) {
  const button = (
    <button type="button" className="dots" aria-label={label} tabIndex={tabbed ? 0 : -1}>
      <Icon name="dots" />
    </button>
  );
  return (
    <LazyMenu position="bottom-end" width={200} button={button}>
      {children}
    </LazyMenu>
  );
}
