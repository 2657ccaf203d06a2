/** The reverse proxies of docs/behind-a-proxy.md, with the configuration of the guide. */
import { readFileSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { join } from "node:path";
import { getFreePort } from "./binary.ts";
import { writeSelfSigned } from "./certificates.ts";
import { createFolder, buildNginxConfig, type Program, startProgram } from "./real-targets.ts";
import type { Json } from "./json.ts";

/** The host name in the files of `docs/behind-a-proxy.md`. */
export const publicName = "status.example.com";

const guide = readFileSync(join(import.meta.dir, "..", "..", "docs", "behind-a-proxy.md"), "utf8");

/** The proxy's configuration from the guide, for this folder and these ports. */
function readRecipe(language: string, folder: string, port: number, appliancePort: number): string {
  const text = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "m").exec(guide)?.[1];
  if (text === undefined) throw new Error(`The guide has no file for ${language}.`);
  const changes: [string, string][] = [
    ["127.0.0.1:3210", `127.0.0.1:${appliancePort}`],
    ["/etc/ssl/", `${folder}/`],
    [":443 ", `127.0.0.1:${port} `],
    ["listen 443 ", `listen 127.0.0.1:${port} `],
    [`${publicName} {`, `https://${publicName}:${port} {\n  ${caddyHere}`],
  ];
  return changes.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

const caddyHere = `bind 127.0.0.1
  tls ${publicName}.pem ${publicName}.key`;
const caddyAlone = `{
  admin off
  auto_https off
  storage file_system ./storage
}
`;

/**
 * For each proxy of the guide: its file name, the surrounding configuration here, and its start.
 */
const kinds = {
  nginx: {
    language: "nginx",
    around: buildNginxConfig,
    args: (folder: string) => ["-p", folder, "-c", "config", "-e", "stderr"],
  },
  caddy: {
    language: "caddyfile",
    around: (site: string) => caddyAlone + site,
    args: () => ["run", "--config", "config", "--adapter", "caddyfile"],
  },
  haproxy: {
    language: "haproxy",
    around: (text: string) => text,
    args: () => ["-f", "config", "-db"],
  },
} as const satisfies Partial<Record<Program, object>>;

export const reverseProxies = Object.keys(kinds) as (keyof typeof kinds)[];

/** A proxy of the guide in front of an appliance, with TLS for the public name. */
export async function startReverseProxy(program: keyof typeof kinds, appliancePort: number) {
  const folder = createFolder();
  const port = getFreePort();
  const { cert, key } = writeSelfSigned(folder, publicName, `DNS:${publicName}`);
  const ca = readFileSync(cert, "utf8");
  if (program === "haproxy") writeFileSync(cert, ca + readFileSync(key, "utf8"));
  const { language, around, args: argsIn } = kinds[program];
  writeFileSync(join(folder, "config"), around(readRecipe(language, folder, port, appliancePort)));
  const command = { program, args: argsIn(folder), folder };
  const stop = await startProgram(command, [port]);
  return { port, ca, [Symbol.asyncDispose]: stop };
}

type RequestOptions = { headers?: Record<string, string>; body?: string };
type ReceivedResponse = { status: number; headers: IncomingHttpHeaders; text: string; json: Json };

/** A client at this loopback address with one connection to the public name. */
export function createClientAt(address: string, { port, ca }: { port: number; ca: string }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const open = (method: string, path: string, { headers = {}, body }: RequestOptions = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpsRequest(
        {
          agent,
          host: "127.0.0.1",
          port,
          path,
          method,
          ca,
          servername: publicName,
          localAddress: address,
          headers: {
            Host: `${publicName}:${port}`,
            ...(body !== undefined && {
              "Content-Type": "application/json",
              "Content-Length": String(Buffer.byteLength(body)),
            }),
            ...headers,
          },
        },
        resolve,
      );
      request.on("error", reject);
      request.end(body);
    });
  return {
    /** The response as soon as its header arrives. */
    open,
    async sendThroughProxy(
      method: string,
      path: string,
      asking?: RequestOptions,
    ): Promise<ReceivedResponse> {
      const response = await open(method, path, asking);
      let text = "";
      for await (const part of response) text += String(part);
      const { statusCode = 0, headers } = response;
      const isJson = headers["content-type"]?.startsWith("application/json") === true;
      return { status: statusCode, headers, text, json: isJson ? JSON.parse(text) : undefined };
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
