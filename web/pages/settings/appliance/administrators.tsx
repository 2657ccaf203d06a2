/** Settings: administrators of the appliance. They are added and removed here. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Administrator } from "../../../../src/operations/appliance/schema.ts";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { renewSession, useSignedInPerson } from "../../../data/session.ts";
import { Confirm } from "../../../components/confirm.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { notify } from "../../../components/toasts.tsx";
import { administratorsQuery, invalidateQuery } from "../data.ts";
import { Entry } from "../entry.tsx";

/** Administrators of the appliance, from all organizations. */
export default function Administrators() {
  const query = useQuery(administratorsQuery);
  const { person } = useSignedInPerson();
  const [removing, setRemoving] = useState<Administrator | null>(null);
  const isSelf = (one: Administrator) => one.id === person.id;
  return (
    <>
      <div className="settings-head">
        <p className="quiet">
          Administrators create and delete organizations and download backups of everything. In an
          organization they can do what their role there allows. Add administrators on the People
          page.
        </p>
      </div>
      <Loaded query={query} what="The administrators">
        {(administrators) => (
          <Panel flush>
            <ul className="entries">
              {administrators.map((one) => (
                <Entry
                  key={one.id}
                  avatar={one.name}
                  title={
                    <>
                      {one.name}
                      {isSelf(one) && <span className="faint"> (you)</span>}
                    </>
                  }
                  note={one.email}
                  action={
                    administrators.length > 1 && (
                      <Button
                        size="xs"
                        aria-label={`Remove ${one.name} as administrator`}
                        onClick={() => setRemoving(one)}
                      >
                        {isSelf(one) ? "Step down" : "Remove"}
                      </Button>
                    )
                  }
                />
              ))}
            </ul>
          </Panel>
        )}
      </Loaded>
      {removing !== null && (
        <ConfirmRemoval
          administrator={removing}
          isSelf={isSelf(removing)}
          onClose={() => setRemoving(null)}
        />
      )}
    </>
  );
}

const ConfirmRemoval = ({
  administrator: { id, name },
  isSelf,
  onClose,
}: {
  administrator: Administrator;
  isSelf: boolean;
  onClose: () => void;
}) => (
  <Confirm
    title={isSelf ? "Stop being an administrator?" : `Remove ${name} as administrator?`}
    verb={isSelf ? "Step down" : "Remove"}
    onClose={onClose}
    onConfirm={async () => {
      await unwrapData(dashboard.administrators({ id }).delete());
      await (isSelf ? renewSession() : invalidateQuery(administratorsQuery));
      notify(`${name} is no longer an administrator`);
    }}
  >
    {isSelf ? "Only another administrator" : "You"} can make {isSelf ? "you" : "them"} an
    administrator again. Roles in organizations do not change.
  </Confirm>
);
