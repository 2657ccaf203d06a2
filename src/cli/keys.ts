/** `signalbox keys`: creates, lists and revokes API keys in the data directory. */
import { type Command, Option } from "commander";
import { createApiKey, listApiKeys, revokeApiKey } from "../accounts/api-keys/service.ts";
import { AppError } from "../core/errors.ts";
import type { Data } from "../database/file/data-directory.ts";
import { getOrganization } from "../accounts/organizations/service.ts";
import { durationMs } from "./support/input.ts";
import { printJson, printRows, say } from "./support/output.ts";
import {
  commandLineScope,
  type DataOptions,
  ofOrganizations,
  onData,
  withData,
} from "./support/with-data.ts";

type Created = { org: string; name: string; scope: "read" | "write"; expires?: string };

export function addKeys(program: Command) {
  const keys = program.command("keys").description("API keys");
  onData(keys.command("create"))
    .description("create an API key and print it (shown only once)")
    .requiredOption("--org <slug>", "slug of the organization")
    .requiredOption("--name <name>", "purpose of the key")
    .addOption(
      new Option("--scope <scope>", "permission").choices(["read", "write"]).default("write"),
    )
    .option("--expires <duration>", "lifetime, such as 12h, 30d or 8w (default: unlimited)")
    .action(create);
  onData(keys.command("list"))
    .description("list API keys, without their secrets")
    .option("--org <slug>", "only this organization")
    .action(list);
  onData(keys.command("revoke").argument("<id>", "id of the key from `keys list`"))
    .description("revoke an API key")
    .action(revoke);
}

function create(options: DataOptions & Created) {
  const { org, name, scope, expires } = options;
  const expiresInMs = expires === undefined ? null : durationMs("--expires", expires);
  return withData(options, async (data) => {
    const { id } = await getOrganization(data.store, org);
    const created = await createApiKey(commandLineScope(data, id), { name, scope, expiresInMs });
    if (options.json) return printJson(created);
    process.stderr.write("Keep this key: it is not shown again.\n");
    process.stdout.write(`${created.key}\n`);
  });
}

function list(options: DataOptions & { org?: string }) {
  return withData(options, async (data) => {
    const rows = (await keysOf(data, options.org)).map(({ organization, key }) => ({
      id: key.id,
      organization: organization.slug,
      name: key.name,
      scope: key.scope,
      createdAt: key.createdAt,
      expiresAt: key.expiresAt,
      revokedAt: key.revokedAt,
    }));
    printRows(rows, options);
  });
}

function revoke(id: string, options: DataOptions) {
  return withData(options, async (data) => {
    const found = (await keysOf(data)).find(({ key }) => key.id === id);
    if (found === undefined)
      throw new AppError("NOT_FOUND", "There is no API key with this id; see `keys list`.");
    await revokeApiKey(commandLineScope(data, found.organization.id), id);
    if (options.json) printJson({ id, revoked: true });
    else say(`The key ${found.key.name} is revoked.`);
  });
}

const keysOf = (data: Data, slug?: string) =>
  ofOrganizations(data, slug, async (scope, organization) =>
    (await listApiKeys(scope)).map((key) => ({ organization, key })),
  );
