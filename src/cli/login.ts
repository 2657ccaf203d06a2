/** `signalbox login` and `logout`: store and remove the API key of a server. */
import { resolve } from "node:path";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { invalid } from "../core/validation.ts";
import {
  addressIn,
  caFileGiven,
  type ClientOptions,
  clientOf,
  keyIn,
  keyOption,
  onServer,
  pageOf,
  secondsIn,
  serverGiven,
} from "./support/client.ts";
import { credentialsFile, readCredentials, writeCredentials } from "./support/credentials.ts";
import { readText } from "./support/input.ts";
import { printJson } from "./support/output.ts";

export function addLogin(program: Command) {
  onServer(program.command("login"))
    .description(
      "store the address of a server and its key, from a hidden prompt or standard input",
    )
    .action(async (options: ClientOptions) => {
      const given = keyOption(options);
      const isAsked = process.stdin.isTTY && given === undefined;
      const server =
        serverGiven(options) ??
        addressIn("--server", isAsked ? await ask("Address of the Signalbox: ") : undefined);
      if (server === undefined) throw invalid("--server", "is needed");
      const text = given ?? (isAsked ? await ask("API key: ", true) : readText("--key-file", "-"));
      if (text.trim() === "")
        throw invalid("The key", "is missing: give it with --key-file FILE or on standard input");
      const key = given ?? keyIn("The key", text);
      const file = caFileGiven(options);
      const caFile = file === undefined ? null : resolve(file);
      const { v1 } = await clientOf({ server, key, caFile, timeoutSeconds: secondsIn(options) });
      await pageOf(v1.monitors.get({ query: { per_page: 1 } }));
      const { servers } = readCredentials();
      writeCredentials({ current: server, servers: { ...servers, [server]: { key, caFile } } });
      if (options.json) printJson({ server, file: credentialsFile() });
      else process.stderr.write(`${server} accepts the key, which is in ${credentialsFile()}.\n`);
    });

  program
    .command("logout")
    .description("delete a stored server and its key")
    .option("--server <url>", "server (SIGNALBOX_URL; default: the last `login`)")
    .action((options: ClientOptions) => {
      const { current, servers } = readCredentials();
      const server = serverGiven(options) ?? current;
      if (server === null || !Object.hasOwn(servers, server))
        throw invalid("--server", "must be one that `login` has stored a key for");
      const { [server]: _, ...others } = servers;
      writeCredentials({ current: current === server ? null : current, servers: others });
      process.stderr.write(`The key for ${server} is forgotten; it stays valid there.\n`);
    });
}

/** readline echoes each line that it reads. For secrets, the echo is discarded. */
const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });

async function ask(question: string, isSecret = false): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const output = isSecret ? nowhere : process.stderr;
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const ended = new Promise<never>((_, reject) => {
    for (const event of ["SIGINT", "close"])
      lines.once(event, () => reject(new Error("Nothing was stored.")));
  });
  try {
    // Shown only after readline has turned off the terminal's echo.
    if (isSecret) process.stderr.write(question);
    return (await Promise.race([lines.question(question), ended])).trim();
  } finally {
    lines.close();
    if (isSecret) process.stderr.write("\n");
  }
}
