import { Modal } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useSignedIn } from "../data/session.ts";
import { signedOut } from "../data/signed-out.ts";
import { SignInForm } from "./sign-in-form.tsx";

/** The session ended while the page was open: signing in again goes on where it was, nothing typed is lost. */
export function SignInDialog() {
  const { person } = useSignedIn();
  const queries = useQueryClient();
  return (
    <Modal
      opened={signedOut.use()}
      onClose={() => {}}
      withCloseButton={false}
      closeOnEscape={false}
      title="Your session has ended"
      centered
      size="sm"
      zIndex={400}
    >
      <p className="quiet dialog-words">
        Sign in again to continue. What you typed on this page is kept.
      </p>
      <SignInForm email={person.email} onDone={() => void queries.invalidateQueries()} />
    </Modal>
  );
}
