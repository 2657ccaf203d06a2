/** A real SMTP server on loopback that stores and decodes mails. */
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { SmtpSettings } from "../../src/accounts/settings/schema.ts";
import { buildSmtpSettings } from "./scripted-mail-server.ts";

/** A mail as it arrived. */
export type Mail = {
  from: string;
  to: string[];
  secure: boolean;
  user: string | null;
  /** Header names in lower case; decoded values. */
  headers: Record<string, string[]>;
  text: string;
  html: string;
};

/** Decides on a command: the SMTP code of its rejection, or 0. */
type MailServerOptions = {
  /** Password or access token by user; without users, no authentication is required. */
  users?: Record<string, string>;
  /** Reply to a wrong password. */
  login?: number;
  sender?: number;
  recipient?: (address: string) => number;
  mail?: number;
};

/** A text that no error message may repeat. */
export const serverSays = "CANARY-7f3a said the server";

const createSmtpRefusal = (responseCode: number) =>
  responseCode === 0 ? null : Object.assign(new Error(serverSays), { responseCode });

/** A real SMTP server on loopback that stores accepted mails. */
export async function startMailServer(
  treats: MailServerOptions = {},
  options: SMTPServerOptions = {},
) {
  const { users, login = 535, sender = 0, recipient = () => 0, mail: refused = 0 } = treats;
  const mails: Mail[] = [];
  let connections = 0;
  const server = new SMTPServer({
    disableReverseLookup: true,
    logger: false,
    authOptional: users === undefined,
    ...options,
    onConnect(_session, done) {
      connections++;
      done();
    },
    onAuth({ username = "", password, accessToken }, _session, done) {
      if (users?.[username] === (password ?? accessToken)) done(null, { user: username });
      else done(createSmtpRefusal(login));
    },
    onMailFrom: (_address, _session, done) => done(createSmtpRefusal(sender)),
    onRcptTo: ({ address }, _session, done) => done(createSmtpRefusal(recipient(address))),
    async onData(stream, { envelope, secure, user }, done) {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      if (refused !== 0) return done(createSmtpRefusal(refused));
      mails.push({
        from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
        to: envelope.rcptTo.map(({ address }) => address),
        secure,
        user: user ?? null,
        ...parseMail(Buffer.concat(chunks).toString("latin1")),
      });
      done();
    },
  });
  // A client that distrusts the certificate hangs up.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    mails,
    connections: () => connections,
    /** Mail settings of an organization that uses this server. */
    smtp: (changes: Partial<SmtpSettings> = {}) => buildSmtpSettings(port, changes),
    /** The only mail. */
    getOnlyMail(): Mail {
      const [mail, ...more] = mails;
      if (mail === undefined || more.length > 0) throw new Error(`${mails.length} mails arrived.`);
      return mail;
    },
    async [Symbol.asyncDispose]() {
      for (const connection of server.connections) connection.close();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** A mail of two alternatives, read by RFC 2045, 2046 and 2047. */
function parseMail(raw: string): Pick<Mail, "headers" | "text" | "html"> {
  const { headers, body } = splitParts(raw);
  const boundary = /boundary="([^"]+)"/.exec(headers["content-type"]?.[0] ?? "")?.[1] ?? "";
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => splitParts(part.replace(/^\r\n/, "")));
  const findPart = (type: string) => {
    const part = parts.find(({ headers }) => headers["content-type"]?.[0]?.startsWith(type));
    if (part === undefined) throw new Error(`The mail has no ${type}.`);
    const encoding = part.headers["content-transfer-encoding"]?.[0];
    const text = part.body.replace(/\r\n$/, "");
    return (encoding === "quoted-printable" ? decodeQuotedPrintable(text) : text).replaceAll(
      "\r\n",
      "\n",
    );
  };
  return { headers, text: findPart("text/plain"), html: findPart("text/html") };
}

function splitParts(raw: string): { headers: Record<string, string[]>; body: string } {
  const end = raw.indexOf("\r\n\r\n");
  const headers: Record<string, string[]> = {};
  const lines = raw
    .slice(0, end)
    .replace(/\r\n(?=[ \t])/g, "")
    .split("\r\n");
  for (const line of lines) {
    const [, name = line, value = ""] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
    (headers[name.toLowerCase()] ??= []).push(decodeWords(value));
  }
  return { headers, body: raw.slice(end + 4) };
}

function decodeWords(value: string): string {
  return value
    .replace(/\?=\s+=\?/g, "?==?")
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_word, kind: string, text: string) =>
      kind.toLowerCase() === "b"
        ? Buffer.from(text, "base64").toString()
        : decodeQuotedPrintable(text.replaceAll("_", " ")),
    );
}

function decodeQuotedPrintable(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_whole, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
