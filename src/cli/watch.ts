/** `signalbox watch`: sets up two servers to watch each other, with one monitor on each. */
import { hostname } from "node:os";
import type { Command } from "commander";
import { invalidFieldError } from "../core/validation.ts";
import {
  addServerOptions,
  type Client,
  type ClientOptions,
  connectToServer,
  createClient,
  fetchAllPages,
  findGivenCaFile,
  findGivenServer,
  parseServerAddress,
  parseTimeout,
  readKeyOption,
  unwrapData,
} from "./support/client.ts";
import { readCredentials } from "./support/credentials.ts";
import { printJson, printMessage } from "./support/output.ts";

type Options = ClientOptions & { otherKeyFile?: string; name: string };

export function addWatch(program: Command) {
  addServerOptions(program.command("watch").argument("<url>", "address of the other Signalbox"))
    .description(
      "let a server and another Signalbox watch each other: each alerts when the other is silent",
    )
    .option(
      "--other-key-file <file>",
      "file with an API key of the other Signalbox, which can write (default: the key that `signalbox login` stored)",
    )
    .option("--name <name>", "name of the server on the other Signalbox", hostname())
    .action(async (url: string, options: Options) => {
      const ownConnection = await connectToServer(options);
      const other = await connectToOther(url, options);
      const waiting = await findOrCreateWaiting(other, options.name);
      const sending = await findOrCreateSending(ownConnection, waiting.pushUrl);
      if (options.json) return printJson({ waiting: waiting.id, sending: sending.id });
      printMessage(`“${waiting.name}” on the other Signalbox is down after 3 minutes of silence.`);
      printMessage(`“${sending.name}” here requests its address each minute.`);
    });
}

/** The key of an environment variable is never sent to the other server. */
function connectToOther(url: string, options: Options): Promise<Client> {
  const { otherKeyFile } = options;
  const server = parseServerAddress("<url>", url) ?? "";
  const { current, servers } = readCredentials();
  if (server === (findGivenServer(options) ?? current))
    throw invalidFieldError("<url>", "must be another Signalbox than --server");
  const stored = Object.hasOwn(servers, server) ? servers[server] : undefined;
  const key = otherKeyFile === undefined ? stored?.key : readKeyOption({ keyFile: otherKeyFile });
  if (key === undefined)
    throw invalidFieldError("--other-key-file", `is needed: there is no stored key for ${server}`);
  const caFile = findGivenCaFile(options) ?? stored?.caFile ?? null;
  return createClient({ server, key, caFile, timeoutSeconds: parseTimeout(options) });
}

/** The monitor on the other server that waits for reports. A repeated command finds it by its slug. */
async function findOrCreateWaiting({ v1 }: Client, server: string) {
  const slug = `signalbox-${server.toLowerCase().replace(/[^a-z0-9_-]+/g, "-")}`.slice(0, 100);
  const name = `Signalbox ${server}`.slice(0, 255);
  const all = await fetchAllPages((page) => v1.monitors.get({ query: page }));
  const known = all.find((one) => one.type === "push" && one.slug === slug);
  const waiting =
    known ??
    (await unwrapData(
      v1.monitors.post({ type: "push", name, slug, interval: 60, grace: 120, retries: 0 }),
    ));
  const pushUrl = "pushUrl" in waiting ? waiting.pushUrl : null;
  if (typeof pushUrl !== "string")
    throw invalidFieldError("--other-key-file", "must have a key that can write");
  return { id: waiting.id, name: waiting.name, pushUrl };
}

/** The monitor that reports to the other server, and so notices when it does not respond. Its token is a variable. */
async function findOrCreateSending({ v1 }: Client, pushUrl: string) {
  const { origin, hostname, pathname } = new URL(pushUrl);
  const [path, token = ""] = pathname.split(/(?<=\/)(?=[^/]+$)/);
  const url = `${origin}${path}{{pushToken}}?status=up`;
  const variables = { pushToken: token };
  const all = await fetchAllPages((page) => v1.monitors.get({ query: page }));
  const known = all.find((one) => one.type === "http" && one.url === url);
  if (known !== undefined) return unwrapData(v1.monitors({ id: known.id }).patch({ variables }));
  return unwrapData(
    v1.monitors.post({
      type: "http",
      name: `Signalbox ${hostname}`,
      url,
      variables,
      interval: 60,
      assertions: [{ source: "json", path: "$.ok", op: "equals", value: true }],
    }),
  );
}
