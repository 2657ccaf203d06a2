/** Ways to sign in besides the password, as buttons under its form. */
import { Alert } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { SecondFactors } from "../../src/accounts/passkeys/schema.ts";
import { BusyButton } from "../components/forms/busy-button.tsx";
import { Icon } from "../components/display/icons.tsx";
import { dashboard, unwrapData } from "../data/client.ts";
import { findPasskeyObstacle, offerPasskeys, signInWithPasskey } from "../data/passkeys.ts";
import { useSession } from "../data/session.ts";
import { HeaderButton } from "./header-button.tsx";
import { ProviderButtons } from "./provider-buttons.tsx";
import { getLocale } from "../../src/core/text/locale.ts";
import { t, tNode } from "../language/text.ts";

const listFormat = new Intl.ListFormat(getLocale(), { type: "disjunction" });

type SignedInProps = { onDone: () => Promise<void> };

/** The ways that this appliance offers under this host. */
export function OtherWays({ onDone }: SignedInProps) {
  const { data: session } = useSession();
  // In the dialog after a session has ended, the cached session has none.
  const { data: fetched } = useQuery({
    queryKey: ["sign-in-ways"],
    queryFn: async () => (await unwrapData(dashboard.session.get())).ways,
    refetchOnWindowFocus: false,
    enabled: session?.ways == null,
  });
  const ways = session?.ways ?? fetched;
  const hasPasskey = ways?.passkey === true && findPasskeyObstacle() === null;
  const { providers = [], headerUser = null } = ways ?? {};
  if (!hasPasskey && providers.length === 0 && headerUser === null) return null;
  return (
    <div className="sign-in-ways">
      <p className="sign-in-or quiet">{t("or")}</p>
      {headerUser !== null && <HeaderButton user={headerUser} onDone={onDone} />}
      <ProviderButtons providers={providers} />
      {hasPasskey && <PasskeyButton label={t("Sign in with a passkey")} offers onDone={onDone} />}
    </div>
  );
}

/** A passkey as the second step after the password. */
export function PasskeyStep({ factors, onDone }: SignedInProps & { factors: SecondFactors }) {
  const { passkey, elsewhere } = factors;
  if (passkey !== null && findPasskeyObstacle() === null)
    return (
      <div className="sign-in-ways">
        <p className="sign-in-or quiet">{t("or")}</p>
        <PasskeyButton label={t("Use your passkey")} options={passkey} onDone={onDone} />
      </div>
    );
  const hosts = passkey === null ? elsewhere : [...elsewhere, passkey.rpId];
  return hosts.length === 0 ? null : (
    <p className="quiet text-s sign-in-elsewhere">
      {tNode("Your passkeys work only if you open Signalbox under {hosts}.", {
        hosts: listFormat.format(hosts),
      })}
    </p>
  );
}

/** Starts the browser's dialog. With `offers`, the e-mail field also lists passkeys. */
function PasskeyButton({
  label,
  options,
  offers = false,
  onDone,
}: SignedInProps & { label: string; options?: SecondFactors["passkey"]; offers?: boolean }) {
  const [isBusy, setIsBusy] = useState(false);
  const [issue, setIssue] = useState<string | null>(null);
  const [attempts, setAttempts] = useState(0);
  const latest = useRef(onDone);
  latest.current = onDone;
  const report = (error: unknown) => setIssue((error as Error).message);
  useEffect(() => {
    if (offers) return offerPasskeys(() => void latest.current(), report);
    // The browser's dialog ends the offer, so it starts again after each attempt.
  }, [offers, attempts]);
  async function start() {
    setIsBusy(true);
    setIssue(null);
    try {
      if (await signInWithPasskey(options ?? undefined)) return await latest.current();
    } catch (error) {
      report(error);
    }
    setIsBusy(false);
    setAttempts(attempts + 1);
  }
  return (
    <>
      {issue !== null && (
        <Alert color="red" variant="light" role="alert" className="mb-14">
          {issue}
        </Alert>
      )}
      <BusyButton
        fullWidth
        leftSection={<Icon name="key" size={16} />}
        loading={isBusy}
        onClick={() => void start()}
      >
        {label}
      </BusyButton>
    </>
  );
}
