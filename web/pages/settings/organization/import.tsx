/** Settings: import from other tools, with a preview. */
import { Alert, Button, Checkbox, FileInput, Progress, SegmentedControl } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ImportItem, ImportReport, ImportRun } from "../../../../src/imports/schema.ts";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { queryClient } from "../../../data/query.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { Confirm } from "../../../components/confirm.tsx";
import { formatCount } from "../../../components/display/format.ts";
import { Loaded, Panel } from "../../../components/page.tsx";
import { Time } from "../../../components/display/time.tsx";
import { notify } from "../../../components/toasts.tsx";
import { importsQuery } from "../data.ts";
import { Entry } from "../entry.tsx";
import { titleOf } from "../../../../src/imports/rules.ts";
import { t, tCount, tNode } from "../../../language/text.ts";

type Source = "uptime-kuma" | "gatus" | "healthchecks";

const files: Record<Source, { label: string; accept: string; words: string }> = {
  "uptime-kuma": {
    label: t("kuma.db, or a JSON backup of 1.x"),
    accept: ".db,.json",
    words: t(
      "Imports monitors, notifications, groups, status pages, maintenance, incidents and history.",
    ),
  },
  gatus: {
    label: "config.yaml",
    accept: ".yaml,.yml",
    words: t("Imports endpoints, groups and alerting."),
  },
  healthchecks: {
    label: t("JSON of /api/v3/checks/, read with a read-write key"),
    accept: ".json",
    words: t("Imports checks as push monitors with the same UUIDs: jobs only need another host."),
  },
};
type UploadedImport = { id: string; source: Source; report: ImportReport };

/** Maximum size of a request body. */
const partBytes = 256 * 1024;

export default function Import() {
  const [sent, setSent] = useState<UploadedImport | null>(null);
  return (
    <>
      {sent === null ? (
        <Choose onSent={setSent} />
      ) : (
        <Review key={sent.id} sent={sent} onDone={() => setSent(null)} />
      )}
      <PastImports />
    </>
  );
}

/** Uploads the file in parts, and requests a preview of the import. */
async function uploadFile(
  file: File,
  source: Source,
  progress: (share: number) => void,
): Promise<UploadedImport> {
  const { uploads } = dashboard.imports;
  const { id } = await unwrapData(uploads.post({ name: file.name, size: file.size }));
  for (let offset = 0; offset < file.size; offset += partBytes) {
    const part = file.slice(offset, offset + partBytes, "application/octet-stream");
    await unwrapData(uploads({ id }).put(part, { query: { offset: String(offset) } }));
    progress(Math.min(1, (offset + partBytes) / file.size));
  }
  return { id, source, report: await unwrapData(uploads({ id }).preview.post({ source })) };
}

function Choose({ onSent }: { onSent: (sent: UploadedImport) => void }) {
  const [source, setSource] = useState<Source>("uptime-kuma");
  const [file, setFile] = useState<File | null>(null);
  const [share, setShare] = useState(0);
  const { mutate, isPending, error } = useMutation({
    mutationFn: (chosen: File) => uploadFile(chosen, source, setShare),
    onSuccess: onSent,
  });
  const isKuma = source === "uptime-kuma";
  return (
    <Panel title={t("From another tool")}>
      <div className="backup">
        <SegmentedControl
          aria-label={t("Import from")}
          value={source}
          onChange={(value) => {
            setSource(value as Source);
            setFile(null);
          }}
          data={[
            { value: "uptime-kuma", label: "Uptime Kuma" },
            { value: "gatus", label: "Gatus" },
            { value: "healthchecks", label: "Healthchecks" },
          ]}
        />
        <Explanation source={source} />
        <FileInput
          label={files[source].label}
          description={isKuma ? t("Stop Uptime Kuma before you copy it.") : undefined}
          placeholder={t("Choose a file")}
          accept={files[source].accept}
          value={file}
          onChange={setFile}
        />
        <div className="flex items-center gap-12">
          <BusyButton
            variant="filled"
            loading={isPending}
            disabled={file === null}
            onClick={() => file !== null && mutate(file)}
          >
            {t("Preview")}
          </BusyButton>
          {isPending && (
            <Progress className="import-progress" value={share * 100} aria-label={t("Upload")} />
          )}
        </div>
        <div aria-live="polite">{error !== null && <FailedImport error={error} />}</div>
      </div>
    </Panel>
  );
}

const Explanation = ({ source }: { source: Source }) => (
  <p className="quiet">
    {tNode("{words} You see a preview of everything before anything changes.", {
      words: files[source].words,
    })}
    {source === "uptime-kuma" && (
      <>
        {" "}
        {tNode("For logos, very large files and MariaDB, use the command line: {command}.", {
          command: <code>signalbox import uptime-kuma</code>,
        })}
      </>
    )}
  </p>
);

const FailedImport = ({ error }: { error: Error }) => (
  <Alert color="red" variant="light">
    {error.message}
  </Alert>
);

const buildKey = ({ noun, externalId }: ImportItem) => `${noun}:${externalId}`;

/** The preview of an import, in which people choose records. */
function Review({ sent, onDone }: { sent: UploadedImport; onDone: () => void }) {
  const { id, source, report } = sent;
  const possible = report.items.filter(({ decision }) => decision !== "not-taken").map(buildKey);
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set());
  const chosenCount = possible.length - excluded.size;
  const [paused, setPaused] = useState(true);
  const { mutate, isPending, error } = useMutation({
    mutationFn() {
      const only = excluded.size === 0 ? null : possible.filter((key) => !excluded.has(key));
      return unwrapData(dashboard.imports.uploads({ id }).import.post({ source, paused, only }));
    },
    onSuccess: (run) => {
      notify(t("Imported: {summary}", { summary: summarizeRun(run) }));
      void queryClient.invalidateQueries();
      onDone();
    },
  });
  const toggle = (keys: readonly string[], isWanted: boolean) =>
    setExcluded((before) => before[isWanted ? "difference" : "union"](new Set(keys)));
  const groups = [...Map.groupBy(report.items, ({ noun }) => titleOf(noun))];
  return (
    <Panel title={t("Preview: {product}", { product: report.product })}>
      <div className="backup">
        <p className="quiet">{t("Nothing has changed yet. Choose what you want to import.")}</p>
        {groups.map(([title, items]) => (
          <Part key={title} title={title} items={items} excluded={excluded} toggle={toggle} />
        ))}
        <Hints hints={report.hints} />
        <Checkbox
          label={t("Import every monitor paused")}
          description={t(
            "While the other tool still sends alerts. To resume the monitors that are active there, import again with this option off.",
          )}
          checked={paused}
          onChange={({ currentTarget }) => setPaused(currentTarget.checked)}
        />
        <div className="flex items-center gap-12">
          <BusyButton
            variant="filled"
            loading={isPending}
            disabled={chosenCount === 0}
            onClick={() => mutate()}
          >
            {tCount(chosenCount, "Import {count} record", "Import {count} records")}
          </BusyButton>
          <Button onClick={onDone} disabled={isPending}>
            {t("Cancel")}
          </Button>
        </div>
        <div aria-live="polite">
          {isPending && (
            <p className="quiet">{t("Importing… Everything appears at once, at the end.")}</p>
          )}
          {error !== null && <FailedImport error={error} />}
        </div>
      </div>
    </Panel>
  );
}

const Hints = ({ hints }: { hints: readonly string[] }) =>
  hints.length > 0 && (
    <ul className="import-hints quiet">
      {hints.map((hint) => (
        <li key={hint}>{hint}</li>
      ))}
    </ul>
  );

function Part({
  title,
  items,
  excluded,
  toggle,
}: {
  title: string;
  items: readonly ImportItem[];
  excluded: ReadonlySet<string>;
  toggle: (keys: readonly string[], isWanted: boolean) => void;
}) {
  const keys = items.filter(({ decision }) => decision !== "not-taken").map(buildKey);
  const chosenCount = keys.filter((key) => !excluded.has(key)).length;
  return (
    <details className="import-part" open={items.length <= 12}>
      <summary>
        {title} <span className="faint">{formatCount(items.length)}</span>
      </summary>
      {keys.length > 1 && (
        <Checkbox
          label={t("All")}
          aria-label={t("All of {title}", { title })}
          checked={chosenCount === keys.length}
          indeterminate={chosenCount > 0 && chosenCount < keys.length}
          onChange={({ currentTarget }) => toggle(keys, currentTarget.checked)}
        />
      )}
      <ul>
        {items.map((item) => (
          <li key={buildKey(item)}>
            {item.decision === "not-taken" ? (
              <span>{item.name}</span>
            ) : (
              <Checkbox
                label={item.name}
                checked={!excluded.has(buildKey(item))}
                onChange={({ currentTarget }) => toggle([buildKey(item)], currentTarget.checked)}
              />
            )}
            {item.notes.map((note) => (
              <small key={note} className={item.isIncomplete ? "degraded" : "faint"}>
                {note}
              </small>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}

const statusLabels: Record<ImportRun["status"], string> = {
  running: t("running"),
  done: t("done"),
  undone: t("undone"),
};

function summarizeRun({ report }: ImportRun): string {
  if (report === null) return t("in progress");
  const count = (decision: ImportItem["decision"]) =>
    report.items.filter((item) => item.decision === decision).length;
  return t("{created} created, {updated} updated, {skipped} not imported", {
    created: formatCount(count("created")),
    updated: formatCount(count("updated")),
    skipped: formatCount(count("not-taken")),
  });
}

function PastImports() {
  const query = useQuery(importsQuery);
  const [undoing, setUndoing] = useState<ImportRun | null>(null);
  return (
    <Loaded query={query} subject={t("The imports")}>
      {(runs) =>
        runs.length > 0 && (
          <Panel title={t("Earlier imports")} isFlush>
            <ul className="entries">
              {runs.map((run) => (
                <Entry
                  key={run.id}
                  icon="download"
                  title={run.report?.product ?? run.source}
                  note={tNode("{summary}, by {name} {time}", {
                    summary: summarizeRun(run),
                    name: run.actorName,
                    time: <Time at={run.createdAt} />,
                  })}
                  isOver={run.status === "undone"}
                  action={
                    run.status === "done" ? (
                      <Button size="xs" onClick={() => setUndoing(run)}>
                        {t("Undo")}
                      </Button>
                    ) : (
                      <span className="faint">{statusLabels[run.status]}</span>
                    )
                  }
                />
              ))}
            </ul>
            {undoing !== null && (
              <Confirm
                title={t("Undo this import?")}
                verb={t("Undo import")}
                onClose={() => setUndoing(null)}
                onConfirm={async () => {
                  await unwrapData(dashboard.imports({ id: undoing.id }).undo.post());
                  await queryClient.invalidateQueries();
                  notify(t("Import undone"));
                }}
              >
                {t(
                  "This removes every record that the import created, with its results and everything changed in it since. Records that were here before stay as they are now.",
                )}
              </Confirm>
            )}
          </Panel>
        )
      }
    </Loaded>
  );
}
