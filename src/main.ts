import { writeFilesAtOnce } from "./cli/support/output.ts";
import { registerCompressedModules } from "./core/system/compressed-modules.ts";
import { readerCommand } from "./imports/reading/reader-messages.ts";

writeFilesAtOnce();
registerCompressedModules();
// Set before all other imports, because Elysia reads NODE_ENV when it is loaded. A leftover variable in a shell could
// make Bun's sockets use a proxy or skip certificate checks.
process.env["NODE_ENV"] = "production";
const proxyVariablePattern = /^(https?_proxy|all_proxy|no_proxy|node_tls_reject_unauthorized)$/i;
const ignoredVariables = Object.keys(process.env).filter((name) => proxyVariablePattern.test(name));
for (const name of ignoredVariables) {
  delete process.env[name];
  process.stderr.write(`signalbox: ignoring ${name} from the environment\n`);
}
// The modules in BUN_OPTIONS have already run. BUN_BE_BUN can't be detected, because Bun then runs instead of this
// program.
if (Bun.isStandaloneExecutable && process.env["BUN_OPTIONS"]) {
  process.stderr.write(
    "signalbox: BUN_OPTIONS in the environment changes how this program runs. Unset it and start again.\n",
  );
  process.exit(2);
}
process.umask(0o077);

const args = process.argv.slice(2);
const exitCode = await runProgram();
// Waits for the output, because a pipe accepts 64 KiB at a time and exiting would drop the rest.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => stream.end(done))),
);
process.exit(exitCode);

async function runProgram(): Promise<number> {
  // Internal command of a child process that reads an imported file. It loads no other modules.
  if (args[0] === readerCommand)
    return (await import("./imports/reading/reader-child.ts")).serveReader();
  const { runCommandLine } = await import("./cli/support/command-line.ts");
  return runCommandLine(args, ignoredVariables);
}
