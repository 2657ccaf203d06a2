import { canary } from "../samples.ts";
import { type ServeSocket, type Fake, replyOnceTo } from "./fake.ts";

const encodeElement = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, content.length]), content]);
};
const buildMessage = (id: number, operation: Buffer) =>
  encodeElement(0x30, encodeElement(0x02, Buffer.from([id])), operation);
const buildResult = (tag: number, code: number) =>
  encodeElement(
    tag,
    encodeElement(0x0a, Buffer.from([code])),
    encodeElement(0x04),
    encodeElement(0x04),
  );
const entry = encodeElement(0x64, encodeElement(0x04, Buffer.from("dc=team")), encodeElement(0x30));
const reference = encodeElement(0x73, encodeElement(0x04, Buffer.from("ldap://other.lan")));

const whoAmI = "1.3.6.1.4.1.4203.1.11.3";
const operations = { bind: 0x60, search: 0x63, extended: 0x77 };

/** Supports one user and the entry `dc=team`. `codes` override the result of an operation. */
function createDirectory(
  codes: Partial<Record<keyof typeof operations, number>> = {},
  found = [entry, reference],
): ServeSocket {
  return (plain, secure) => {
    let identity = "";
    const listen = (socket: typeof plain) =>
      socket.on("data", (data: Buffer) => {
        const id = data[4] ?? 0;
        const tag = data[5] ?? 0;
        const send = (...parts: Buffer[]) =>
          socket.write(Buffer.concat(parts.map((part) => buildMessage(id, part))));
        if (tag === operations.extended && data.includes(whoAmI))
          send(
            encodeElement(
              0x78,
              encodeElement(0x0a, Buffer.from([0])),
              encodeElement(0x04),
              encodeElement(0x04),
              encodeElement(0x8b, Buffer.from(identity)),
            ),
          );
        else if (tag === operations.extended) {
          plain.removeAllListeners("data");
          send(buildResult(0x78, codes.extended ?? 0));
          if (codes.extended === undefined) listen(secure(plain));
        }
        if (tag === operations.bind) {
          const isKnown = data.includes("cn=probe") ? data.includes(canary) : data[11] === 0;
          if (data.includes("cn=probe")) identity = "dn:cn=probe";
          send(buildResult(0x61, codes.bind ?? (isKnown ? 0 : 49)));
        }
        if (tag === operations.search) {
          const isKnown = data.includes("dc=team");
          send(...(isKnown ? found : []), buildResult(0x65, codes.search ?? (isKnown ? 0 : 32)));
        }
      });
    listen(plain);
  };
}

export const ldap: Fake = {
  transport: "tcp",
  fields: { tls: "none", username: "cn=probe", password: canary, baseDn: "dc=team" },
  serve: createDirectory(),
  up: "Found the entry",
  alsoUp: [
    [createDirectory(), "Accepted the bind", { baseDn: null }],
    [
      createDirectory(),
      "Accepted the bind",
      { username: null, password: null, baseDn: null },
      { identity: "anonymous" },
    ],
  ],
  details: { identity: "dn:cn=probe" },
  refused: {
    fields: { password: "other" },
    message: "The server rejected the user name or the password.",
  },
  wrong: [
    [createDirectory(), "The entry does not exist.", { baseDn: "dc=other" }],
    [createDirectory({}, []), "The entry does not exist, or the user can't see it."],
    [createDirectory({ bind: 13 }), "The server signs in only over an encrypted connection."],
    [createDirectory({ bind: 48 }), "The server accepts no anonymous bind.", { username: null }],
    [createDirectory({ bind: 80 }), "The server responded to the bind with error 80."],
    [createDirectory({ search: 50 }), "The user may not do this."],
    [
      createDirectory({ extended: 2 }),
      "The server responded to STARTTLS with error 2.",
      { tls: "starttls" },
    ],
    [replyOnceTo(buildMessage(0, buildResult(0x78, 52))), "The server is unavailable."],
    [replyOnceTo(buildMessage(0, buildResult(0x78, 0))), "The response is not valid for LDAP."],
    [replyOnceTo("HTTP/1.1 400 Bad Request\r\n\r\n"), "The response is not valid for LDAP."],
    [replyOnceTo(encodeElement(0x30, encodeElement(0x02))), "The response is not valid for LDAP."],
    [replyOnceTo(buildMessage(1, entry)), "The response is not valid for LDAP."],
    [replyOnceTo(buildMessage(1, encodeElement(0x61))), "The response is not valid for LDAP."],
  ],
  flood: Buffer.from([0x30, 0x84, 0x10, 0, 0, 0]),
  tls: "both",
};
