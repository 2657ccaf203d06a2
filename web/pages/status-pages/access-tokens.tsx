/** The access tokens of a status page, for programs that can't sign in. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { unwrapData, addIdempotencyKey } from "../../data/client.ts";
import { getPageRoutes, useAccessTokens } from "../../data/status-pages.ts";
import { Confirm } from "../../components/confirm.tsx";
import { ShownOnce } from "../../components/copy.tsx";
import { Time } from "../../components/display/time.tsx";
import { FormDialog, useForm } from "../../components/forms/form.tsx";
import { Loaded, Panel } from "../../components/page.tsx";
import { notify } from "../../components/toasts.tsx";
import { t, tNode } from "../../language/text.ts";

type NamedToken = { id: string; name: string };

export function AccessTokens({ pageId, mayWrite }: { pageId: string; mayWrite: boolean }) {
  const query = useAccessTokens(pageId);
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<NamedToken | null>(null);
  return (
    <Panel title={t("Access tokens")}>
      <p className="quiet panel-none">
        {tNode(
          "Feed readers and dashboards see the page like signed-in people with {parameter} at the end of an address.",
          { parameter: <code>?accessToken=TOKEN</code> },
        )}
      </p>
      <Loaded query={query} subject={t("The access tokens")}>
        {(tokens) => (
          <ul className="lines">
            {tokens.map((token) => (
              <li key={token.id}>
                <TokenWords {...token} />
                {mayWrite && (
                  <Button
                    size="xs"
                    variant="subtle"
                    aria-label={t("Revoke {name}", { name: token.name })}
                    onClick={() => setRevoking(token)}
                  >
                    {t("Revoke")}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {mayWrite && (
        <Button size="xs" className="token-add" onClick={() => setCreating(true)}>
          {t("Create access token")}
        </Button>
      )}
      {isCreating && <NewToken pageId={pageId} onClose={() => setCreating(false)} />}
      {revoking !== null && (
        <Confirm
          title={t("Revoke {name}?", { name: revoking.name })}
          verb={t("Revoke")}
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            const { id, name } = revoking;
            await unwrapData(getPageRoutes(pageId)["access-tokens"]({ tokenId: id }).delete());
            notify(t("Revoked {name}", { name }));
          }}
        >
          {t("Programs with this token can no longer read the page. This cannot be undone.")}
        </Confirm>
      )}
    </Panel>
  );
}

const TokenWords = ({ name, createdAt }: { name: string; createdAt: string }) => (
  <span className="line-words">
    {tNode("{name} created {time}", { name: <b>{name}</b>, time: <Time at={createdAt} /> })}
  </span>
);

function NewToken({ pageId, onClose }: { pageId: string; onClose: () => void }) {
  const [token, setToken] = useState<string | null>(null);
  const form = useForm(
    { name: "" },
    async (values, _, idempotencyKey) => {
      const routes = getPageRoutes(pageId)["access-tokens"];
      setToken((await unwrapData(routes.post(values, addIdempotencyKey(idempotencyKey)))).token);
    },
    undefined,
    { key: "access-token" },
  );
  if (token !== null)
    return (
      <ShownOnce
        title={t("{name} is ready", { name: form.values.name })}
        label={t("Access token")}
        text={token}
        onClose={onClose}
      >
        {t("Copy it now: it is not shown again.")}
      </ShownOnce>
    );
  return (
    <FormDialog
      title={t("Create access token")}
      onClose={onClose}
      form={form}
      submit={t("Create access token")}
    >
      <TextInput
        label={t("Name")}
        placeholder={t("Feed reader of the support team")}
        description={t("The program that uses the token.")}
        data-autofocus
        {...form.input("name")}
      />
    </FormDialog>
  );
}
