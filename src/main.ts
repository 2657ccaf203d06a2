import { writeFilesAtOnce } from "./cli/support/output.ts";
import { readerCommand } from "./imports/reading/reader-messages.ts";

writeFilesAtOnce();
// Set before anything else is imported: Elysia reads NODE_ENV when it loads, and Bun's sockets would
// follow a proxy or skip certificate checks because of a leftover variable in a shell.
process.env["NODE_ENV"] = "production";
const hijackers = /^(https?_proxy|all_proxy|no_proxy|node_tls_reject_unauthorized)$/i;
const ignored = Object.keys(process.env).filter((name) => hijackers.test(name));
for (const name of ignored) {
  delete process.env[name];
  process.stderr.write(`signalbox: ignoring ${name} from the environment\n`);
}
// What it loads has run by now; with BUN_BE_BUN in the environment nothing of this program does.
if (Bun.isStandaloneExecutable && process.env["BUN_OPTIONS"]) {
  process.stderr.write(
    "signalbox: BUN_OPTIONS in the environment changes how this program runs. Unset it and start again.\n",
  );
  process.exit(2);
}
process.umask(0o077);

const args = process.argv.slice(2);
const exitCode = await run();
// A pipe accepts 64 KiB at a time: the rest would be lost at the exit.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => stream.end(done))),
);
process.exit(exitCode);

async function run(): Promise<number> {
  // Not a command for people: a process that reads an imported file for another one loads nothing else.
  if (args[0] === readerCommand)
    return (await import("./imports/reading/reader-child.ts")).serveReader();
  const { runCommandLine } = await import("./cli/support/command-line.ts");
  return runCommandLine(args, ignored);
}
