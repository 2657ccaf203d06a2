import { writeFilesAtOnce } from "./cli/output.ts";

writeFilesAtOnce();
// Set before anything else is imported: Elysia reads NODE_ENV when it loads, and Bun's sockets would
// follow a proxy or skip certificate checks because of a variable left in somebody's shell.
process.env["NODE_ENV"] = "production";
const hijackers = /^(https?_proxy|all_proxy|no_proxy|node_tls_reject_unauthorized)$/i;
const ignored = Object.keys(process.env).filter((name) => hijackers.test(name));
for (const name of ignored) {
  delete process.env[name];
  process.stderr.write(`signalbox: ignoring ${name} from the environment\n`);
}
process.umask(0o077);

const { runCommandLine } = await import("./cli/command-line.ts");
const exitCode = await runCommandLine(process.argv.slice(2), ignored);
// A pipe takes 64 KiB at a time: the rest would be lost at the exit.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => stream.end(done))),
);
process.exit(exitCode);
