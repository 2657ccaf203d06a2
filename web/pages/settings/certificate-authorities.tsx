import { Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Settings } from "../../../src/accounts/settings/schema.ts";
import { dataOf, ifMatch, v1 } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";
import { useSignedIn } from "../../data/session.ts";
import { FormFrame, useForm } from "../../components/form.tsx";
import { Loaded, Panel } from "../../components/page.tsx";
import { notify } from "../../components/toasts.tsx";
import { settingsQuery } from "./data.ts";

export default function CertificateAuthorities() {
  const { organization } = useSignedIn();
  const query = useQuery(settingsQuery(organization.id));
  const [opened, setOpened] = useState(0);
  return (
    <Loaded query={query} what="The certificate authorities">
      {(settings) => (
        <Fields
          key={opened}
          organizationId={organization.id}
          settings={settings}
          onTheirs={() => void query.refetch().then(() => setOpened(opened + 1))}
        />
      )}
    </Loaded>
  );
}

type FieldsProps = { organizationId: string; settings: Settings; onTheirs: () => void };

function Fields({ organizationId, settings, onTheirs }: FieldsProps) {
  const [known, setKnown] = useState(settings);
  const bodyOf = (text: string) => ({ certificateAuthorities: text.trim() === "" ? null : text });
  const form = useForm(
    { certificateAuthorities: settings.certificateAuthorities ?? "" },
    async ({ certificateAuthorities }, force) => {
      const body = bodyOf(certificateAuthorities);
      const saved = await dataOf(v1.settings.patch(body, ifMatch(force ? undefined : known)));
      setKnown(saved);
      form.replace({ certificateAuthorities: saved.certificateAuthorities ?? "" });
      queryClient.setQueryData(settingsQuery(organizationId).queryKey, saved);
      notify("Saved");
    },
    onTheirs,
  );
  return (
    <>
      <p className="quiet panel-words">
        The checks of all monitors trust certificates of these authorities, as well as of the public
        ones.
      </p>
      <Panel>
        <FormFrame
          form={form}
          submit="Save"
          curl={() => ({
            method: "PATCH",
            route: v1.settings,
            body: bodyOf(form.values.certificateAuthorities),
          })}
        >
          <Textarea
            label="Certificates"
            description="In PEM, one after the other. Leave empty to trust public authorities only."
            placeholder="-----BEGIN CERTIFICATE-----"
            autosize
            minRows={6}
            maxRows={20}
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mono)" } }}
            {...form.input("certificateAuthorities")}
          />
        </FormFrame>
      </Panel>
    </>
  );
}
