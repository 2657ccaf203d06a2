/** An HTTP server on loopback with scripted behavior that records its requests. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that a target received. */
export type RecordedRequest = {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
};

/** The JSON body of the request. Throws with the request's name if it is invalid. */
export function parseJsonBody<T>({ method, path, headers, body }: RecordedRequest): T {
  try {
    return JSON.parse(body) as T;
  } catch {
    throw new Error(`No JSON in ${method} ${path} ${JSON.stringify(headers)}: "${body}"`);
  }
}

/** How a target responds; a behavior that does nothing leaves the request open until `release`. */
export type Reply = (response: ServerResponse) => void;

export const replyWith =
  (status = 200, body: string | Uint8Array = "fine", headers: Record<string, string> = {}): Reply =>
  (response) =>
    void response.writeHead(status, headers).end(body);

export const replyWithRedirect = (location: string, status = 302): Reply =>
  replyWith(status, "", { location });

export const hang: Reply = () => {};

/** Closes the connection without a response. */
export const reset: Reply = ({ socket }) => void socket?.destroy();

/** Responds with 200 after a number of milliseconds. */
export const replyAfter =
  (ms: number, then: Reply = replyWith()): Reply =>
  (response) =>
    void setTimeout(() => then(response), ms);

/** An endless body, sent as fast as it is read. */
export const replyForever: Reply = (response) => {
  const piece = Buffer.alloc(16 * 1024, "x");
  const writeMore = () => {
    while (!response.destroyed && response.write(piece));
  };
  response.writeHead(200).on("drain", writeMore);
  writeMore();
};

/** An HTTP server on loopback with a scripted behavior. It records every request. */
export async function startTarget(usual: Reply = replyWith()) {
  const requests: RecordedRequest[] = [];
  const replies = new Map<string, Reply>();
  const open = new Set<ServerResponse>();
  let maxConnections = 0;
  let changed = Promise.withResolvers<void>();

  const server = createServer(async (request, response) => {
    open.add(response);
    response.on("close", () => open.delete(response));
    maxConnections = Math.max(maxConnections, open.size);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The client was killed in the meantime.
      return;
    }
    const { method = "", url: path = "", headers } = request;
    requests.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
    (replies.get(path) ?? usual)(response);
    changed.resolve();
    changed = Promise.withResolvers();
  });
  let connections = 0;
  server.on("connection", () => {
    connections++;
    changed.resolve();
    changed = Promise.withResolvers();
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    port,
    /** The URL of a path. */
    at: (path = "/") => `http://127.0.0.1:${port}${path}`,
    asked: requests,
    /** Number of accepted connections. */
    connections: () => connections,
    /** Highest number of concurrent requests. */
    countMaxConnections: () => maxConnections,
    /** Sets the behavior from the next request on, for one path or as the default. */
    setReply(reply: Reply, path?: string) {
      if (path === undefined) usual = reply;
      else replies.set(path, reply);
    },
    /** Responds to every open request. */
    release(reply: Reply = replyWith()) {
      for (const response of open) if (!response.headersSent) reply(response);
    },
    async waitUntilConnected(times: number) {
      while (connections < times) await changed.promise;
    },
    /** Closes every connection. */
    disconnect: () => server.closeAllConnections(),
    async waitUntilRequested(times: number) {
      while (requests.length < times) await changed.promise;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

export type Target = Awaited<ReturnType<typeof startTarget>>;
