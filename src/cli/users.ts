/** `signalbox users`: manages people and their sign-in in the data directory. */
import { type Command, Option } from "commander";
import {
  grantAdministrator,
  revokeAdministrator,
  type ApplianceContext,
} from "../operations/appliance/service.ts";
import { AppError } from "../core/errors.ts";
import { EmailAddress } from "../core/fields.ts";
import { createToken } from "../core/ids.ts";
import { Role } from "../core/roles.ts";
import { invalidFieldError, parse } from "../core/validation.ts";
import type { Data } from "../database/file/data-directory.ts";
import { getOrganization } from "../accounts/organizations/service.ts";
import { listMembers, assertStrongPassword } from "../accounts/people/store.ts";
import { NewPassword, PersonName } from "../accounts/people/schema.ts";
import {
  addExisting,
  addMember,
  getOnlyPerson,
  type PersonSummary,
  resetPassword,
  summarizePerson,
} from "../accounts/people/service.ts";
import { createSignInLink, linkMinutes } from "../accounts/sign-in/link-service.ts";
import { parseConfig } from "../config.ts";
import { findServerAddress } from "./support/desktop.ts";
import { readSecret } from "./support/input.ts";
import { printJson, printRows, printMessage } from "./support/output.ts";
import {
  createCommandLineScope,
  type DataOptions,
  collectFromOrganizations,
  addDataOptions,
  withData,
} from "./support/with-data.ts";

type PasswordOptions = DataOptions & { passwordStdin?: boolean };
type NewUserOptions = PasswordOptions & {
  org: string;
  email: string;
  name?: string;
  existing?: string;
  role?: Role;
};

export function addUsers(program: Command) {
  const users = program.command("users").description("people who sign in to the admin page");

  addDataOptions(users.command("create"))
    .description("create a person and print a generated password, or add an existing person")
    .requiredOption("--org <slug>", "slug of the organization")
    .requiredOption("--email <address>", "e-mail address for signing in")
    .option("--name <name>", "name of the person")
    .option(
      "--existing <slug>",
      "add the person with this address in the given organization, instead of a new one",
    )
    .addOption(
      new Option(
        "--role <role>",
        "role; the first person is owner by default, others are members",
      ).choices(Role.options),
    )
    .option("--password-stdin", "read the password from standard input")
    .action((options: NewUserOptions) => withData(options, (data) => createUser(data, options)));

  addDataOptions(users.command("list"))
    .description("list people")
    .option("--org <slug>", "only this organization")
    .action((options: DataOptions & { org?: string }) =>
      withData(options, async (data) => printRows(await listUsers(data, options.org), options)),
    );

  addResetPassword(users);
  addSignInLink(users);
  addChange(users, "grant-administrator", "make a person an administrator of the whole appliance", {
    change: grantAdministrator,
    summary: "is an administrator of the appliance",
    needsOrg: true,
  });
  addChange(users, "revoke-administrator", "remove an administrator", {
    change: revokeAdministrator,
    summary: "is no longer an administrator of the appliance",
  });
}

function addResetPassword(users: Command) {
  addDataOptions(
    users.command("reset-password").argument("<email>", "e-mail address for signing in"),
  )
    .description("set a new password for a person and end all their sessions")
    .option("--password-stdin", "read the password from standard input")
    .option("--without-two-factor", "also turn off two-factor and remove all passkeys")
    .option("--org <slug>", "an organization of the person, if several people have the address")
    .action(
      (
        email: string,
        options: PasswordOptions & OrganizationOption & { withoutTwoFactor?: boolean },
      ) =>
        withData(options, async (data) => {
          const { password, isGenerated } = readOrCreatePassword(options, [email]);
          const withoutTwoFactor = options.withoutTwoFactor === true;
          const organizationId = await findOrganizationId(data, options);
          const scope = createCommandLineScope(data, organizationId ?? "");
          const input = { password, withoutTwoFactor, organizationId };
          const person = await resetPassword(scope, email, input);
          if (!options.json) printMessage(`${describePerson(person)} is signed out everywhere.`);
          printPerson(person, isGenerated ? password : null, options.json);
        }),
    );
}

function addSignInLink(users: Command) {
  addDataOptions(users.command("sign-in-link").argument("<email>", "e-mail address for signing in"))
    .description(
      `print a link that signs a person in once, within ${linkMinutes} minutes, even if password sign-in is off`,
    )
    .option("--org <slug>", "an organization of the person, if several people have the address")
    .option("--url <address>", "address of the admin page (default: that of the running server)")
    .action((email: string, options: DataOptions & OrganizationOption & { url?: string }) =>
      withData(options, async (data) => {
        const organizationId = await findOrganizationId(data, options);
        const found = await getOnlyPerson(data.store, email, organizationId);
        const token = await createSignInLink(createCommandLineScope(data, ""), found);
        printSignInLink(`${findPageAddress(options)}/sign-in#${token}`, options.json);
      }),
    );
}

/** Returns the address of the admin page: an option, the one of `serve --url`, or the running server's. */
function findPageAddress(options: DataOptions & { url?: string }): string {
  const { url, dataDir } = parseConfig({ url: options.url, dataDir: options.dataDir });
  return url ?? findServerAddress(dataDir) ?? "http://localhost:3210";
}

function printSignInLink(link: string, json: boolean | undefined) {
  if (json) return printJson({ link });
  process.stderr.write(
    `Open this link within ${linkMinutes} minutes. It works once. Behind a proxy, replace the address before /sign-in.\n`,
  );
  process.stdout.write(`${link}\n`);
}

type Change = {
  change: (by: ApplianceContext, personId: string) => Promise<unknown>;
  summary: string;
  /**
   * Whether the organization must be given. An address alone is not enough to grant rights, because
   * addresses are not verified.
   */
  needsOrg?: boolean;
};

const orgOption = ["--org <slug>", "organization of the person"] as const;

/** Adds a command that changes a person, who is identified by e-mail address. */
function addChange(
  users: Command,
  name: string,
  description: string,
  { change, summary, needsOrg }: Change,
) {
  const command = addDataOptions(
    users.command(name).argument("<email>", "e-mail address for signing in"),
  );
  const [flag, orgDescription] = orgOption;
  (needsOrg
    ? command.requiredOption(flag, orgDescription)
    : command.option(flag, `${orgDescription}, if several people have the address`)
  )
    .description(description)
    .action((email: string, options: DataOptions & OrganizationOption) =>
      withData(options, async (data) => {
        const organizationId = await findOrganizationId(data, options);
        const found = await getOnlyPerson(data.store, email, organizationId);
        await change(createCommandLineScope(data, ""), found.id);
        const person = await summarizePerson(data.store, found);
        if (options.json) printJson(person);
        else printMessage(`${describePerson(person)} ${summary}.`);
      }),
    );
}

function describePerson({ name, email, organizations }: PersonSummary): string {
  return `${name} (${email}, of ${organizations.join(", ")})`;
}

/** Option that names the person's organization. */
type OrganizationOption = { org?: string };

async function findOrganizationId({ store }: Data, { org }: OrganizationOption) {
  return org === undefined ? undefined : (await getOrganization(store, org)).id;
}

async function createUser(data: Data, options: NewUserOptions) {
  const { id: organizationId, name: organization } = await getOrganization(data.store, options.org);
  const email = parse(EmailAddress, options.email, "--email");
  const scope = createCommandLineScope(data, organizationId);
  const isFirst = (await listMembers(scope)).length === 0;
  const role = options.role ?? (isFirst ? "owner" : "member");
  if (options.existing !== undefined) {
    if (options.name !== undefined || options.passwordStdin)
      throw invalidFieldError(
        "--existing",
        "can't be combined with --name and --password-stdin, because the person keeps both",
      );
    const { id: memberOf } = await getOrganization(data.store, options.existing);
    const person = await addExisting(scope, { email, role, memberOf });
    if (!options.json)
      printMessage(`${describePerson(person)} signs in with the password they have.`);
    return printPerson({ ...person, role }, null, options.json);
  }
  if (options.name === undefined)
    throw invalidFieldError(
      "--name",
      "is required, or --existing for a person who signs in already",
    );
  const name = parse(PersonName, options.name, "--name");
  const { password, isGenerated } = readOrCreatePassword(options, [email, name, organization]);
  const { id, isShared } = await addMember(scope, { email, name, role, password });
  if (isShared)
    process.stderr.write(
      `Another person signs in with ${email}, too, in another organization: ${name} is a new person.\n`,
    );
  printPerson({ id, email, role }, isGenerated ? password : null, options.json);
}

/** Reads the password from standard input, or generates one. Throws VALIDATION_ERROR. */
function readOrCreatePassword(
  { passwordStdin }: PasswordOptions,
  known: readonly string[],
): { password: string; isGenerated: boolean } {
  if (!passwordStdin) return { password: createToken(20), isGenerated: true };
  const password = readSecret("--password-stdin", "-");
  try {
    assertStrongPassword(parse(NewPassword, password, "password"), known);
  } catch (error) {
    const [detail] = error instanceof AppError ? (error.details ?? []) : [];
    throw invalidFieldError("The password", detail?.message ?? "can't be used");
  }
  return { password, isGenerated: false };
}

function printPerson(created: object, password: string | null, json: boolean | undefined) {
  if (json) printJson({ ...created, ...(password && { password }) });
  else if (password !== null) {
    process.stderr.write("Keep this password: it is not shown again.\n");
    process.stdout.write(`${password}\n`);
  }
}

const listUsers = (data: Data, slug?: string) =>
  collectFromOrganizations(data, slug, async (scope, organization) => {
    const members = await listMembers(scope);
    return members.map(({ email, name, role, administrator, twoFactor, lastSeenAt }) => ({
      organization: organization.slug,
      email,
      name,
      role,
      administrator: administrator ? "yes" : "no",
      twoFactor: twoFactor ? "on" : "off",
      lastSeenAt,
    }));
  });
