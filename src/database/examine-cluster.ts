import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Clock } from "../core/time/clock.ts";
import { fine, type Finding, problem, unusable, warning } from "../core/finding.ts";
import { vaultOf } from "../core/security/secrets.ts";
import type { ClusterAddress } from "./address.ts";
import { type Data, readKey } from "./file/data-directory.ts";
import { files } from "./file/data-files.ts";
import { unusableFor } from "./examine.ts";
import { RqliteClient } from "./rqlite/client.ts";
import { withReason, mustBeUsable } from "./rqlite/data.ts";
import { pendingRqliteMigrations } from "./rqlite/migrate.ts";
import { rqliteStore } from "./rqlite/store.ts";
import { isKeyOfStore } from "./sealed-values.ts";

type Examined = { findings: Finding[]; data: (Pick<Data, "store" | "vault"> & Disposable) | null };

/** Examines a cluster without writing, and returns its data if it is readable. */
export async function examineCluster(
  directory: string,
  address: ClusterAddress,
  { migrations: folder, clock }: { migrations: string; clock: Clock },
): Promise<Examined> {
  const { key } = files(resolve(directory));
  const findings: Finding[] = [];
  try {
    const client = new RqliteClient(address);
    await mustBeUsable(client);
    const answering = await client.statuses();
    for (const host of address.hosts)
      findings.push(
        answering.has(host)
          ? fine("node", `${host} answers`)
          : warning("node", `${host} does not answer`, `Start it again; \`curl ${host}/readyz\`.`),
      );
    const { pending } = await pendingRqliteMigrations({ client, folder });
    if (pending > 0) {
      const message = `older than this program; migrations to run: ${pending}`;
      const advice = "Run `signalbox migrate`, or start the new `signalbox serve`.";
      return { findings: [...findings, problem("schema", message, advice)], data: null };
    }
    findings.push(fine("schema", "up to date"));
    const store = rqliteStore(client, clock);
    const vault = existsSync(key) ? vaultOf(readKey(key)) : null;
    if (vault !== null && (await isKeyOfStore(store, vault)))
      return {
        findings: [...findings, fine("secrets", `${key} decrypts the stored secrets`)],
        data: { store, vault, [Symbol.dispose]() {} },
      };
    const wrong = vault === null ? "is missing" : "opens none of the stored secrets";
    const advice = "Copy it from another machine on this cluster, or from your backup.";
    return { findings: [...findings, unusable("key", `${key} ${wrong}`, advice)], data: null };
  } catch (error) {
    const advice = "See --database, and the log of each node.";
    return { findings: [...findings, unusableFor(withReason(error), advice)], data: null };
  }
}
