/** Settings: the sign-in providers of the appliance. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { IdentityProvider } from "../../../../src/accounts/identity-providers/schema.ts";
import { presets } from "../../../../src/accounts/identity-providers/preset-rules.ts";
import { Confirm } from "../../../components/confirm.tsx";
import { Icon } from "../../../components/display/icons.tsx";
import { DangerItem, MenuItem, RowMenu } from "../../../components/menus.tsx";
import { CreateButton, EmptyState, Loaded, Panel } from "../../../components/page.tsx";
import { notify } from "../../../components/toasts.tsx";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { useCreateDialog } from "../create-dialog.ts";
import { identityProvidersQuery, invalidateQuery, organizationsQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import { ProviderEditor } from "./provider-editor.tsx";
import { t, tCount, tNode } from "../../../language/text.ts";

export default function SingleSignOn() {
  const query = useQuery(identityProvidersQuery);
  const { asked, open, close } = useCreateDialog();
  const [doing, setDoing] = useState<{ act: "edit" | "delete"; provider: IdentityProvider } | null>(
    null,
  );
  const end = () => setDoing(null);
  return (
    <>
      <div className="settings-head">
        <p className="quiet">
          {t(
            "People sign in with the account that they have at a provider of OpenID Connect, such as Keycloak or Entra ID. Each provider opens the organizations that you choose.",
          )}
        </p>
        <CreateButton onClick={open}>{t("Add provider")}</CreateButton>
      </div>
      <Loaded query={query} subject={t("The sign-in providers")}>
        {(providers) =>
          providers.length === 0 ? (
            <Panel>
              <EmptyState
                icon={<Icon name="lock" size={28} />}
                title={t("No sign-in providers yet")}
                action={<Button onClick={open}>{t("Add provider")}</Button>}
              >
                {t(
                  "With a provider, people need no password here, and their groups can decide their roles. Passwords still work.",
                )}
              </EmptyState>
            </Panel>
          ) : (
            <Panel isFlush>
              <ul className="entries">
                {providers.map((provider) => (
                  <Row
                    key={provider.id}
                    provider={provider}
                    onAct={(act) => setDoing({ act, provider })}
                  />
                ))}
              </ul>
            </Panel>
          )
        }
      </Loaded>
      {asked && <ProviderEditor provider={null} onClose={close} />}
      {doing?.act === "edit" && <ProviderEditor provider={doing.provider} onClose={end} />}
      {doing?.act === "delete" && <Delete provider={doing.provider} onClose={end} />}
    </>
  );
}

function Row({
  provider,
  onAct,
}: {
  provider: IdentityProvider;
  onAct: (act: "edit" | "delete") => void;
}) {
  const { name, enabled, organizations, people } = provider;
  const { data } = useQuery(organizationsQuery);
  const nameOf = (id: string) => data?.find((one) => one.id === id)?.name ?? "…";
  const [first, ...others] = organizations;
  return (
    <Entry
      icon="lock"
      isOver={!enabled}
      title={name}
      note={describeProvider(provider)}
      facts={[
        [
          t("Opens"),
          first === undefined
            ? t("nothing yet")
            : others.length === 0
              ? nameOf(first.organizationId)
              : tCount(organizations.length, "{count} organization", "{count} organizations"),
        ],
        [t("Accounts"), people],
        [t("State"), enabled ? t("on") : t("off")],
      ]}
      menu={
        <RowMenu label={t("Actions for {name}", { name })}>
          {() => (
            <>
              <MenuItem icon="edit" onClick={() => onAct("edit")}>
                {t("Edit")}
              </MenuItem>
              <DangerItem onClick={() => onAct("delete")}>{t("Delete")}</DangerItem>
            </>
          )}
        </RowMenu>
      }
    />
  );
}

/** The issuer, with the kind of provider if the name does not contain it. */
function describeProvider({ name, preset, issuer }: IdentityProvider): string {
  const { label } = presets[preset];
  return preset === "other" || label === name ? issuer : `${label}, ${issuer}`;
}

const Delete = ({
  provider: { id, name, people },
  onClose,
}: {
  provider: IdentityProvider;
  onClose: () => void;
}) => (
  <Confirm
    title={t("Delete {name}?", { name })}
    verb={t("Delete")}
    onClose={onClose}
    onConfirm={async () => {
      await unwrapData(dashboard["identity-providers"]({ id }).delete());
      await invalidateQuery(identityProvidersQuery);
      notify(t("Deleted {name}", { name }));
    }}
  >
    {people === 0
      ? t("Nobody has signed in through it yet.")
      : tCount(
          people,
          "One account is unlinked, and the sessions end at once. People without a password can no longer sign in.",
          "{count} accounts are unlinked, and the sessions end at once. People without a password can no longer sign in.",
        )}{" "}
    {tNode("On the machine, {command} lets anyone in again.", {
      command: <code>signalbox users sign-in-link EMAIL</code>,
    })}
  </Confirm>
);
