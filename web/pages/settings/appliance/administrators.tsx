/** Settings: administrators of the appliance. They are added and removed here. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Administrator } from "../../../../src/operations/appliance/schema.ts";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { renewSession, useSignedInPerson } from "../../../data/session.ts";
import { Confirm } from "../../../components/confirm.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { notify } from "../../../components/toasts.tsx";
import { administratorsQuery, invalidateQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import { t, tNode } from "../../../language/text.ts";

const Introduction = () => (
  <div className="settings-head">
    <p className="quiet">
      {tNode(
        "Administrators create and delete organizations and download backups of everything. In an organization they can do what their role there allows. Add administrators under {link}.",
        {
          link: (
            <Link to="/settings/$section" params={{ section: "people" }} className="link">
              {t("People")}
            </Link>
          ),
        },
      )}
    </p>
  </div>
);

/** Administrators of the appliance, from all organizations. */
export default function Administrators() {
  const query = useQuery(administratorsQuery);
  const { person } = useSignedInPerson();
  const [removing, setRemoving] = useState<Administrator | null>(null);
  const isSelf = (one: Administrator) => one.id === person.id;
  return (
    <>
      <Introduction />
      <Loaded query={query} subject={t("The administrators")}>
        {(administrators) => (
          <Panel isFlush>
            <ul className="entries">
              {administrators.map((one) => (
                <Entry
                  key={one.id}
                  avatar={one.name}
                  title={
                    <>
                      {one.name}
                      {isSelf(one) && <span className="faint"> {t("(you)")}</span>}
                    </>
                  }
                  note={one.email}
                  action={
                    administrators.length > 1 && (
                      <Button
                        size="xs"
                        aria-label={t("Remove {name} as administrator", { name: one.name })}
                        onClick={() => setRemoving(one)}
                      >
                        {isSelf(one) ? t("Step down") : t("Remove")}
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
    title={
      isSelf ? t("Stop being an administrator?") : t("Remove {name} as administrator?", { name })
    }
    verb={isSelf ? t("Step down") : t("Remove")}
    onClose={onClose}
    onConfirm={async () => {
      await unwrapData(dashboard.administrators({ id }).delete());
      await (isSelf ? renewSession() : invalidateQuery(administratorsQuery));
      notify(t("{name} is no longer an administrator", { name }));
    }}
  >
    {isSelf
      ? t(
          "Only another administrator can make you an administrator again. Roles in organizations do not change.",
        )
      : t("You can make them an administrator again. Roles in organizations do not change.")}
  </Confirm>
);
