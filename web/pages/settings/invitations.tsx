import { useQuery } from "@tanstack/react-query";
import type { Invitation } from "../../../src/accounts/invitations/schema.ts";
import { dashboard, dataOf } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";
import { Icon } from "../../components/icons.tsx";
import { DangerItem, RowMenu } from "../../components/menus.tsx";
import { Panel } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { withUndo } from "../../components/toasts.tsx";
import { invalidate, invitationsQuery } from "./data.ts";

/** Who was asked to join and has not answered yet; nothing where there is nobody. */
export function Invitations() {
  const { data = [] } = useQuery(invitationsQuery);
  if (data.length === 0) return null;
  return (
    <Panel title="Invited" flush>
      <ul className="entries">
        {data.map((invitation) => (
          <li key={invitation.id} className="entry">
            <span className="entry-icon">
              <Icon name="mail" />
            </span>
            <div className="entry-words">
              <b>{invitation.email}</b>
              <small>
                invited by {invitation.invitedBy} <Time at={invitation.createdAt} />
              </small>
            </div>
            <dl className="entry-facts">
              <div>
                <dt>Role</dt>
                <dd>{invitation.role}</dd>
              </div>
              <div>
                <dt>Expires</dt>
                <dd>
                  <Time at={invitation.expiresAt} as="until" />
                </dd>
              </div>
            </dl>
            <span className="entry-menu">
              <RowMenu label={`Actions for ${invitation.email}`}>
                {() => (
                  <DangerItem icon="close" onClick={() => revokeInvitation(invitation)}>
                    Revoke
                  </DangerItem>
                )}
              </RowMenu>
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function revokeInvitation({ id, email }: Invitation) {
  withUndo(`Revoked the invitation of ${email}`, {
    hide: () =>
      queryClient.setQueryData(invitationsQuery.queryKey, (all) =>
        all?.filter((one) => one.id !== id),
      ),
    restore: () => void invalidate(invitationsQuery),
    commit: () => dataOf(dashboard.invitations({ id }).delete()),
  });
}
