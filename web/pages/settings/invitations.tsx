import { useQuery } from "@tanstack/react-query";
import type { Invitation } from "../../../src/accounts/invitations/schema.ts";
import { dashboard, dataOf } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";
import { DangerItem, RowMenu } from "../../components/menus.tsx";
import { Panel } from "../../components/page.tsx";
import { Time } from "../../components/time.tsx";
import { withUndo } from "../../components/toasts.tsx";
import { invalidate, invitationsQuery } from "./data.ts";
import { Entry } from "./entry.tsx";

/** Who was asked to join and has not answered yet; nothing where there is nobody. */
export function Invitations() {
  const { data = [] } = useQuery(invitationsQuery);
  if (data.length === 0) return null;
  return (
    <Panel title="Invited" flush>
      <ul className="entries">
        {data.map((invitation) => (
          <Entry
            key={invitation.id}
            icon="mail"
            title={invitation.email}
            note={
              <>
                invited by {invitation.invitedBy} <Time at={invitation.createdAt} />
              </>
            }
            facts={[
              ["Role", invitation.role],
              ["Expires", <Time at={invitation.expiresAt} as="until" />],
            ]}
            menu={
              <RowMenu label={`Actions for ${invitation.email}`}>
                {() => (
                  <DangerItem icon="close" onClick={() => revokeInvitation(invitation)}>
                    Revoke
                  </DangerItem>
                )}
              </RowMenu>
            }
          />
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
