/** The access tokens of a status page, for programs that can't sign in. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { unwrapData, withIdempotencyKey } from "../../data/client.ts";
import { getPageRoutes, useAccessTokens } from "../../data/status-pages.ts";
import { Confirm } from "../../components/confirm.tsx";
import { ShownOnce } from "../../components/copy.tsx";
import { Time } from "../../components/display/time.tsx";
import { FormDialog, useForm } from "../../components/forms/form.tsx";
import { Loaded, Panel } from "../../components/page.tsx";
import { notify } from "../../components/toasts.tsx";

type Named = { id: string; name: string };

export function AccessTokens({ pageId, mayWrite }: { pageId: string; mayWrite: boolean }) {
  const query = useAccessTokens(pageId);
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Named | null>(null);
  return (
    <Panel title="Access tokens">
      <p className="quiet panel-none">
        Feed readers and dashboards see the page like signed-in people with{" "}
        <code>?accessToken=TOKEN</code> at the end of an address.
      </p>
      <Loaded query={query} what="The access tokens">
        {(tokens) => (
          <ul className="lines">
            {tokens.map((token) => (
              <li key={token.id}>
                <span className="line-words">
                  <b>{token.name}</b> created <Time at={token.createdAt} />
                </span>
                {mayWrite && (
                  <Button
                    size="xs"
                    variant="subtle"
                    aria-label={`Revoke ${token.name}`}
                    onClick={() => setRevoking(token)}
                  >
                    Revoke
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {mayWrite && (
        <Button size="xs" className="token-add" onClick={() => setCreating(true)}>
          Create access token
        </Button>
      )}
      {isCreating && <NewToken pageId={pageId} onClose={() => setCreating(false)} />}
      {revoking !== null && (
        <Confirm
          title={`Revoke ${revoking.name}?`}
          verb="Revoke"
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            const { id, name } = revoking;
            await unwrapData(getPageRoutes(pageId)["access-tokens"]({ tokenId: id }).delete());
            notify(`Revoked ${name}`);
          }}
        >
          Programs with this token can no longer read the page. This cannot be undone.
        </Confirm>
      )}
    </Panel>
  );
}

function NewToken({ pageId, onClose }: { pageId: string; onClose: () => void }) {
  const [token, setToken] = useState<string | null>(null);
  const form = useForm(
    { name: "" },
    async (values, _, once) => {
      const routes = getPageRoutes(pageId)["access-tokens"];
      setToken((await unwrapData(routes.post(values, withIdempotencyKey(once)))).token);
    },
    undefined,
    { key: "access-token" },
  );
  if (token !== null)
    return (
      <ShownOnce
        title={`${form.values.name} is ready`}
        label="Access token"
        text={token}
        onClose={onClose}
      >
        Copy it now: it is not shown again.
      </ShownOnce>
    );
  return (
    <FormDialog
      title="Create access token"
      onClose={onClose}
      form={form}
      submit="Create access token"
    >
      <TextInput
        label="Name"
        placeholder="Feed reader of the support team"
        description="The program that uses the token."
        data-autofocus
        {...form.input("name")}
      />
    </FormDialog>
  );
}
