import type { Command } from "commander";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createCommandLine } from "../../src/cli/support/command-line.ts";
import { runSignalbox } from "../support/binary.ts";
import { createMachine, expectSuccess } from "../support/machine.ts";

/**
 * Commands that create the data directory, or don't use one, and `healthcheck`, whose only exit code
 * for a failure is 1. All others need an existing one.
 */
const exempt = [
  "serve",
  "doctor",
  "healthcheck",
  "orgs create",
  "restore",
  "cluster import",
  "cluster export",
  "cluster status",
];

type Leaf = { name: string; command: Command };

function listLeafCommands(command: Command, before = ""): Leaf[] {
  return command.commands.flatMap((child) => {
    const name = `${before} ${child.name()}`.trim();
    return child.commands.length === 0 ? [{ name, command: child }] : listLeafCommands(child, name);
  });
}

/**
 * Every argument and required option with some value. Commands for a server or this machine use
 * this machine.
 */
function buildArguments({ name, command }: Leaf): string[] {
  const isRequired = (flag: string) =>
    command.options.some(({ long, mandatory }) => long === flag && mandatory) ||
    (flag === "--org" && ["apply", "export"].includes(name));
  const values = { "--org": "acme", "--name": "x", "--email": "ann@team.example" };
  return [
    ...name.split(" "),
    ...command.registeredArguments.map(() => "x"),
    ...Object.entries(values).flatMap(([flag, value]) => (isRequired(flag) ? [flag, value] : [])),
    ...(name === "apply" ? ["--file", "x.yaml"] : []),
  ];
}

const readers = listLeafCommands(await createCommandLine()).filter(
  ({ name, command }) =>
    command.options.some(({ long }) => long === "--data-dir") && !exempt.includes(name),
);

test("a command on data never creates a data directory: a mistyped path is an error that names it", async () => {
  await using box = createMachine();
  expect(readers.length).toBeGreaterThan(12);
  await Bun.write(join(box.directory, "x.yaml"), "monitors: {}\n");
  const empty = join(box.directory, "empty");
  mkdirSync(empty);
  for (const leaf of readers)
    for (const path of [join(box.directory, "mistyped"), empty]) {
      const args = [...buildArguments(leaf), "--data-dir", path];
      const { exitCode, stdout, stderr } = await runSignalbox(args, { cwd: box.directory });
      expect([leaf.name, exitCode, stdout]).toEqual([leaf.name, 3, ""]);
      expect(stderr).toContain(path);
      expect(stderr).toContain("--data-dir");
    }
  expect(existsSync(join(box.directory, "mistyped"))).toBe(false);
  expect(readdirSync(empty)).toEqual([]);
});

test("orgs create reports a new data directory, a second organization, and a name that exists already", async () => {
  await using box = createMachine();
  const create = (name: string) => box.run(["orgs", "create", name]);
  const first = await create("Acme");
  expect([first.stdout, first.stderr]).toEqual([
    "acme\n",
    `Created the data directory ${box.dataDir}.\n`,
  ]);
  const second = await create("Acme");
  expect(second.stdout).toBe("acme-2\n");
  expect(second.stderr).toContain("There already was an organization named Acme (acme).");
  expect(second.stderr).toContain("--allow-target 127.0.0.0/8");
  expect((await create("Umbrella")).stderr).toBe("");
});

test("orgs create leaves nothing behind when it can't reach the cluster", async () => {
  await using box = createMachine();
  const database = ["--database", "rqlite://127.0.0.1:1"];
  const { exitCode } = await box.run(["orgs", "create", "Acme", ...database]);
  expect(exitCode).toBe(1);
  expect(existsSync(box.dataDir)).toBe(false);
  await expectSuccess(box.run(["orgs", "create", "Acme"]));
});
