/** An SMTP server with scripted replies. */
import type { Socket } from "node:net";
import type { SmtpSettings } from "../../src/accounts/settings/schema.ts";
import { listener } from "./checking.ts";

/** Mail server settings for this port on loopback. */
export const smtpAt = (port: number, changes: Partial<SmtpSettings> = {}): SmtpSettings => ({
  host: "127.0.0.1",
  port,
  user: null,
  auth: "password",
  password: null,
  tenant: null,
  clientId: null,
  clientSecret: null,
  serviceAccountKey: null,
  from: "Signalbox <signalbox@team.example>",
  tls: "none",
  ...changes,
});

type Script = {
  /** Replies by the first word of a command, instead of the usual ones; "" sends no reply. */
  replies?: Record<string, string>;
  greeting?: string;
  address?: string;
  port?: number;
};

const usual: Record<string, string> = {
  EHLO: "250 mx.example",
  DATA: "354 go ahead",
  QUIT: "221 bye",
};

/** A mail server with scripted replies. It records the first word of every command. */
export async function scriptedMailServer({
  replies = {},
  greeting = "220 mx.example ESMTP",
  ...where
}: Script = {}) {
  const said: string[] = [];

  function greets(socket: Socket) {
    let unread = "";
    let end = "\r\n";
    const say = (reply: string) => {
      if (reply !== "") socket.write(`${reply}\r\n`);
    };
    say(greeting);
    socket.on("data", (chunk: Buffer) => {
      unread += chunk.toString("latin1");
      for (let at = unread.indexOf(end); at !== -1; at = unread.indexOf(end)) {
        const [verb = ""] = unread.slice(0, at).split(" ");
        unread = unread.slice(at + end.length);
        if (end !== "\r\n") {
          end = "\r\n";
          say(replies["."] ?? "250 taken");
          continue;
        }
        said.push(verb);
        say(replies[verb] ?? usual[verb] ?? "250 fine");
        if (verb === "DATA") end = "\r\n.\r\n";
        if (verb === "QUIT") socket.end();
      }
    });
  }

  const server = await listener(greets, where);
  return {
    ...server,
    said,
    smtp: (changes: Partial<SmtpSettings> = {}) => smtpAt(server.port, changes),
  };
}
