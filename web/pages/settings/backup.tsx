import { Alert } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { MadeBackup } from "../../../src/operations/backups/schema.ts";
import { dashboard, dataOf } from "../../data/client.ts";
import { bytesInWords } from "../../components/format.ts";
import { Icon } from "../../components/icons.tsx";
import { Loaded, Panel } from "../../components/page.tsx";
import { backupQuery } from "./data.ts";
import { BusyButton } from "../../components/busy-button.tsx";

export default function Backup() {
  const query = useQuery(backupQuery);
  const [making, setMaking] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const [made, setMade] = useState<MadeBackup | null>(null);

  async function make() {
    setMaking(true);
    setFailure(null);
    setMade(null);
    try {
      const backup = await dataOf(dashboard.backup.post());
      setMade(backup);
      download(dashboard.backup({ id: backup.id })["~path"], backup.fileName);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
    setMaking(false);
  }

  return (
    <Loaded query={query} what="The backup">
      {({ dataBytes }) => (
        <Panel>
          <div className="backup">
            <p>
              A copy of the whole database as it is now: monitors, results, incidents and people of{" "}
              <b>every organization</b> on this appliance. Signalbox keeps running meanwhile.
            </p>
            <p className="quiet">
              It does not contain <code>secret.key</code>, the file in the data directory that
              decrypts stored secrets such as passwords of alert channels. Keep a copy of that file
              in another place: you need both to restore everything.
            </p>
            <div className="backup-act">
              <BusyButton
                variant="filled"
                loading={making}
                leftSection={<Icon name="download" size={15} />}
                onClick={() => void make()}
              >
                Download backup
              </BusyButton>
              <span className="faint">up to {bytesInWords(dataBytes)}</span>
            </div>
            <div aria-live="polite">
              {making && <p className="quiet">Preparing the backup…</p>}
              {made !== null && (
                <p className="up">
                  {made.fileName} is ready ({bytesInWords(made.bytes)}) and is being downloaded. The
                  server keeps no copy.
                </p>
              )}
              {failure !== null && (
                <Alert color="red" variant="light">
                  {failure}
                </Alert>
              )}
            </div>
          </div>
        </Panel>
      )}
    </Loaded>
  );
}

function download(href: string, name: string) {
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
}
