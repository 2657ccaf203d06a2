import { canary } from "../samples.ts";
import type { Fake } from "./fake.ts";
import { greetWith, createLineServer } from "./mail.ts";

/** Supports one user and STLS. */
const createPop3Server = (
  capabilities = "+OK\r\nUSER\r\nSTLS\r\n.\r\n",
  onPass = "-ERR [AUTH] Failed",
) =>
  createLineServer("+OK ready\r\n", () => {
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

const createRefusingServer = (response: string) =>
  createLineServer("+OK ready\r\n", () => () => response);

export const pop3: Fake = {
  transport: "tcp",
  fields: { tls: "none", username: "probe", password: canary },
  serve: createPop3Server(),
  alsoUp: [
    [createPop3Server("-ERR unknown\r\n"), "Accepted the user"],
    [createPop3Server(), "Greeted", { username: null }],
  ],
  up: "Accepted the user",
  details: { greeting: "ready" },
  refused: {
    fields: { username: "other" },
    message: "The server rejected the user name or the password.",
  },
  wrong: [
    [greetWith("-ERR Too many connections\r\n"), "The server rejected the connection."],
    [greetWith("220 mail.test ESMTP\r\n"), "The response is not valid POP3."],
    [
      createRefusingServer("-ERR unknown\r\n"),
      "The server does not offer STARTTLS.",
      { tls: "starttls" },
    ],
    [
      createRefusingServer("-ERR\r\n+OK\r\n+OK injected\r\n"),
      "The server sent unencrypted data after TLS began.",
      { tls: "starttls" },
    ],
    [
      createRefusingServer(`-ERR [AUTH] Not ${canary} in the clear\r\n`),
      "The server does not accept the user name over this connection.",
    ],
    [
      createPop3Server(undefined, `-ERR [IN-USE] ${canary}`),
      "The mailbox is in use by another session.",
      { username: "other" },
    ],
    [
      createPop3Server(undefined, "-ERR [SYS/TEMP] Later"),
      "The server can't accept sign-ins at the moment.",
      { username: "other" },
    ],
  ],
  greeting: Buffer.from("+OK ready\r\n"),
  flood: "+OK ",
  tls: "both",
};
