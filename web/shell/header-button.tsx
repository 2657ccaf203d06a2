/** The button of the sign-in page for a person whom a proxy has signed in. */
import { Alert } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { BusyButton } from "../components/forms/busy-button.tsx";
import { Icon } from "../components/display/icons.tsx";
import { dashboard, unwrapData } from "../data/client.ts";
import { waitsForPerson } from "./waits-for-person.ts";
import { tNode } from "../language/text.ts";

type Notice = { color: "red" | "blue"; text: string };

/** Signs the person in at once, except after a sign-out. */
export function HeaderButton({ user, onDone }: { user: string; onDone: () => Promise<void> }) {
  const [isBusy, setIsBusy] = useState(false);
  const [notice, setNotice] = useState<Notice | null>(null);
  const hasStarted = useRef(false);
  async function start() {
    setIsBusy(true);
    setNotice(null);
    try {
      const { state, consentFor } = await unwrapData(dashboard["sign-in"].header.post());
      if (state === "signed-in") return await onDone();
      setNotice({
        color: "blue",
        text: `${consentFor} has an account with a password. Enter the password once; then the proxy signs you in.`,
      });
    } catch (error) {
      setNotice({ color: "red", text: (error as Error).message });
    }
    setIsBusy(false);
  }
  useEffect(() => {
    if (hasStarted.current || waitsForPerson()) return;
    hasStarted.current = true;
    void start();
  });
  return (
    <>
      {notice !== null && (
        <Alert color={notice.color} variant="light" role="alert" className="mb-14">
          {notice.text}
        </Alert>
      )}
      <BusyButton
        fullWidth
        leftSection={<Icon name="person" size={16} />}
        loading={isBusy}
        onClick={() => void start()}
      >
        {tNode("Continue as {user}", { user })}
      </BusyButton>
    </>
  );
}
