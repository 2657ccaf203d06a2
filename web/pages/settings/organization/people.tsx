/** Settings: people of the organization and their roles. */
import { Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { canManage } from "../../../../src/accounts/people/rules.ts";
import type { Member } from "../../../../src/accounts/people/schema.ts";
import type { Role } from "../../../../src/core/roles.ts";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { renewSession, useSignedInPerson } from "../../../data/session.ts";
import { Confirm } from "../../../components/confirm.tsx";
import { DangerItem, HistoryItem, MenuItem, RowMenu } from "../../../components/menus.tsx";
import { CreateButton, Loaded, Panel } from "../../../components/page.tsx";
import { Time } from "../../../components/display/time.tsx";
import { notifyError, notify } from "../../../components/toasts.tsx";
import { apiKeysQuery, peopleQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import { FormDialog, useForm } from "../../../components/forms/form.tsx";
import { GroupsField, toGroupLimit, useGroupFact } from "./groups-field.tsx";
import { canBeLimited, Invitations, Invite, RoleItems } from "./invitations.tsx";
import { useCreateDialog } from "../create-dialog.ts";
import { roleNames } from "../../../components/display/role-names.ts";
import { t, tCount, tNode } from "../../../language/text.ts";

export default function People() {
  const query = useQuery(peopleQuery);
  const { atLeast, organization } = useSignedInPerson();
  const { asked, open, close } = useCreateDialog();
  const [asking, setAsking] = useState<Change | null>(null);
  const [limiting, setLimiting] = useState<Member | null>(null);
  return (
    <>
      <div className="settings-head">
        <p className="quiet">
          {tNode(
            "People who can sign in to {name}. Viewers read, members write, admins also manage people and settings, and owners can add owners. Viewers and members can be limited to monitor groups.",
            { name: organization.name },
          )}
        </p>
        {atLeast("admin") && <CreateButton onClick={open}>{t("Invite people")}</CreateButton>}
      </div>
      <Loaded query={query} subject={t("The people")}>
        {(people) => (
          <>
            <Panel isFlush>
              <ul className="entries">
                {people.map((member) => (
                  <PersonRow
                    key={member.id}
                    member={member}
                    onAsk={setAsking}
                    onLimit={() => setLimiting(member)}
                  />
                ))}
              </ul>
            </Panel>
            {atLeast("admin") && <Invitations />}
          </>
        )}
      </Loaded>
      {asked && atLeast("admin") && <Invite onClose={close} />}
      {limiting !== null && <LimitDialog member={limiting} onClose={() => setLimiting(null)} />}
      {asking !== null && <ConfirmChange change={asking} onClose={() => setAsking(null)} />}
    </>
  );
}

/** A change to a person's role. Null removes the person. */
type Change = { member: Member; role: Role | null };

/** Confirms the change, and names the API keys that would stop working. */
function ConfirmChange({
  change: { member, role },
  onClose,
}: {
  change: Change;
  onClose: () => void;
}) {
  const { organization } = useSignedInPerson();
  const keys = useKeyNames(member);
  const { name } = member;
  return (
    <Confirm
      title={
        role === null
          ? t("Remove {name}?", { name })
          : t("Make {name} {role}?", { name, role: roleNames[role] })
      }
      verb={role === null ? t("Remove") : t("Make {role}", { role: roleNames[role] })}
      onClose={onClose}
      onConfirm={() => (role === null ? removeMember(member) : changeRole(member, role))}
    >
      {role === null &&
        `${t("They lose access to {name} at once. Their actions stay in the audit log.", {
          name: organization.name,
        })} `}
      {keys.length > 0 &&
        tCount(
          keys.length,
          "The API key {keys}, which they created, stops working. Create another first if something depends on it.",
          "The API keys {keys}, which they created, stop working. Create others first if something depends on them.",
          { keys: keys.join(", ") },
        )}
    </Confirm>
  );
}

/** Names of active API keys that the person created. */
function useKeyNames({ id }: Member): string[] {
  const { atLeast } = useSignedInPerson();
  const { data = [] } = useQuery({ ...apiKeysQuery, enabled: atLeast("admin") });
  return data
    .filter(({ createdById, revokedAt }) => createdById === id && revokedAt === null)
    .map((key) => key.name);
}

type RowProps = { member: Member; onAsk: (change: Change) => void; onLimit: () => void };

function PersonRow({ member, onAsk, onLimit }: RowProps) {
  const { id, name, email, role, groupIds, twoFactor, administrator, lastSeenAt } = member;
  const { person } = useSignedInPerson();
  return (
    <Entry
      avatar={name}
      title={
        <>
          {name}
          {id === person.id && <span className="faint"> {t("(you)")}</span>}
        </>
      }
      note={administrator ? t("{email}, administrator", { email }) : email}
      facts={[
        [t("Role"), roleNames[role]],
        ...useGroupFact(groupIds),
        [
          t("Two-factor"),
          <span className={twoFactor ? "up" : "faint"}>{twoFactor ? t("on") : t("off")}</span>,
        ],
        [t("Last seen"), lastSeenAt === null ? t("not signed in") : <Time at={lastSeenAt} />],
      ]}
      menu={<PersonMenu member={member} onAsk={onAsk} onLimit={onLimit} />}
    />
  );
}

function PersonMenu({ member, onAsk, onLimit }: RowProps) {
  const { id, name, role, administrator } = member;
  const { person, organization, atLeast } = useSignedInPerson();
  const isManaged = atLeast("admin") && canManage(organization.role, role);
  const mayGrant = person.administrator && !administrator;
  const keys = useKeyNames(member);
  const choose = (chosen: Role) => {
    if (keys.length > 0 && !isAdmin(chosen)) onAsk({ member, role: chosen });
    else changeRole(member, chosen).catch(notifyError);
  };
  if (!isManaged && !mayGrant) return null;
  return (
    <RowMenu label={t("Actions for {name}", { name })}>
      {() => (
        <>
          {isManaged && (
            <>
              <Menu.Label>{t("Role")}</Menu.Label>
              <RoleItems current={role} onChoose={choose} />
              <Menu.Divider />
              {canBeLimited(role) && (
                <MenuItem icon="folder" onClick={onLimit}>
                  {t("Limit to groups…")}
                </MenuItem>
              )}
            </>
          )}
          {mayGrant && (
            <MenuItem icon="lock" onClick={() => grantAdministrator(member).catch(notifyError)}>
              {t("Make administrator of the appliance")}
            </MenuItem>
          )}
          <HistoryItem id={id} />
          {isManaged && (
            <DangerItem icon="close" onClick={() => onAsk({ member, role: null })}>
              {id === person.id ? t("Leave") : t("Remove")}
            </DangerItem>
          )}
        </>
      )}
    </RowMenu>
  );
}

function LimitDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { id, name } = member;
  const form = useForm({ groupIds: member.groupIds ?? [] }, async ({ groupIds: chosen }) => {
    const groupIds = toGroupLimit(chosen);
    await unwrapData(dashboard.people({ id }).patch({ groupIds }));
    notify(
      groupIds === null
        ? t("{name} sees all monitors", { name })
        : t("Limited {name} to groups", { name }),
    );
    onClose();
  });
  return (
    <FormDialog
      title={t("Limit {name} to groups", { name })}
      onClose={onClose}
      form={form}
      submit={t("Save")}
    >
      <GroupsField
        who={name}
        value={form.values.groupIds}
        onChange={(groupIds) => form.set("groupIds", groupIds)}
        error={form.errorOf("groupIds")}
      />
    </FormDialog>
  );
}

const isAdmin = (role: Role) => canManage(role, "member");

async function changeRole({ id, name }: Member, role: Role) {
  await unwrapData(dashboard.people({ id }).patch({ role }));
  await renewSession();
  notify(t("{name} now has the role {role}", { name, role: roleNames[role] }));
}

async function removeMember({ id, name }: Member) {
  await unwrapData(dashboard.people({ id }).delete());
  await renewSession();
  notify(t("Removed {name}", { name }));
}

async function grantAdministrator({ id, name }: Member) {
  await unwrapData(dashboard.administrators.post({ personId: id }));
  notify(t("{name} is now an administrator of the appliance", { name }));
}
