import { canary } from "../samples.ts";
import type { Fake } from "./fake.ts";
import { greets, speaking } from "./mail.ts";

/** Supports one user and STLS. */
const server = (capabilities = "+OK\r\nUSER\r\nSTLS\r\n.\r\n", onPass = "-ERR [AUTH] Failed") =>
  speaking("+OK ready\r\n", () => {
    let user = "";
    return (line) => {
      const [verb, argument = ""] = line.split(" ");
      if (verb === "CAPA") return capabilities;
      if (verb === "STLS") return { secure: "+OK begin\r\n" };
      if (verb === "USER") user = argument;
      if (verb === "PASS")
        return user === "probe" && argument === canary ? "+OK in\r\n" : `${onPass}\r\n`;
      return "+OK\r\n";
    };
  });

const refusing = (answer: string) => speaking("+OK ready\r\n", () => () => answer);

export const pop3: Fake = {
  over: "tcp",
  fields: { tls: "none", username: "probe", password: canary },
  answers: server(),
  alsoUp: [
    [server("-ERR unknown\r\n"), "Accepted the user"],
    [server(), "Greeted", { username: null }],
  ],
  up: "Accepted the user",
  details: { greeting: "ready" },
  refused: {
    fields: { username: "other" },
    message: "The server refused the user name or the password.",
  },
  wrong: [
    [greets("-ERR Too many connections\r\n"), "The server rejected the connection."],
    [greets("220 mail.test ESMTP\r\n"), "The answer is not valid POP3."],
    [refusing("-ERR unknown\r\n"), "The server does not offer STARTTLS.", { tls: "starttls" }],
    [
      refusing("-ERR\r\n+OK\r\n+OK injected\r\n"),
      "The server sent unencrypted data after TLS began.",
      { tls: "starttls" },
    ],
    [
      refusing(`-ERR [AUTH] Not ${canary} in the clear\r\n`),
      "The server does not accept the user name over this connection.",
    ],
    [
      server(undefined, `-ERR [IN-USE] ${canary}`),
      "The mailbox is in use by another session.",
      { username: "other" },
    ],
    [
      server(undefined, "-ERR [SYS/TEMP] Later"),
      "The server can't sign anybody in at the moment.",
      { username: "other" },
    ],
  ],
  greeting: Buffer.from("+OK ready\r\n"),
  flood: "+OK ",
  tls: "both",
};
