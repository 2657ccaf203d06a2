/** Settings: invitations to the organization. */
import { Select, TextInput, Menu } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  type Invitation,
  type SentInvitation,
  NewInvitation,
} from "../../../../src/accounts/invitations/schema.ts";
import { canManage } from "../../../../src/accounts/people/rules.ts";
import type { Role } from "../../../../src/core/roles.ts";
import { dashboard, unwrapData, addIdempotencyKey } from "../../../data/client.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { ShownOnce } from "../../../components/copy.tsx";
import { FormDialog, useForm } from "../../../components/forms/form.tsx";
import { Icon } from "../../../components/display/icons.tsx";
import { DangerItem, HistoryItem, RowMenu } from "../../../components/menus.tsx";
import { Panel } from "../../../components/page.tsx";
import { Time } from "../../../components/display/time.tsx";
import { holdDeletion, useDeleting } from "../../../components/deletion.ts";
import { GroupsField, toGroupLimit, useGroupFact } from "./groups-field.tsx";
import { createSettingsQuery, invitationsQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import { roleNames } from "../../../components/display/role-names.ts";
import { translateServerText } from "../../../language/server-text.ts";
import { t, tNode } from "../../../language/text.ts";

/** Pending invitations. Renders nothing if there are none. */
export function Invitations() {
  const { data = [] } = useQuery(invitationsQuery);
  const deleting = useDeleting();
  const open = data.filter(({ id }) => !deleting.has(id));
  if (open.length === 0) return null;
  return (
    <Panel title={t("Invited")} isFlush>
      <ul className="entries">
        {open.map((invitation) => (
          <InvitationEntry key={invitation.id} invitation={invitation} />
        ))}
      </ul>
    </Panel>
  );
}

function InvitationEntry({ invitation }: { invitation: Invitation }) {
  return (
    <Entry
      icon="mail"
      title={invitation.email}
      note={tNode("invited by {name} {time}", {
        name: invitation.invitedBy,
        time: <Time at={invitation.createdAt} />,
      })}
      facts={[
        [t("Role"), roleNames[invitation.role]],
        ...useGroupFact(invitation.groupIds),
        [t("Expires"), <Time at={invitation.expiresAt} as="until" />],
      ]}
      menu={
        <RowMenu label={t("Actions for {email}", { email: invitation.email })}>
          {() => (
            <>
              <HistoryItem id={invitation.id} />
              <DangerItem icon="close" onClick={() => revokeInvitation(invitation)}>
                {t("Revoke")}
              </DangerItem>
            </>
          )}
        </RowMenu>
      }
    />
  );
}

const revokeInvitation = ({ id }: Invitation) =>
  holdDeletion((query) => dashboard.invitations({ id }).delete(undefined, { query }));

export function Invite({ onClose }: { onClose: () => void }) {
  const [sent, setSent] = useState<SentInvitation | null>(null);
  const form = useForm(
    { email: "", role: "member" as Role, groupIds: [] as string[] },
    async (values, _, key) => {
      const groupIds = canBeLimited(values.role) ? toGroupLimit(values.groupIds) : null;
      const body = { ...values, groupIds };
      setSent(await unwrapData(dashboard.invitations.post(body, addIdempotencyKey(key))));
    },
    undefined,
    { key: "invitation" },
  );
  const { values, set, errorOf } = form;
  const roles = useRoles();
  const { organization } = useSignedInPerson();
  const settings = useQuery(createSettingsQuery(organization.id)).data;
  const isMailed = settings !== undefined && settings.smtp !== null;
  if (sent !== null)
    return (
      <ShownOnce
        title={t("Invitation for {email}", { email: sent.email })}
        label={t("Invitation link")}
        text={sent.link}
        onClose={onClose}
      >
        {tNode("{outcome} The link is shown only once, works once and expires after seven days.", {
          outcome: <MailOutcome invitation={sent} />,
        })}
      </ShownOnce>
    );
  return (
    <FormDialog
      title={t("Invite people")}
      onClose={onClose}
      form={form}
      submit={isMailed ? t("Mail invitation") : t("Create invitation")}
    >
      <TextInput label={t("E-mail")} type="email" data-autofocus {...form.input("email")} />
      <Select
        label={t("Role")}
        data={roles.map((role) => ({
          value: role,
          label: `${roleNames[role]} – ${roleRights[role]}`,
        }))}
        value={values.role}
        onChange={(role) => set("role", role ?? "member")}
        error={errorOf("role")}
        allowDeselect={false}
      />
      {canBeLimited(values.role) && (
        <GroupsField
          who={t("This person")}
          value={values.groupIds}
          onChange={(groupIds) => set("groupIds", groupIds)}
          error={errorOf("groupIds")}
        />
      )}
    </FormDialog>
  );
}

/** Owners and admins see all monitors. */
export const canBeLimited = (role: Role) => !canManage(role, "member");

function MailOutcome({ invitation: { email, mail } }: { invitation: SentInvitation }) {
  if (mail?.delivered === true) return <>{tNode("This link was mailed to {email}.", { email })}</>;
  return (
    <>
      {mail !== null && (
        <b className="down">
          {tNode("The mail was not sent. {message}", {
            message: translateServerText(mail.message),
          })}{" "}
        </b>
      )}
      {tNode("Send this link to {email} yourself.", { email })}
    </>
  );
}

const roleRights: Record<Role, string> = {
  owner: t("Everything, and adds owners"),
  admin: t("Manages people, keys and mail"),
  member: t("Changes monitors and incidents"),
  viewer: t("Reads only"),
};

/** Roles that the signed-in person can assign, the highest first. */
function useRoles(): Role[] {
  const { organization } = useSignedInPerson();
  return NewInvitation.shape.role.options
    .filter((role) => canManage(organization.role, role))
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
      {roleNames[role]}
      <small className="block faint text-xs">{roleRights[role]}</small>
    </Menu.Item>
  ));
}
