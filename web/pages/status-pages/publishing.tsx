/** The publication of a status page as static files: its target, and the last outcome. */
import { Alert, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import {
  type Publishing as Publication,
  publishingKinds,
} from "../../../src/status-pages/publishing/schema.ts";
import {
  BucketFields,
  buildBucketBody,
  toBucketValues,
} from "../../components/forms/bucket-fields.tsx";
import { ChoiceField, FormFrame, useForm } from "../../components/forms/form.tsx";
import { SecretField } from "../../components/forms/secret-fields.tsx";
import { createStoredSecrets } from "../../components/forms/stored-secrets.ts";
import { Time } from "../../components/display/time.tsx";
import { Loaded, Panel } from "../../components/page.tsx";
import { notify } from "../../components/toasts.tsx";
import { unwrapData, addIfMatch } from "../../data/client.ts";
import { queryClient } from "../../data/query.ts";
import { createPublishingQuery, getPageRoutes, type StatusPage } from "../../data/status-pages.ts";
import { translateServerText } from "../../language/server-text.ts";
import { t, tCount, tNode } from "../../language/text.ts";

export function Publishing({ page }: { page: StatusPage }) {
  const query = useQuery(createPublishingQuery(page.id));
  return (
    <Panel title={t("Static copy")}>
      <p className="quiet panel-none">
        {t(
          "Signalbox can publish the page as files after each change. Readers of the files still see the last state, and its time, if this appliance is not reachable.",
        )}
      </p>
      <Loaded query={query} subject={t("The static copy")}>
        {(publication) => (
          <>
            <Removals publication={publication} />
            <Outcome page={page} publication={publication} />
            <Fields page={page} publication={publication} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

type Props = { page: StatusPage; publication: Publication };

function Removals({ publication: { removals } }: { publication: Publication }) {
  return removals.map(({ place, files, failure }) => (
    <Alert key={place} color={failure === null ? "gray" : "red"} variant="light">
      {tCount(
        files,
        "{count} file is being removed from {place}.",
        "{count} files are being removed from {place}.",
        { place },
      )}{" "}
      {failure !== null &&
        tNode("This has been failing since {time}: {reason}", {
          time: <Time at={failure.since} as="short" />,
          reason: translateServerText(failure.reason),
        })}
    </Alert>
  ));
}

function Outcome({ page, publication: { enabled, failure, publishedAt, files } }: Props) {
  if (!enabled) return null;
  if (page.visibility !== "public")
    return (
      <Alert color="yellow" variant="light">
        {t("Only public pages are published. The files of this page are removed.")}
      </Alert>
    );
  if (failure !== null)
    return (
      <Alert color="red" variant="light">
        {tNode("Publishing has been failing since {time}: {reason}", {
          time: <Time at={failure.since} as="short" />,
          reason: translateServerText(failure.reason),
        })}
      </Alert>
    );
  return (
    <p className="quiet">
      {publishedAt === null
        ? t("Not published yet.")
        : tNode("{files}, last published {time}.", {
            files: tCount(files, "{count} file", "{count} files"),
            time: <Time at={publishedAt} />,
          })}
    </p>
  );
}

const toFields = ({ enabled, to, s3, url }: Publication) => ({
  enabled,
  to,
  url: url ?? "",
  ...toBucketValues(s3),
});

const buildPatch = ({ enabled, to, url, ...bucket }: ReturnType<typeof toFields>) => ({
  enabled,
  to,
  url: url.trim() || null,
  ...buildBucketBody(to, bucket),
});

function usePublishingForm({ page, publication }: Props) {
  const [known, setKnown] = useState(publication);
  const form = useForm(
    toFields(publication),
    async (values, force, idempotencyKey) => {
      const saved = await unwrapData(
        getPageRoutes(page.id).publishing.patch(
          buildPatch(values),
          addIfMatch(force ? undefined : known, idempotencyKey),
        ),
      );
      setKnown(saved);
      form.replace(toFields(saved));
      queryClient.setQueryData(createPublishingQuery(page.id).queryKey, saved);
      notify(t("Saved"));
    },
    undefined,
    { key: `publishing-${page.id}`, secrets: ["s3.secretAccessKey"] },
  );
  const { values, errorOf } = form;
  const body = buildPatch(values);
  const secrets = createStoredSecrets(publishingKinds, "publishing", known, body, errorOf);
  return { known, form, secrets };
}

function Fields(props: Props) {
  const { known, form, secrets } = usePublishingForm(props);
  const { values, set, errorOf } = form;
  const secretName = "s3.secretAccessKey";
  return (
    <FormFrame form={form} submit={t("Save")} disabled={!form.isDirty}>
      <Switch label={t("Publish this page as files")} {...form.toggle("enabled")} />
      <ChoiceField
        label={t("Destination")}
        options={{ folder: t("Folder"), s3: t("S3 bucket") }}
        value={values.to}
        onChange={(to) => set("to", to)}
      />
      {values.to === "folder" ? (
        <FolderNote folder={known.folder} error={errorOf("to")} />
      ) : (
        <BucketFields
          createProps={(name) => form.input(name)}
          prefixExample="status/"
          secret={
            <SecretField
              label={t("Secret access key")}
              value={values[secretName] === "" ? undefined : values[secretName]}
              onChange={(value) => set(secretName, value === undefined ? "" : value)}
              error={secrets.errorOf(secretName)}
              isSet={secrets.isSet(secretName)}
              needsReentry={secrets.needsReentry(secretName)}
              mayBeNone={false}
            />
          }
        />
      )}
      <TextInput
        label={t("Address of the files")}
        placeholder="https://status.team.example"
        description={t("For the links in feeds. Without it, they lead to this appliance.")}
        {...form.input("url")}
      />
    </FormFrame>
  );
}

function FolderNote({ folder, error }: { folder: string | null; error: ReactNode }) {
  return (
    <p className="quiet">
      {folder === null ? (
        <>
          {tNode("Start Signalbox with {code} to allow folders.", {
            code: <code>--publish-dir DIR</code>,
          })}
        </>
      ) : (
        <>{tNode("The files are written to {code}.", { code: <code>{folder}</code> })}</>
      )}
      {error !== undefined && <span role="alert"> {error}</span>}
    </p>
  );
}
