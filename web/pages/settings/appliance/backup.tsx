/** Settings: scheduled backups, and a backup to download. */
import { Alert, Checkbox } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { downloadFile } from "../../../components/copy.tsx";
import { formatNarrowBytes } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { PasswordField } from "../../../components/forms/password-field.tsx";
import { BackupSchedule } from "./backup-schedule.tsx";
import { backupQuery } from "../data.ts";
import { t, tNode } from "../../../language/text.ts";

export default function Backup() {
  return (
    <>
      <BackupSchedule />
      <Download />
    </>
  );
}

const useBackup = (passphrase: string, includeKey: boolean) =>
  useMutation({
    mutationFn: () =>
      unwrapData(dashboard.backup.post(passphrase === "" ? {} : { passphrase, includeKey })),
    onSuccess: ({ id, fileName }) =>
      downloadFile(fileName, { href: dashboard.backup({ id })["~path"] }),
  });

/** Downloads a backup, unencrypted or with a passphrase. */
function Download() {
  const [passphrase, setPassphrase] = useState("");
  const [includeKey, setIncludeKey] = useState(false);
  const query = useQuery(backupQuery);
  const { mutate, isPending, data, error } = useBackup(passphrase, includeKey);
  return (
    <Loaded query={query} subject={t("The backup")}>
      {({ dataBytes }) => (
        <Panel title={t("Download")}>
          <div className="backup">
            <Explanation />
            <PasswordField
              label={t("Passphrase")}
              description={t(
                "Encrypts the backup. Without a passphrase, anyone can open the backup.",
              )}
              autoComplete="off"
              value={passphrase}
              onChange={({ currentTarget }) => setPassphrase(currentTarget.value)}
            />
            {passphrase !== "" && (
              <Checkbox
                label={t("Include secret.key")}
                description={t("Then the passphrase alone is enough to restore everything.")}
                checked={includeKey}
                onChange={({ currentTarget }) => setIncludeKey(currentTarget.checked)}
              />
            )}
            <div className="flex items-center gap-12">
              <BusyButton
                variant="filled"
                loading={isPending}
                leftSection={<Icon name="download" size={15} />}
                onClick={() => mutate()}
              >
                {t("Download backup")}
              </BusyButton>
              <span className="faint">
                {t("up to {size}", { size: formatNarrowBytes(dataBytes) })}
              </span>
            </div>
            <div aria-live="polite">
              {isPending && <p className="quiet">{t("Preparing the backup…")}</p>}
              {data !== undefined && <ReadyBackup {...data} />}
              {error !== null && (
                <Alert color="red" variant="light">
                  {error.message}
                </Alert>
              )}
            </div>
          </div>
        </Panel>
      )}
    </Loaded>
  );
}

const Explanation = () => (
  <>
    <p>
      {tNode(
        "A copy of the whole database as it is now: monitors, results, incidents and people of {organizations} on this appliance. Signalbox keeps running meanwhile.",
        { organizations: <b>{t("every organization")}</b> },
      )}
    </p>
    <p className="quiet">
      {tNode(
        "Without a passphrase it does not contain {file}, the file in the data directory that decrypts stored secrets such as passwords of alert channels. Keep a copy of that file in another place. {command} brings everything back.",
        { file: <code>secret.key</code>, command: <code>signalbox restore</code> },
      )}
    </p>
  </>
);

const ReadyBackup = ({ fileName, bytes }: { fileName: string; bytes: number }) => (
  <p className="up">
    {t("{name} is ready ({size}) and is being downloaded. The server keeps no copy.", {
      name: fileName,
      size: formatNarrowBytes(bytes),
    })}
  </p>
);
