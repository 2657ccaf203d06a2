/** Server-sent events. */
import { livePageBounds } from "../../core/limits.ts";

/** Sends events of an organization to open pages. */
export type Live = {
  /** Adds a reader until the returned function is called. */
  join(reader: Reader, listener: Listener): () => void;
  /** Whether the appliance is not about to stop. */
  isOpen(): boolean;
  /** Whether another stream is available for this client within its share. */
  mayListen(listener: Pick<Listener, "organizationId" | "personId" | "sessionId">): boolean;
};

export type Listener = {
  organizationId: string;
  /** The id of the last message that the page knows of; null where it has just been opened. */
  after: string | null;
  personId: string;
  /** Readers with the same key are authorized together, by role. */
  sessionId: string;
  /** In the organization, when it began to listen. */
  role: string;
  /** Whether the reader is still authorized. */
  isAuthorized: () => Promise<boolean>;
};

/** One open page. */
export type Reader = {
  /** Queues a message; disconnects the reader if too many are unread. */
  send: (message: Uint8Array) => void;
  end: () => void;
};

/** Idle connections are closed after this time; comments are sent more often. */
const idleTimeoutSeconds = 60;
const commentMs = 15_000;
/** Maximum unread bytes of a reader. Beyond them it is disconnected and reconnects. */
const maxUnread = livePageBounds.unread.value;

const headers = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  // Proxies such as nginx would buffer events.
  "X-Accel-Buffering": "no",
};

const encoder = new TextEncoder();
const comment = encoder.encode(":\n\n");
/** Sent at once, because headers are sent with the first bytes. A disconnected page reconnects after one second. */
const firstBytes = encoder.encode("retry: 1000\n\n");

/** A server-sent event (WHATWG HTML §9.2.6) in bytes, encoded once for all readers. */
export function messageOf(event: string, data: unknown, id?: string): Uint8Array {
  const name = id === undefined ? "" : `id: ${id}\n`;
  return encoder.encode(`${name}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** A response that lasts until the reader leaves, falls behind or is ended. */
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
          // Does not wait for unread messages.
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
