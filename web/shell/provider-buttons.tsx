/** Buttons of the sign-in page for the sign-in providers of the appliance. */
import { Alert } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import type { ProviderButton } from "../../src/accounts/identity-providers/schema.ts";
import { BusyButton } from "../components/forms/busy-button.tsx";
import { Icon } from "../components/display/icons.tsx";
import { dashboard, unwrapData } from "../data/client.ts";
import { waitsForPerson } from "./waits-for-person.ts";
import { tNode } from "../language/text.ts";

/** Path to open after the sign-in: the page from which the person was sent here. */
function getReturnPath(): string {
  const { pathname, search } = location;
  if (pathname !== "/sign-in") return pathname + search;
  return new URLSearchParams(search).get("back") ?? "/";
}

export function ProviderButtons({
  providers,
  invitation,
}: {
  providers: readonly ProviderButton[];
  /** Token of an invitation to accept. */
  invitation?: string;
}) {
  const [busyId, setBusyId] = useState<string | null>(null);
  const [issue, setIssue] = useState<string | null>(null);
  async function start(providerId: string) {
    setBusyId(providerId);
    setIssue(null);
    try {
      const body = invitation
        ? { providerId, invitation }
        : { providerId, returnTo: getReturnPath() };
      const { url } = await unwrapData(dashboard["sign-in"].provider.post(body));
      location.assign(url);
    } catch (error) {
      setIssue((error as Error).message);
      setBusyId(null);
    }
  }
  const [only, ...others] = providers;
  const isDirect = only?.isDirect === true && others.length === 0;
  const hasStarted = useRef(false);
  useEffect(() => {
    // In the dialog after a session has ended, leaving the page would lose typed text.
    const isEntrance = location.pathname === "/sign-in" && !waitsForPerson();
    if (!isDirect || !isEntrance || hasStarted.current) return;
    hasStarted.current = true;
    void start(only.id);
  });
  return (
    <>
      {issue !== null && (
        <Alert color="red" variant="light" role="alert" className="mb-14">
          {issue}
        </Alert>
      )}
      {providers.map(({ id, name }) => (
        <BusyButton
          key={id}
          fullWidth
          leftSection={<Icon name="lock" size={16} />}
          loading={busyId === id}
          disabled={busyId !== null && busyId !== id}
          onClick={() => void start(id)}
        >
          {tNode("Sign in with {name}", { name })}
        </BusyButton>
      ))}
    </>
  );
}
