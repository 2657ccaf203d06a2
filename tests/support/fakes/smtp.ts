import { canary } from "../samples.ts";
import type { Fake } from "./fake.ts";
import { greetWith, type Reply, createLineServer } from "./mail.ts";

const encodeBase64 = (text: string) => Buffer.from(text).toString("base64");
const right = encodeBase64(`\0probe\0${canary}`);
const refused = "535 5.7.8 Authentication credentials invalid\r\n";

/** Supports one user with these mechanisms, and STARTTLS. */
const createSmtpServer = (mechanisms = "PLAIN LOGIN", onAuth = refused) =>
  createLineServer("220-mail.test ESMTP\r\n220 Welcome\r\n", () => {
    const loginLines: string[] = [];
    return (line): Reply => {
      const [verb = ""] = line.split(" ");
      if (verb === "EHLO") return `250-mail.test\r\n250-STARTTLS\r\n250 AUTH ${mechanisms}\r\n`;
      if (verb === "STARTTLS") return { secure: "220 Go ahead\r\n" };
      if (verb === "QUIT") return "221 Bye\r\n";
      if (line === `AUTH PLAIN ${right}`) return "235 Welcome\r\n";
      if (line === "AUTH LOGIN") return "334 VXNlcm5hbWU6\r\n";
      if (verb === "AUTH") return onAuth;
      loginLines.push(line);
      if (loginLines.length === 1) return "334 UGFzc3dvcmQ6\r\n";
      const isRight = loginLines.join() === [encodeBase64("probe"), encodeBase64(canary)].join();
      return isRight ? "235 Welcome\r\n" : refused;
    };
  });

const createServerAfterHello = (response: string) =>
  createLineServer(
    "220 mail.test\r\n",
    () => (line) => (line.startsWith("EHLO") ? "250-mail.test\r\n250 AUTH PLAIN\r\n" : response),
  );

export const smtp: Fake = {
  transport: "tcp",
  fields: { tls: "none", username: "probe", password: canary },
  serve: createSmtpServer(),
  alsoUp: [
    [createSmtpServer("LOGIN"), "Accepted the user"],
    [createSmtpServer(), "Greeted", { username: null }],
  ],
  up: "Accepted the user",
  details: { greeting: "mail.test ESMTP Welcome" },
  refused: {
    fields: { username: "other" },
    message: "The server rejected the user name or the password.",
  },
  wrong: [
    [
      greetWith("554 5.7.1 Your address is on a list\r\n"),
      "The server greeted with 554, expected 220.",
    ],
    [greetWith("* OK IMAP4rev1\r\n"), "The response is not valid SMTP."],
    [
      greetWith("220 mail.test\r\n", "502 What?\r\n", "502 What?\r\n"),
      "The server responded to EHLO with 502, expected 250.",
    ],
    [
      createSmtpServer("LOGIN", ""),
      "The server rejected the user name or the password.",
      { password: "x" },
    ],
    [
      createSmtpServer("GSSAPI XOAUTH2"),
      "The server offers no sign-in by password over this connection.",
    ],
    [
      createServerAfterHello(`538 Not ${canary} in the clear\r\n`),
      "The server accepts no password over an unencrypted connection.",
    ],
    [
      createServerAfterHello(`535 ${right} is not known\r\n`),
      "The server rejected the user name or the password.",
    ],
    [
      createServerAfterHello("454 Try later\r\n"),
      "The server can't accept sign-ins at the moment.",
    ],
    [createServerAfterHello("421 Closing\r\n"), "The server responded to AUTH with 421."],
    [
      createServerAfterHello("502 Unknown\r\n"),
      "The server does not offer STARTTLS.",
      { tls: "starttls" },
    ],
    [
      createServerAfterHello("220 Go\r\n250 AUTH PLAIN\r\n"),
      "The server sent unencrypted data after TLS began.",
      { tls: "starttls" },
    ],
  ],
  greeting: Buffer.from("220 mail.test\r\n"),
  flood: "220-",
  tls: "both",
};
