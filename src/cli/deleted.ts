/** `signalbox deleted`: lists and restores deleted records of a server. */
import type { Command } from "commander";
import type { DeletableNoun } from "../core/deletable-nouns.ts";
import {
  addServerOptions,
  type Client,
  type ClientOptions,
  connectToServer,
  fetchAllPages,
  unwrapData,
} from "./support/client.ts";
import { printJson, printMessage, printTable } from "./support/output.ts";
import { findByName } from "./support/records.ts";

type RestoreOptions = ClientOptions & { name?: string; slug?: string };

export function addDeleted(program: Command) {
  const deleted = program.command("deleted").description("deleted records of a server");

  addServerOptions(deleted.command("list"))
    .description("list the records that can be restored")
    .action(async (options: ClientOptions) => {
      const found = await listDeleted(await connectToServer(options));
      if (options.json) printJson(found);
      else
        printTable(
          found.map(({ id, noun, name, deletedAt, deletedBy, restorableUntil }) => ({
            name,
            noun,
            deleted: deletedAt,
            by: deletedBy,
            until: restorableUntil,
            id,
          })),
        );
    });

  addServerOptions(
    deleted.command("restore").argument("<record>", "id, name or unique start of a name"),
  )
    .description("restore a deleted record with its history")
    .option("--name <name>", "new name of a monitor, group or channel, if the old one is in use")
    .option("--slug <slug>", "new slug of a status page, if the old one is in use")
    .action(async (words: string, options: RestoreOptions) => {
      const client = await connectToServer(options);
      const found = await listDeleted(client);
      const record =
        found.find(({ id }) => id === words) ??
        findByName("deleted record", words, found, ({ name }) => name);
      const restored = await unwrapData(restorers[record.noun](client, record.id, options));
      if (options.json) printJson(restored);
      else printMessage(`Restored ${restored.name}.`);
    });
}

const listDeleted = ({ v1 }: Client) =>
  fetchAllPages((page) => v1["deleted-records"].get({ query: page }));

const nameOf = ({ name }: RestoreOptions) => (name === undefined ? {} : { name });

type Restorer = (
  client: Client,
  id: string,
  options: RestoreOptions,
) => ReturnType<ReturnType<Client["v1"]["monitors"]>["restore"]["post"]>;

const restorers: Record<DeletableNoun, Restorer> = {
  monitor: ({ v1 }, id, options) => v1.monitors({ id }).restore.post(nameOf(options)),
  group: ({ v1 }, id, options) => v1["monitor-groups"]({ id }).restore.post(nameOf(options)),
  "alert-channel": ({ v1 }, id, options) =>
    v1["alert-channels"]({ id }).restore.post(nameOf(options)),
  "alert-source": ({ v1 }, id, options) =>
    v1["alert-sources"]({ id }).restore.post(nameOf(options)),
  "status-page": ({ v1 }, id, { slug }) =>
    v1["status-pages"]({ id }).restore.post(slug === undefined ? {} : { slug }),
  incident: ({ v1 }, id) => v1.incidents({ id }).restore.post(),
  maintenance: ({ v1 }, id) => v1["maintenance-windows"]({ id }).restore.post(),
};
