/** `signalbox login` and `logout`: store and remove the API key of a server. */
import { resolve } from "node:path";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { invalidFieldError } from "../core/validation.ts";
import {
  parseServerAddress,
  findGivenCaFile,
  type ClientOptions,
  createClient,
  parseKey,
  readKeyOption,
  addServerOptions,
  unwrapPage,
  parseTimeout,
  findGivenServer,
} from "./support/client.ts";
import { locateCredentialsFile, readCredentials, writeCredentials } from "./support/credentials.ts";
import { readText } from "./support/input.ts";
import { printJson } from "./support/output.ts";

export function addLogin(program: Command) {
  addServerOptions(program.command("login"))
    .description(
      "store the address of a server and its key, from a hidden prompt or standard input",
    )
    .action(async (options: ClientOptions) => {
      const givenKey = readKeyOption(options);
      const isAsked = process.stdin.isTTY && givenKey === undefined;
      const server =
        findGivenServer(options) ??
        parseServerAddress(
          "--server",
          isAsked ? await askQuestion("Address of the Signalbox: ") : undefined,
        );
      if (server === undefined) throw invalidFieldError("--server", "is needed");
      const text =
        givenKey ?? (isAsked ? await askQuestion("API key: ", true) : readText("--key-file", "-"));
      if (text.trim() === "")
        throw invalidFieldError(
          "The key",
          "is missing: give it with --key-file FILE or on standard input",
        );
      const key = givenKey ?? parseKey("The key", text);
      const file = findGivenCaFile(options);
      const caFile = file === undefined ? null : resolve(file);
      const { v1 } = await createClient({
        server,
        key,
        caFile,
        timeoutSeconds: parseTimeout(options),
      });
      await unwrapPage(v1.monitors.get({ query: { per_page: 1 } }));
      const { servers } = readCredentials();
      writeCredentials({ current: server, servers: { ...servers, [server]: { key, caFile } } });
      if (options.json) printJson({ server, file: locateCredentialsFile() });
      else
        process.stderr.write(
          `${server} accepts the key, which is in ${locateCredentialsFile()}.\n`,
        );
    });

  program
    .command("logout")
    .description("delete a stored server and its key")
    .option("--server <url>", "server (SIGNALBOX_URL; default: the last `login`)")
    .action((options: ClientOptions) => {
      const { current, servers } = readCredentials();
      const server = findGivenServer(options) ?? current;
      if (server === null || !Object.hasOwn(servers, server))
        throw invalidFieldError("--server", "must be one that `login` has stored a key for");
      const { [server]: _, ...others } = servers;
      writeCredentials({ current: current === server ? null : current, servers: others });
      process.stderr.write(
        `The key for ${server} was removed here. It stays valid on the server.\n`,
      );
    });
}

/** readline echoes each line that it reads. For secrets, the echo is discarded. */
const discardedOutput = new Writable({ write: (_chunk, _encoding, done) => done() });

async function askQuestion(question: string, isSecret = false): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const output = isSecret ? discardedOutput : process.stderr;
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
