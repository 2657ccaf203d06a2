/** Settings: the person's passkeys. */
import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Passkey } from "../../../../src/accounts/passkeys/schema.ts";
import { dashboard, unwrapData } from "../../../data/client.ts";
import {
  createCredential,
  findPasskeyObstacle,
  isCancelled,
  type PasskeyObstacle,
} from "../../../data/passkeys.ts";
import { Confirm } from "../../../components/confirm.tsx";
import { FormDialog, useForm } from "../../../components/forms/form.tsx";
import { PasswordField } from "../../../components/forms/password-field.tsx";
import { DangerItem, MenuItem, RowMenu } from "../../../components/menus.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { Time } from "../../../components/display/time.tsx";
import { notify } from "../../../components/toasts.tsx";
import { invalidateQuery, passkeysQuery, twoFactorQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import { describeBrowser } from "./browser-name.ts";
import { HttpsRecipe } from "./https-recipe.tsx";
import { t, tNode } from "../../../language/text.ts";

type PasskeyAction = { act: "rename" | "remove"; passkey: Passkey } | { act: "add" } | null;

export function WaysToSignIn() {
  const query = useQuery(passkeysQuery);
  const [doing, setDoing] = useState<PasskeyAction>(null);
  const obstacle = findPasskeyObstacle();
  const close = () => setDoing(null);
  return (
    <Panel
      title={t("Ways to sign in")}
      isFlush
      actions={
        obstacle === null && (
          <Button size="xs" onClick={() => setDoing({ act: "add" })}>
            {t("Add passkey")}
          </Button>
        )
      }
    >
      <Loaded query={query} subject={t("The passkeys")}>
        {(passkeys) => (
          <>
            {(passkeys.length === 0 || obstacle !== null) && (
              <div className="ways-note quiet text-s">
                {passkeys.length === 0 && (
                  <p>
                    {t(
                      "With a passkey, you sign in by fingerprint, face or PIN instead of your password. It can’t be guessed, stolen or used on a false page.",
                    )}
                  </p>
                )}
                {obstacle !== null && obstacles[obstacle]}
              </div>
            )}
            {passkeys.length > 0 && (
              <ul className="entries">
                {passkeys.map((passkey) => (
                  <PasskeyRow
                    key={passkey.id}
                    passkey={passkey}
                    onAct={(act) => setDoing({ act, passkey })}
                  />
                ))}
              </ul>
            )}
          </>
        )}
      </Loaded>
      {doing?.act === "add" && <NewPasskey onClose={close} />}
      {doing?.act === "rename" && <RenamePasskey passkey={doing.passkey} onClose={close} />}
      {doing?.act === "remove" && <RemovePasskey passkey={doing.passkey} onClose={close} />}
    </Panel>
  );
}

const recipes = (
  <>
    {tNode("{recipe} has recipes, also for a network without a public name.", {
      recipe: <HttpsRecipe />,
    })}
  </>
);

const obstacles: Record<PasskeyObstacle, ReactNode> = {
  insecure: (
    <p>
      {tNode(
        "Browsers use passkeys only over HTTPS. You opened this page over plain HTTP, at {host}. Start Signalbox with {certificate} and {key}, or put a proxy with HTTPS in front of it. {recipes}",
        {
          host: <code>{location.host}</code>,
          certificate: <code>--tls-cert</code>,
          key: <code>--tls-key</code>,
          recipes,
        },
      )}
    </p>
  ),
  address: (
    <p>
      {tNode(
        "Browsers use passkeys only under a host name. You opened this page under the IP address {address}. Give this machine a name, and open Signalbox over HTTPS under it. {recipes}",
        { address: <code>{location.hostname}</code>, recipes },
      )}
    </p>
  ),
  unsupported: <p>{t("This browser is too old for passkeys.")}</p>,
};

function PasskeyRow({
  passkey: { name, host, here, createdAt, lastUsedAt },
  onAct,
}: {
  passkey: Passkey;
  onAct: (act: "rename" | "remove") => void;
}) {
  const time = <Time at={createdAt} />;
  return (
    <Entry
      icon="key"
      title={name}
      note={
        here
          ? tNode("added {time}", { time })
          : tNode("works only under {host}, added {time}", { host, time })
      }
      facts={[[t("Last used"), lastUsedAt === null ? t("never") : <Time at={lastUsedAt} />]]}
      menu={
        <RowMenu label={t("Actions for {name}", { name })}>
          {() => (
            <>
              <MenuItem icon="edit" onClick={() => onAct("rename")}>
                {t("Rename")}
              </MenuItem>
              <DangerItem onClick={() => onAct("remove")}>{t("Remove")}</DangerItem>
            </>
          )}
        </RowMenu>
      }
    />
  );
}

/** Asks for a name and the password, then opens the browser's dialog. */
function NewPasskey({ onClose }: { onClose: () => void }) {
  const { data: factors } = useQuery(twoFactorQuery);
  const form = useForm(
    { name: describeBrowser(navigator.userAgent), password: "" },
    async ({ name, password }) => {
      const body = password === "" ? {} : { password };
      const options = await unwrapData(dashboard.passkeys.options.post(body));
      try {
        const credential = await createCredential(options);
        await unwrapData(dashboard.passkeys.post({ name, ...credential }));
      } catch (error) {
        if (!(error instanceof DOMException)) throw error;
        throw new Error(describeFailure(error));
      }
      await invalidateQuery(passkeysQuery);
      notify(t("Added the passkey {name}", { name }));
      onClose();
    },
  );
  return (
    <FormDialog title={t("Add passkey")} onClose={onClose} form={form} submit={t("Continue")}>
      <TextInput
        label={t("Name")}
        description={t("Where the passkey is stored, such as your phone or password manager.")}
        {...form.input("name")}
      />
      {factors?.password !== false && (
        <PasswordField
          label={t("Your password")}
          autoComplete="current-password"
          data-autofocus
          {...form.input("password")}
        />
      )}
    </FormDialog>
  );
}

function describeFailure(error: DOMException): string {
  if (error.name === "InvalidStateError") return t("This device already has a passkey of yours.");
  if (isCancelled(error)) return t("No passkey was created: the browser’s dialog was closed.");
  return error.message;
}

type Changing = { passkey: Passkey; onClose: () => void };

function RenamePasskey({ passkey: { id, name }, onClose }: Changing) {
  const form = useForm({ name }, async (body) => {
    await unwrapData(dashboard.passkeys({ id }).patch(body));
    await invalidateQuery(passkeysQuery);
    onClose();
  });
  return (
    <FormDialog title={t("Rename passkey")} onClose={onClose} form={form} submit={t("Save")}>
      <TextInput label={t("Name")} data-autofocus {...form.input("name")} />
    </FormDialog>
  );
}

const RemovePasskey = ({ passkey: { id, name }, onClose }: Changing) => (
  <Confirm
    title={t("Remove {name}?", { name })}
    verb={t("Remove")}
    onClose={onClose}
    onConfirm={async () => {
      await unwrapData(dashboard.passkeys({ id }).delete());
      await invalidateQuery(passkeysQuery);
      notify(t("Removed the passkey {name}", { name }));
    }}
  >
    {t("It no longer signs you in. Delete it on your device or in your password manager, too.")}
  </Confirm>
);
