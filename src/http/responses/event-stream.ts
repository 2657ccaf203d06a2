/** Sends server-sent events with limits per reader. */
import { livePageBounds } from "../../core/limits.ts";

/** Distributes an organization's events to open pages. */
export type LiveEvents = {
  /** Adds a reader until the returned function is called. */
  join(reader: Reader, listener: Listener): () => void;
  /** Whether the appliance still accepts streams. False during shutdown. */
  isOpen(): boolean;
  /** Whether the client's share allows another stream. */
  canListen(listener: Pick<Listener, "organizationId" | "personId" | "sessionId">): boolean;
};

export type Listener = {
  organizationId: string;
  /** ID of the last message that the page received; null for a new page. */
  after: string | null;
  personId: string;
  /** Session ID. Readers of the same session, role and limit are authorized together. */
  sessionId: string;
  /** Role in the organization when the stream started. */
  role: string;
  /** Monitor groups to which the reader was limited when the stream started; null for all monitors. */
  groupIds: readonly string[] | null;
  /** Whether the reader is still authorized. */
  isAuthorized: () => Promise<boolean>;
};

/** An open page. */
export type Reader = {
  /** Queues a message. Disconnects the reader if too many bytes are unread. */
  send: (message: Uint8Array) => void;
  end: () => void;
};

/** Timeout of an idle connection. Comments are sent more often, to keep the connection open. */
const idleTimeoutSeconds = 60;
const commentIntervalMs = 15_000;
/** Maximum unread bytes per reader. A slower reader is disconnected, and reconnects. */
const maxUnreadBytes = livePageBounds.unread.value;

const headers = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  // Prevents buffering by proxies such as nginx.
  "X-Accel-Buffering": "no",
};

const encoder = new TextEncoder();
const comment = encoder.encode(":\n\n");
/** Sent immediately, because headers are sent with the first bytes. A disconnected page reconnects after 1 s. */
const firstBytes = encoder.encode("retry: 1000\n\n");

/** Encodes a server-sent event (WHATWG HTML §9.2.6), once for all readers. */
export function encodeMessage(event: string, data: unknown, id?: string): Uint8Array {
  const name = id === undefined ? "" : `id: ${id}\n`;
  return encoder.encode(`${name}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** Creates a stream that lasts until the reader disconnects, is too slow, or is ended. */
export function createEventStream(
  request: Request,
  extendTimeout: (request: Request, seconds: number) => void,
  join: (reader: Reader) => () => void,
): Response {
  let leave = () => {};
  let comments: ReturnType<typeof setInterval> | null = null;
  let isOver = false;

  function finishStream() {
    if (isOver) return;
    isOver = true;
    if (comments !== null) clearInterval(comments);
    leave();
  }

  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const closeStream = () => {
          if (isOver) return;
          finishStream();
          controller.close();
        };
        const send = (message: Uint8Array) => {
          if (isOver) return;
          controller.enqueue(message);
          if ((controller.desiredSize ?? 0) > 0) return;
          closeStream();
          // Shortens the timeout, so that the connection does not wait for unread messages.
          extendTimeout(request, 1);
        };
        extendTimeout(request, idleTimeoutSeconds);
        send(firstBytes);
        comments = setInterval(() => send(comment), commentIntervalMs);
        leave = join({ send, end: closeStream });
        if (isOver) leave();
      },
      cancel: finishStream,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxUnreadBytes }),
  );
  return new Response(stream, { headers });
}
