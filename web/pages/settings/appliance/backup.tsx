/** Settings: scheduled backups, and a backup to download. */
import { Alert, Checkbox } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { dashboard, unwrapData } from "../../../data/client.ts";
import { BusyButton } from "../../../components/forms/busy-button.tsx";
import { downloadFile } from "../../../components/copy.tsx";
import { bytesInWords } from "../../../components/display/format.ts";
import { Icon } from "../../../components/display/icons.tsx";
import { Loaded, Panel } from "../../../components/page.tsx";
import { PasswordField } from "../../../components/forms/password-field.tsx";
import { BackupSchedule } from "./backup-schedule.tsx";
import { backupQuery } from "../data.ts";

export default function Backup() {
  return (
    <>
      <BackupSchedule />
      <Download />
    </>
  );
}

/** Downloads a backup, unencrypted or with a passphrase. */
function Download() {
  const [passphrase, setPassphrase] = useState("");
  const [includeKey, setIncludeKey] = useState(false);
  const query = useQuery(backupQuery);
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: () =>
      unwrapData(dashboard.backup.post(passphrase === "" ? {} : { passphrase, includeKey })),
    onSuccess: ({ id, fileName }) =>
      downloadFile(fileName, { href: dashboard.backup({ id })["~path"] }),
  });
  return (
    <Loaded query={query} what="The backup">
      {({ dataBytes }) => (
        <Panel title="Download">
          <div className="backup">
            <Explanation />
            <PasswordField
              label="Passphrase"
              description="Encrypts the backup. Without a passphrase, anyone can open the backup."
              autoComplete="off"
              value={passphrase}
              onChange={({ currentTarget }) => setPassphrase(currentTarget.value)}
            />
            {passphrase !== "" && (
              <Checkbox
                label="Include secret.key"
                description="Then the passphrase alone is enough to restore everything."
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
                Download backup
              </BusyButton>
              <span className="faint">up to {bytesInWords(dataBytes)}</span>
            </div>
            <div aria-live="polite">
              {isPending && <p className="quiet">Preparing the backup…</p>}
              {data !== undefined && <Ready {...data} />}
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
      A copy of the whole database as it is now: monitors, results, incidents and people of{" "}
      <b>every organization</b> on this appliance. Signalbox keeps running meanwhile.
    </p>
    <p className="quiet">
      Without a passphrase it does not contain <code>secret.key</code>, the file in the data
      directory that decrypts stored secrets such as passwords of alert channels. Keep a copy of
      that file in another place. <code>signalbox restore</code> brings everything back.
    </p>
  </>
);

const Ready = ({ fileName, bytes }: { fileName: string; bytes: number }) => (
  <p className="up">
    {fileName} is ready ({bytesInWords(bytes)}) and is being downloaded. The server keeps no copy.
  </p>
);
