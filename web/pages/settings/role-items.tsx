import { Menu } from "@mantine/core";
import type { Role } from "../../../src/core/roles.ts";
import { NewInvitation } from "../../../src/accounts/invitations/schema.ts";
import { mayManage } from "../../../src/accounts/people/rules.ts";
import { useSignedIn } from "../../data/session.ts";
import { Icon } from "../../components/icons.tsx";

export const roleWords: Record<Role, string> = {
  owner: "Everything, and adds owners",
  admin: "Manages people, keys and mail",
  member: "Changes monitors and incidents",
  viewer: "Reads only",
};

/** The roles that whoever looks may give, the highest first. */
export function useRoles(): Role[] {
  const { organization } = useSignedIn();
  return NewInvitation.shape.role.options
    .filter((role) => mayManage(organization.role, role))
    .toReversed();
}

export function RoleItems({
  current,
  onChoose,
}: {
  current: Role;
  onChoose: (role: Role) => void;
}) {
  return useRoles().map((role) => (
    <Menu.Item
      key={role}
      rightSection={role === current ? <Icon name="check" size={14} /> : null}
      onClick={() => role !== current && onChoose(role)}
    >
      {role}
      <small className="role-words">{roleWords[role]}</small>
    </Menu.Item>
  ));
}
