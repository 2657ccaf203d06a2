/** An SMTP server with scripted replies. */
import type { Socket } from "node:net";
import type { SmtpSettings } from "../../src/accounts/settings/schema.ts";
import { startListener } from "./check-runs.ts";

/** Mail server settings for this port on loopback. */
export const buildSmtpSettings = (
  port: number,
  changes: Partial<SmtpSettings> = {},
): SmtpSettings => ({
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

const defaultReplies: Record<string, string> = {
  EHLO: "250 mx.example",
  DATA: "354 go ahead",
  QUIT: "221 bye",
};

/** A mail server with scripted replies. It records the first word of every command. */
export async function startScriptedMailServer({
  replies = {},
  greeting = "220 mx.example ESMTP",
  ...where
}: Script = {}) {
  const commands: string[] = [];

  function greetClient(socket: Socket) {
    let unread = "";
    let end = "\r\n";
    const sendReply = (reply: string) => {
      if (reply !== "") socket.write(`${reply}\r\n`);
    };
    sendReply(greeting);
    socket.on("data", (chunk: Buffer) => {
      unread += chunk.toString("latin1");
      for (let at = unread.indexOf(end); at !== -1; at = unread.indexOf(end)) {
        const [verb = ""] = unread.slice(0, at).split(" ");
        unread = unread.slice(at + end.length);
        if (end !== "\r\n") {
          end = "\r\n";
          sendReply(replies["."] ?? "250 taken");
          continue;
        }
        commands.push(verb);
        sendReply(replies[verb] ?? defaultReplies[verb] ?? "250 fine");
        if (verb === "DATA") end = "\r\n.\r\n";
        if (verb === "QUIT") socket.end();
      }
    });
  }

  const server = await startListener(greetClient, where);
  return {
    ...server,
    said: commands,
    smtp: (changes: Partial<SmtpSettings> = {}) => buildSmtpSettings(server.port, changes),
  };
}
