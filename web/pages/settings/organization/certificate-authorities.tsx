/** Settings: certificate authorities that checks trust. */
import { dayMs } from "../../../../src/core/time/clock.ts";
import { Button, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Settings } from "../../../../src/accounts/settings/schema.ts";
import { v1 } from "../../../data/client.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { StateIcon } from "../../../components/display/state-icon.tsx";
import { Time, useNow } from "../../../components/display/time.tsx";
import { FormFrame } from "../../../components/forms/form.tsx";
import { formatCount } from "../../../components/display/format.ts";
import { Loaded, Panel } from "../../../components/page.tsx";
import { createAuthoritiesQuery, createSettingsQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import { type SettingsFormProps, useSettingsForm } from "./settings-form.ts";
import { t, tNode } from "../../../language/text.ts";

export default function CertificateAuthorities() {
  const { organization } = useSignedInPerson();
  const query = useQuery(createSettingsQuery(organization.id));
  const [opened, setOpened] = useState(0);
  return (
    <Loaded query={query} subject={t("The certificate authorities")}>
      {(settings) => (
        <Fields
          key={opened}
          organizationId={organization.id}
          settings={settings}
          onReload={() => void query.refetch().then(() => setOpened(opened + 1))}
        />
      )}
    </Loaded>
  );
}

const toValues = (settings: Settings) => ({
  certificateAuthorities: settings.certificateAuthorities ?? "",
});

function Fields({ settings, ...props }: SettingsFormProps) {
  const [known, setKnown] = useState(settings);
  const buildAuthoritiesBody = (text: string) => ({
    certificateAuthorities: text.trim() === "" ? null : text,
  });
  const form = useSettingsForm(
    { ...props, settings: known },
    toValues(settings),
    ({ certificateAuthorities }) => buildAuthoritiesBody(certificateAuthorities),
    { key: "certificate-authorities" },
    (saved) => {
      setKnown(saved);
      form.replace(toValues(saved));
    },
  );
  return (
    <>
      <p className="quiet panel-words">
        {t(
          "The checks of all monitors trust certificates of these authorities, as well as of the public ones.",
        )}
      </p>
      <Authorities
        of={known}
        text={form.values.certificateAuthorities}
        onChange={(text) => form.set("certificateAuthorities", text)}
      />
      <Panel>
        <FormFrame
          form={form}
          submit={t("Save")}
          disabled={!form.isDirty}
          curl={() => ({
            method: "PATCH",
            route: v1.settings,
            body: buildAuthoritiesBody(form.values.certificateAuthorities),
          })}
        >
          <Textarea
            label={t("Certificates")}
            description={t(
              "In PEM, one after the other. Leave empty to trust public authorities only.",
            )}
            placeholder="-----BEGIN CERTIFICATE-----"
            autosize
            minRows={6}
            maxRows={14}
            spellCheck={false}
            wrap="off"
            styles={{ input: { font: "12px/1.5 var(--mono)" } }}
            {...form.input("certificateAuthorities")}
          />
        </FormFrame>
      </Panel>
    </>
  );
}

const expiresSoonDays = 30;

/** Lists the saved certificates by name and expiry, because PEM text is unreadable. `text` is that of the form. */
function Authorities({
  of: { updatedAt },
  text,
  onChange,
}: {
  of: Settings;
  text: string;
  onChange: (text: string) => void;
}) {
  const { data = [] } = useQuery(createAuthoritiesQuery(updatedAt));
  const now = useNow();
  if (data.length === 0) return null;
  return (
    <Panel isFlush>
      <ul className="entries" aria-label={t("Trusted authorities")}>
        {data.map(({ name, expiresAt, pem }, index) => {
          const days = Math.floor((Date.parse(expiresAt) - now) / dayMs);
          const time = <Time at={expiresAt} as="short" />;
          const state = days < 0 ? "down" : days < expiresSoonDays ? "degraded" : null;
          return (
            <Entry
              key={index}
              {...(state === null
                ? { icon: "lock" }
                : { mark: <StateIcon state={state} size={14} /> })}
              title={name}
              note={
                days < 0 ? tNode("Expired {time}", { time }) : tNode("Expires {time}", { time })
              }
              facts={days < 0 ? [] : [[t("Left"), t("{days} d", { days: formatCount(days) })]]}
              action={
                text.includes(pem) ? (
                  <Button
                    size="xs"
                    aria-label={t("Remove {name}", { name })}
                    onClick={() => onChange(text.replace(pem, "").trimStart())}
                  >
                    {t("Remove")}
                  </Button>
                ) : (
                  <span className="quiet">{t("Removed when you save")}</span>
                )
              }
            />
          );
        })}
      </ul>
    </Panel>
  );
}
