/** Examines the database of a cluster for `doctor`, without writing. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Clock } from "../core/time/clock.ts";
import {
  createOkFinding,
  type Finding,
  createProblemFinding,
  createUnusableFinding,
  createWarningFinding,
} from "../core/finding.ts";
import { createVault } from "../core/security/secrets.ts";
import type { ClusterAddress } from "./address.ts";
import { type Data, readKey } from "./file/data-directory.ts";
import { getDataFiles } from "./file/data-files.ts";
import { describeUnusable } from "./examine.ts";
import { RqliteClient } from "./rqlite/client.ts";
import { explainError, assertUsable } from "./rqlite/data.ts";
import { countPendingRqliteMigrations } from "./rqlite/migrate.ts";
import { createRqliteStore } from "./rqlite/store.ts";
import { isKeyOfStore } from "./sealed-values.ts";

type ExaminedCluster = {
  findings: Finding[];
  data: (Pick<Data, "store" | "vault"> & Disposable) | null;
};

/** Examines a cluster without writing, and returns its data if it is readable. */
export async function examineCluster(
  directory: string,
  address: ClusterAddress,
  { migrations: folder, clock }: { migrations: string; clock: Clock },
): Promise<ExaminedCluster> {
  const { key } = getDataFiles(resolve(directory));
  const findings: Finding[] = [];
  try {
    const client = new RqliteClient(address);
    await assertUsable(client);
    const answering = await client.listStatuses();
    for (const host of address.hosts)
      findings.push(
        answering.has(host)
          ? createOkFinding("node", `${host} responds`)
          : createWarningFinding(
              "node",
              `${host} does not respond`,
              `Start it again; \`curl ${host}/readyz\`.`,
            ),
      );
    const { pending } = await countPendingRqliteMigrations({ client, folder });
    if (pending > 0) {
      const message = `older than this program; migrations to run: ${pending}`;
      const advice = "Run `signalbox migrate`, or start the new `signalbox serve`.";
      return {
        findings: [...findings, createProblemFinding("schema", message, advice)],
        data: null,
      };
    }
    findings.push(createOkFinding("schema", "up to date"));
    const store = createRqliteStore(client, clock);
    const vault = existsSync(key) ? createVault(readKey(key)) : null;
    if (vault !== null && (await isKeyOfStore(store, vault)))
      return {
        findings: [...findings, createOkFinding("secrets", `${key} decrypts the stored secrets`)],
        data: { store, vault, [Symbol.dispose]() {} },
      };
    const wrong = vault === null ? "is missing" : "opens none of the stored secrets";
    const advice = "Copy it from another machine on this cluster, or from your backup.";
    return {
      findings: [...findings, createUnusableFinding("key", `${key} ${wrong}`, advice)],
      data: null,
    };
  } catch (error) {
    const advice = "See --database, and the log of each node.";
    return { findings: [...findings, describeUnusable(explainError(error), advice)], data: null };
  }
}
