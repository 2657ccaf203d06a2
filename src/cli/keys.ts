/** `signalbox keys`: creates, lists and revokes API keys in the data directory. */
import { type Command, Option } from "commander";
import { createApiKey, listApiKeys, revokeApiKey } from "../accounts/api-keys/service.ts";
import type { ApiKey } from "../accounts/api-keys/schema.ts";
import { GroupLimit } from "../accounts/group-limit/schema.ts";
import { AppError } from "../core/errors.ts";
import { keyScopes } from "../core/statuses.ts";
import { parse } from "../core/validation.ts";
import type { Data } from "../database/file/data-directory.ts";
import { getOrganization } from "../accounts/organizations/service.ts";
import { parseDurationMs } from "./support/input.ts";
import { printJson, printRows, printMessage } from "./support/output.ts";
import {
  createCommandLineScope,
  type DataOptions,
  collectFromOrganizations,
  addDataOptions,
  withData,
} from "./support/with-data.ts";

type Created = {
  org: string;
  name: string;
  scope: ApiKey["scope"];
  mcp?: true;
  group?: string[];
  expires?: string;
};

export function addKeys(program: Command) {
  const keys = program.command("keys").description("API keys");
  addDataOptions(keys.command("create"))
    .description("create an API key and print it (shown only once)")
    .requiredOption("--org <slug>", "slug of the organization")
    .requiredOption("--name <name>", "purpose of the key")
    .addOption(new Option("--scope <scope>", "permission").choices(keyScopes).default("write"))
    .option("--mcp", "allow AI assistants to use the key at /mcp")
    .option("--group <id...>", "limit the key to these monitor groups (default: all monitors)")
    .option("--expires <duration>", "lifetime, such as 12h, 30d or 8w (default: unlimited)")
    .action(createKey);
  addDataOptions(keys.command("list"))
    .description("list API keys, without their secrets")
    .option("--org <slug>", "only this organization")
    .action(printKeys);
  addDataOptions(keys.command("revoke").argument("<id>", "id of the key from `keys list`"))
    .description("revoke an API key")
    .action(revokeKey);
}

function createKey(options: DataOptions & Created) {
  const { org, name, scope, mcp = false, group = null, expires } = options;
  const expiresInMs = expires === undefined ? null : parseDurationMs("--expires", expires);
  return withData(options, async (data) => {
    const { id } = await getOrganization(data.store, org);
    const created = await createApiKey(createCommandLineScope(data, id), {
      name,
      scope,
      mcp,
      groupIds: parse(GroupLimit, group, "--group"),
      expiresInMs,
    });
    if (options.json) return printJson(created);
    process.stderr.write("Keep this key: it is not shown again.\n");
    process.stdout.write(`${created.key}\n`);
  });
}

function printKeys(options: DataOptions & { org?: string }) {
  return withData(options, async (data) => {
    const rows = (await listKeys(data, options.org)).map(({ organization, key }) => ({
      id: key.id,
      organization: organization.slug,
      name: key.name,
      scope: key.scope,
      mcp: key.mcp,
      groups: key.groupIds === null ? "all" : String(key.groupIds.length),
      createdAt: key.createdAt,
      expiresAt: key.expiresAt,
      revokedAt: key.revokedAt,
    }));
    printRows(rows, options);
  });
}

function revokeKey(id: string, options: DataOptions) {
  return withData(options, async (data) => {
    const found = (await listKeys(data)).find(({ key }) => key.id === id);
    if (found === undefined)
      throw new AppError("NOT_FOUND", "There is no API key with this id; see `keys list`.");
    await revokeApiKey(createCommandLineScope(data, found.organization.id), id);
    if (options.json) printJson({ id, revoked: true });
    else printMessage(`The key ${found.key.name} is revoked.`);
  });
}

const listKeys = (data: Data, slug?: string) =>
  collectFromOrganizations(data, slug, async (scope, organization) =>
    (await listApiKeys(scope)).map((key) => ({ organization, key })),
  );
