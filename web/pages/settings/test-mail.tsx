import { Alert, TextInput } from "@mantine/core";
import { useState } from "react";
import type { TestMail as Verdict } from "../../../src/alerting/schema.ts";
import { dashboard, dataOf } from "../../data/client.ts";
import { useSignedIn } from "../../data/session.ts";
import { useForm } from "../../components/form.tsx";
import { Panel } from "../../components/page.tsx";
import { type MailServerFields, smtpOf } from "./mail-server-fields.ts";
import { BusyButton } from "../../components/busy-button.tsx";

/** Tries what stands in the form where `unsaved` has it, else what is stored. */
export function useTestMail(unsaved: () => MailServerFields | null) {
  const { person } = useSignedIn();
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const form = useForm({ to: person.email }, async ({ to }) => {
    setVerdict(null);
    const fields = unsaved();
    const body = { to, ...(fields && { smtp: smtpOf(fields) }) };
    setVerdict(await dataOf(dashboard.settings["test-mail"].post(body)));
  });
  return { ...form, verdict };
}

export function TestMail({
  test,
  unsaved,
}: {
  test: ReturnType<typeof useTestMail>;
  unsaved: boolean;
}) {
  const { values, input, rest, busy, verdict, submit } = test;
  return (
    <Panel title="Test e-mail">
      <p className="quiet panel-words">
        {unsaved
          ? "Uses the settings above, before they are saved."
          : "Uses the saved mail server."}
      </p>
      <form className="one-line" noValidate onSubmit={(event) => void submit(event)}>
        <TextInput label="To" type="email" {...input("to")} />
        <BusyButton type="submit" loading={busy}>
          Send test e-mail
        </BusyButton>
      </form>
      <div aria-live="polite">
        {rest !== null && (
          <Alert color="red" variant="light" mt={12}>
            {rest}
          </Alert>
        )}
        {verdict?.delivered === false && (
          <Alert color="red" variant="light" mt={12} title="Not sent">
            {verdict.message}
          </Alert>
        )}
        {verdict?.delivered === true && (
          <p className="verdict up">
            The mail server accepted it: {verdict.message} Check the mailbox of {values.to}.
          </p>
        )}
      </div>
    </Panel>
  );
}
