import { Button, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Role } from "../../../src/base/roles.ts";
import { mayManage } from "../../../src/people/rules.ts";
import type { Member } from "../../../src/people/schema.ts";
import { send } from "../../data/client.ts";
import { onChange } from "../../data/live.ts";
import { useSignedIn } from "../../data/session.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Icon } from "../../parts/icons.tsx";
import { LateMenu } from "../../parts/late-menu.tsx";
import { Loaded } from "../../parts/loading.tsx";
import { Panel } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { complain, say } from "../../parts/toasts.tsx";
import { useAsked } from "./asked.ts";
import { again, peopleQuery } from "./data.ts";
import { Invitations } from "./invitations.tsx";
import { Invite } from "./invite.tsx";
import { RoleItems } from "./role-items.tsx";

export default function People() {
  const query = useQuery(peopleQuery);
  const { atLeast, organization } = useSignedIn();
  const { asked, open, close } = useAsked();
  useEffect(
    () =>
      onChange(({ type }) => {
        if (type === "invitation.accepted") void again(peopleQuery);
      }),
    [],
  );
  const [removing, setRemoving] = useState<Member | null>(null);
  return (
    <>
      <div className="settings-head">
        <p className="quiet">
          Who signs in to {organization.name}. A viewer reads, a member writes, an admin sets it up,
          an owner makes owners.
        </p>
        {atLeast("admin") && (
          <Button variant="filled" leftSection={<Icon name="plus" size={15} />} onClick={open}>
            Invite somebody
          </Button>
        )}
      </div>
      <Loaded query={query} what="The people">
        {(people) => (
          <Panel flush>
            <ul className="entries">
              {people.map((member) => (
                <PersonRow key={member.id} member={member} onRemove={() => setRemoving(member)} />
              ))}
            </ul>
          </Panel>
        )}
      </Loaded>
      {atLeast("admin") && <Invitations />}
      {asked && atLeast("admin") && <Invite onClose={close} />}
      {removing !== null && (
        <Confirm
          title={`Remove ${removing.name}?`}
          verb="Remove"
          onClose={() => setRemoving(null)}
          onConfirm={async () => {
            await send("DELETE", `/people/${removing.id}`);
            await again(peopleQuery);
            say(`Removed ${removing.name}`);
          }}
        >
          They are signed out at once and see nothing of {organization.name} any more. What they did
          stays in the audit log.
        </Confirm>
      )}
    </>
  );
}

function PersonRow({ member, onRemove }: { member: Member; onRemove: () => void }) {
  const { id, name, email, role, twoFactor, lastSeenAt } = member;
  const { person, organization, atLeast } = useSignedIn();
  const isSelf = id === person.id;
  const managed = atLeast("admin") && mayManage(organization.role, role);
  return (
    <li className="entry">
      <span className="avatar" aria-hidden="true">
        {Array.from(name)[0]?.toUpperCase()}
      </span>
      <div className="entry-words">
        <b>
          {name}
          {isSelf && <span className="faint"> (you)</span>}
        </b>
        <small>{email}</small>
      </div>
      <dl className="entry-facts">
        <div>
          <dt>Role</dt>
          <dd>{role}</dd>
        </div>
        <div>
          <dt>Two-factor</dt>
          <dd className={twoFactor ? "up" : "faint"}>{twoFactor ? "on" : "off"}</dd>
        </div>
        <div>
          <dt>Last seen</dt>
          <dd>{lastSeenAt === null ? "signed out" : <Time at={lastSeenAt} />}</dd>
        </div>
      </dl>
      <span className="entry-menu">
        {managed && (
          <LateMenu label={`Actions for ${name}`} tabbed>
            {() => (
              <>
                <Menu.Label>Role</Menu.Label>
                <RoleItems
                  current={role}
                  onChoose={(chosen) => void changeRole(member, chosen, isSelf)}
                />
                <Menu.Divider />
                <Menu.Item color="red" leftSection={<Icon name="close" />} onClick={onRemove}>
                  {isSelf ? "Leave" : "Remove"}
                </Menu.Item>
              </>
            )}
          </LateMenu>
        )}
      </span>
    </li>
  );
}

async function changeRole({ id, name }: Member, role: Role, isSelf: boolean) {
  try {
    await send("PATCH", `/people/${id}`, { role });
    say(`${name} is ${role} now${isSelf ? "" : ", and has to sign in again"}`);
  } catch (error) {
    complain(error);
  }
  await again(peopleQuery);
}
