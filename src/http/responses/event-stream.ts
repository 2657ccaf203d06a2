/** Server-sent events. */
import { livePageBounds } from "../../core/limits.ts";

/** Has open pages hear what happens in their organization. */
export type Live = {
  /** Takes a reader in until the returned function is called. */
  join(reader: Reader, listener: Listener): () => void;
  /** Whether the appliance is not about to stop. */
  isOpen(): boolean;
  /** Whether there is a stream left for them, without taking others'. */
  mayListen(listener: Pick<Listener, "organizationId" | "personId" | "sessionId">): boolean;
};

export type Listener = {
  organizationId: string;
  /** The id of the last message that the page knows of; null where it has just been opened. */
  after: string | null;
  personId: string;
  /** Whose pages are asked about together whether they may go on listening, by role. */
  sessionId: string;
  /** In the organization, when it began to listen. */
  role: string;
  /** Whether it may go on listening. */
  isAuthorized: () => Promise<boolean>;
};

/** One open page. */
export type Reader = {
  /** Takes a message to it, or cuts it off where it has not read those before. */
  send: (message: Uint8Array) => void;
  end: () => void;
};

/** A connection that stays silent for longer is closed; a comment comes more often. */
const idleTimeoutSeconds = 60;
const commentMs = 15_000;
/** Bytes that may wait for a reader: beyond them it is cut off, and comes back when it can. */
const maxUnread = livePageBounds.unread.value;

const headers = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  // Proxies such as nginx would gather what is to arrive at once.
  "X-Accel-Buffering": "no",
};

const encoder = new TextEncoder();
const comment = encoder.encode(":\n\n");
/** Sent at once, because the headers go out with the first bytes: a page that was cut off comes back after a second. */
const firstBytes = encoder.encode("retry: 1000\n\n");

/** A server-sent event (WHATWG HTML §9.2.6), in bytes: encoded once, whoever reads it. */
export function messageOf(event: string, data: unknown, id?: string): Uint8Array {
  const name = id === undefined ? "" : `id: ${id}\n`;
  return encoder.encode(`${name}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** An answer that goes on until the reader leaves, falls behind or is ended. */
export function eventStream(
  request: Request,
  extendTimeout: (request: Request, seconds: number) => void,
  join: (reader: Reader) => () => void,
): Response {
  let leave = () => {};
  let comments: ReturnType<typeof setInterval> | null = null;
  let isOver = false;

  function over() {
    if (isOver) return;
    isOver = true;
    if (comments !== null) clearInterval(comments);
    leave();
  }

  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = () => {
          if (isOver) return;
          over();
          controller.close();
        };
        const send = (message: Uint8Array) => {
          if (isOver) return;
          controller.enqueue(message);
          if ((controller.desiredSize ?? 0) > 0) return;
          end();
          // What it has not read is not waited for.
          extendTimeout(request, 1);
        };
        extendTimeout(request, idleTimeoutSeconds);
        send(firstBytes);
        comments = setInterval(() => send(comment), commentMs);
        leave = join({ send, end });
        if (isOver) leave();
      },
      cancel: over,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxUnread }),
  );
  return new Response(stream, { headers });
}
