/** A proxy in front of rqlite that loses, delays or fakes responses. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A fault on the way to a node, for the next write. */
type WriteFault =
  /** The write arrives; its response is lost. */
  | "answer lost"
  /** The write is lost. */
  | "request lost"
  /** The write arrives when `release` is called, after the client stopped waiting. */
  | "delayed"
  /** The write arrives, with this response … */
  | { instead: unknown }
  /** … or is lost, with this response. */
  | { refusal: unknown; status?: number };

/** A proxy in front of an rqlite node that applies `troubles` to the writes, in order. */
export async function startLyingProxy(host: string) {
  const troubles: WriteFault[] = [];
  const requests: string[] = [];
  const levels: string[] = [];
  const delayed: (() => Promise<unknown>)[] = [];

  const server = createServer(async (request, response) => {
    const { method = "GET", url = "/" } = request;
    const path = url.replace(/\?.*/, "");
    const body = method === "POST" ? { body: await text(request) } : {};
    const passRequest = async () =>
      (await fetch(`http://${host}${url}`, { method, ...body })).text();
    requests.push(path);
    const level = new URLSearchParams(url.replace(/^[^?]*/, "")).get("level");
    if (level !== null) levels.push(level);
    const trouble = path === "/db/execute" ? troubles.shift() : undefined;
    if (trouble === "delayed") delayed.push(passRequest);
    if (typeof trouble === "object" && "refusal" in trouble) {
      response.writeHead(trouble.status ?? 200).end(JSON.stringify(trouble.refusal));
      return;
    }
    const reply = trouble === "delayed" || trouble === "request lost" ? "" : await passRequest();
    if (typeof trouble === "string") request.socket.destroy();
    else response.end(trouble === undefined ? reply : JSON.stringify(trouble.instead));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    troubles,
    /** Requested paths, in order. */
    requests,
    /** Consistency levels of the reads, in order. */
    levels,
    async release() {
      for (const pass of delayed.splice(0)) await pass();
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
