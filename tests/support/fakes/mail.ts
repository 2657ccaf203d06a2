import type { Duplex } from "node:stream";
import type { ServeSocket } from "./fake.ts";

/**
 * A mail server's response to a line; null for none. With `secure`, TLS starts after the response.
 */
export type Reply = string | { secure: string } | null;

/** Greets and responds line by line; `newSession` is called once per connection. */
export const createLineServer =
  (greeting: string, newSession: () => (line: string) => Reply): ServeSocket =>
  (socket, secure) => {
    const replyTo = newSession();
    const replyToLines = (connection: Duplex) => {
      let unread = "";
      connection.on("data", (data: Buffer) => {
        const lines = (unread + data.toString()).split("\r\n");
        unread = lines.pop() ?? "";
        for (const line of lines) {
          const reply = replyTo(line);
          if (typeof reply === "string") connection.write(reply);
          else if (reply !== null) {
            connection.removeAllListeners("data").write(reply.secure);
            replyToLines(secure(connection));
          }
        }
      });
    };
    replyToLines(socket);
    socket.write(greeting);
  };

/** Sends all of this at once, regardless of the request. */
export const greetWith =
  (...pieces: readonly string[]): ServeSocket =>
  (socket) => {
    socket.resume();
    for (const piece of pieces) socket.write(piece);
  };
