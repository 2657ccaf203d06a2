/** Settings: the person's accounts at sign-in providers. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Identity } from "../../../../src/accounts/identities/schema.ts";
import { Confirm } from "../../../components/confirm.tsx";
import { DangerItem, RowMenu } from "../../../components/menus.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { Time } from "../../../components/display/time.tsx";
import { notify, notifyError } from "../../../components/toasts.tsx";
import { dashboard, unwrapData } from "../../../data/client.ts";
import {
  headerLinkQuery,
  identitiesQuery,
  invalidateQuery,
  linkableProvidersQuery,
} from "../data.ts";
import { Entry } from "../entry.tsx";
import { t, tNode } from "../../../language/text.ts";

/** Nothing, unless the appliance has sign-in providers. */
export function LinkedAccounts() {
  const query = useQuery(identitiesQuery);
  const { data: providers = [] } = useQuery(linkableProvidersQuery);
  const { data: header } = useQuery(headerLinkQuery);
  const headerUser = header?.isLinked === false ? header.user : null;
  const [unlinking, setUnlinking] = useState<Identity | null>(null);
  if (providers.length === 0 && (query.data ?? []).length === 0 && headerUser === null) return null;
  return (
    <Panel title={t("Accounts at sign-in providers")} isFlush>
      <Loaded query={query} subject={t("Your accounts")}>
        {(identities) => (
          <ul className="entries">
            {identities.map((identity) => (
              <Row key={identity.id} identity={identity} onUnlink={() => setUnlinking(identity)} />
            ))}
            {headerUser !== null && <HeaderRow user={headerUser} />}
            {providers
              .filter(({ id }) => !identities.some(({ provider }) => provider.id === id))
              .map(({ id, name }) => (
                <Entry
                  key={id}
                  icon="lock"
                  title={name}
                  note={t("not linked")}
                  action={
                    <Button
                      size="xs"
                      onClick={() => void startLink(id)}
                      aria-label={t("Link {name}", { name })}
                    >
                      {t("Link")}
                    </Button>
                  }
                />
              ))}
          </ul>
        )}
      </Loaded>
      {unlinking !== null && (
        <UnlinkDialog identity={unlinking} onClose={() => setUnlinking(null)} />
      )}
    </Panel>
  );
}

/** The user whom a trusted proxy names, but who is not linked yet. */
const HeaderRow = ({ user }: { user: string }) => (
  <Entry
    icon="person"
    title={user}
    note={t("the name by which your proxy knows you, not linked")}
    action={
      <Button
        size="xs"
        aria-label={t("Link {user}", { user })}
        onClick={() => void linkHeader(user).catch(notifyError)}
      >
        {t("Link")}
      </Button>
    }
  />
);

async function linkHeader(user: string) {
  await unwrapData(dashboard.identities.header.post());
  await Promise.all([invalidateQuery(headerLinkQuery), invalidateQuery(identitiesQuery)]);
  notify(t("Linked {user}", { user }));
}

/** Opens the provider, which comes back to the profile. */
async function startLink(providerId: string) {
  try {
    const { url } = await unwrapData(dashboard.identities.link.post({ providerId }));
    location.assign(url);
  } catch (error) {
    notifyError(error);
  }
}

const Row = ({
  identity: { provider, email, createdAt, lastUsedAt },
  onUnlink,
}: {
  identity: Identity;
  onUnlink: () => void;
}) => (
  <Entry
    icon="lock"
    title={provider.name}
    note={
      email === null
        ? tNode("linked {time}", { time: <Time at={createdAt} /> })
        : tNode("{email}, linked {time}", { email, time: <Time at={createdAt} /> })
    }
    facts={[[t("Last used"), <Time key="used" at={lastUsedAt} />]]}
    menu={
      <RowMenu label={t("Actions for {name}", { name: provider.name })}>
        {() => <DangerItem onClick={onUnlink}>{t("Unlink")}</DangerItem>}
      </RowMenu>
    }
  />
);

const UnlinkDialog = ({ identity, onClose }: { identity: Identity; onClose: () => void }) => (
  <Confirm
    title={t("Unlink {name}?", { name: identity.provider.name })}
    verb={t("Unlink")}
    onClose={onClose}
    onConfirm={async () => {
      await unwrapData(dashboard.identities({ id: identity.id }).delete());
      await invalidateQuery(identitiesQuery);
      notify(t("Unlinked {name}", { name: identity.provider.name }));
    }}
  >
    {t("You can no longer sign in with this account. Your other sessions of {name} end.", {
      name: identity.provider.name,
    })}
  </Confirm>
);
