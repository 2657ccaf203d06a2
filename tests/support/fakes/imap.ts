import { canary } from "../samples.ts";
import type { Fake } from "./fake.ts";
import { greetWith, createLineServer } from "./mail.ts";

const invalid = "NO [AUTHENTICATIONFAILED] Authentication failed.";

/** Supports one user, whose name and password arrive as literals, and STARTTLS. */
const createImapServer = (capabilities = "IMAP4rev1 STARTTLS", onLogin = invalid) =>
  createLineServer("* OK ready\r\n", () => {
    let [tag, parts]: [string, string[]] = ["", []];
    return (line) => {
      const [first = "", verb = ""] = line.split(" ");
      if (tag !== "") {
        parts.push(line);
        if (/\{\d+\}$/.test(line)) return "+ more\r\n";
        const isRight = parts.join("|") === `LOGIN LOGIN {5}|probe {${canary.length}}|${canary}`;
        const reply = `${tag} ${isRight ? "OK in" : onLogin}\r\n`;
        [tag, parts] = ["", []];
        return reply;
      }
      if (verb === "CAPABILITY") return `* CAPABILITY ${capabilities}\r\n${first} OK done\r\n`;
      if (verb === "STARTTLS") return { secure: `${first} OK begin\r\n` };
      if (verb === "LOGIN") {
        [tag, parts] = [first, [line]];
        return "+ more\r\n";
      }
      return verb === "LOGOUT" ? `* BYE\r\n${first} OK done\r\n` : `${first} BAD unknown\r\n`;
    };
  });

const createImapServerWithout = (response: string) =>
  createLineServer(
    "* OK ready\r\n",
    () => (line) =>
      line.includes("CAPABILITY")
        ? "* CAPABILITY IMAP4rev1\r\nCAPABILITY OK done\r\n"
        : `${line.split(" ")[0]} ${response}\r\n`,
  );

export const imap: Fake = {
  transport: "tcp",
  fields: { tls: "none", username: "probe", password: canary },
  serve: createImapServer(),
  alsoUp: [[createImapServer("IMAP4rev1 LOGINDISABLED"), "Greeted", { username: null }]],
  up: "Accepted the user",
  details: { greeting: "ready" },
  refused: {
    fields: { username: "other" },
    message: "The server rejected the user name or the password.",
  },
  wrong: [
    [greetWith("* BYE Too many connections\r\n"), "The server rejected the connection."],
    [greetWith("220 mail.test ESMTP\r\n"), "The response is not valid IMAP."],
    [greetWith("* OK ready\r\n", "220 what?\r\n"), "The response is not valid IMAP."],
    [greetWith("* OK ready\r\n", "* BYE Restarting\r\n"), "The server rejected the connection."],
    [
      createImapServerWithout("BAD unknown"),
      "The server does not offer STARTTLS.",
      { tls: "starttls" },
    ],
    [
      createImapServerWithout("BAD no literals"),
      "The server rejected the user name or the password.",
    ],
    [
      createImapServerWithout("OK\r\n* OK injected"),
      "The server sent unencrypted data after TLS began.",
      { tls: "starttls" },
    ],
    [
      createImapServer("IMAP4rev1 LOGINDISABLED"),
      "The server accepts no password over an unencrypted connection.",
    ],
    [
      createImapServer("IMAP4rev1", `NO [PRIVACYREQUIRED] Not ${canary}`),
      "The server accepts no password over an unencrypted connection.",
      { username: "other" },
    ],
    [
      createImapServer("IMAP4rev1", "NO [UNAVAILABLE] Later"),
      "The server can't accept sign-ins at the moment.",
      { username: "other" },
    ],
  ],
  greeting: Buffer.from("* OK ready\r\n"),
  flood: "* OK ",
  tls: "both",
};
