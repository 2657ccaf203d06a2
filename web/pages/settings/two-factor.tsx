import { Button } from "@mantine/core";
import { useState } from "react";
import { useSignedIn } from "../../data/session.ts";
import { Panel } from "../../components/page.tsx";
import { TwoFactorOff } from "./two-factor-off.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";
import { TwoFactorSetUp } from "./two-factor-set-up.tsx";

type Doing = "setting-up" | "turning-off" | "renewing" | null;

/** A code from a phone beside the password, and what stands in for a lost phone. */
export function TwoFactor() {
  const { person } = useSignedIn();
  const [doing, setDoing] = useState<Doing>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const close = () => setDoing(null);
  return (
    <Panel title="Two-factor sign-in">
      <div className="two-factor">
        <p className="quiet">
          {person.twoFactor ? (
            <>
              <b className="up">On.</b> Signing in needs a code from your authenticator app, or one
              of your recovery codes.
            </>
          ) : (
            <>
              <b>Off.</b> When it is on, signing in also needs a code from an app on your phone, so
              a stolen password is not enough.
            </>
          )}
        </p>
        <div className="two-factor-acts">
          {person.twoFactor ? (
            <>
              <Button onClick={() => setDoing("renewing")}>New recovery codes</Button>
              <Button onClick={() => setDoing("turning-off")}>Turn off</Button>
            </>
          ) : (
            <Button variant="filled" onClick={() => setDoing("setting-up")}>
              Turn on
            </Button>
          )}
        </div>
      </div>
      {doing === "setting-up" && <TwoFactorSetUp onClose={close} onCodes={setCodes} />}
      {(doing === "turning-off" || doing === "renewing") && (
        <TwoFactorOff renewing={doing === "renewing"} onClose={close} onCodes={setCodes} />
      )}
      {codes !== null && <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />}
    </Panel>
  );
}
