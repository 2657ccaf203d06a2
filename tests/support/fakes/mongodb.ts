import { Binary, deserialize, type Document, serialize } from "bson";
import { canary } from "../samples.ts";
import { type ServeSocket, type Fake, replyOnceTo } from "./fake.ts";
import { createScramServer } from "./scram-server.ts";

function buildMessage(document: Document, opcode = 2013): Buffer {
  const body = serialize(document);
  const head = Buffer.alloc(21);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(opcode, 12);
  return Buffer.concat([head, body]);
}

const member = { ok: 1, setName: "rs0", isWritablePrimary: true, primary: "db1.lan:27017" };

const createMongoServer =
  ({ count = 4_096, isKnown = true, hello = member as Document } = {}): ServeSocket =>
  (socket) => {
    const login = createScramServer("sha256", "probe", canary, count);
    const buildSaslMessage = (text: string) =>
      buildMessage({
        ok: 1,
        conversationId: 1,
        done: true,
        payload: new Binary(Buffer.from(text)),
      });
    socket.on("data", (data: Buffer) => {
      const command = deserialize(data.subarray(21));
      const text = Buffer.from((command["payload"] as Binary | undefined)?.buffer ?? []).toString();
      if ("saslStart" in command) socket.write(buildSaslMessage(login.answerFirst(text)));
      else if ("saslContinue" in command) {
        const final = login.answerFinal(text);
        socket.write(
          final === null
            ? buildMessage({ ok: 0, code: 18 })
            : buildSaslMessage(isKnown ? final : "v=bm8="),
        );
      } else if ("buildInfo" in command) socket.write(buildMessage({ ok: 1, version: "8.0.4" }));
      else socket.write(buildMessage(hello));
    });
  };

export const mongodb: Fake = {
  transport: "tcp",
  fields: { username: "probe", password: canary },
  serve: createMongoServer(),
  up: "Answered hello",
  details: { version: "8.0.4", role: "primary", replicaSet: "rs0", primary: "db1.lan:27017" },
  alsoUp: [
    [
      createMongoServer({ hello: { ok: 1 } }),
      "Answered hello",
      {},
      { version: "8.0.4", role: "standalone" },
    ],
    [
      createMongoServer({ hello: { ok: 1, setName: "rs0", secondary: true } }),
      "Answered hello",
      {},
      { version: "8.0.4", role: "secondary", replicaSet: "rs0" },
    ],
    [
      createMongoServer({ hello: { ok: 1, msg: "isdbgrid" } }),
      "Answered hello",
      {},
      { version: "8.0.4", role: "mongos" },
    ],
  ],
  refused: {
    fields: { password: "other" },
    message: "The server rejected the user name or the password.",
  },
  wrong: [
    [createMongoServer({ hello: { ok: 0, code: 13 } }), "The server responded with an error."],
    [createMongoServer({ isKnown: false }), "The server rejected the user name or the password."],
    [createMongoServer({ count: 1 }), "The server offers no safe way to sign in."],
    [
      createMongoServer({ count: 10_000_000 }),
      "Signing in needs more iterations than are supported: at most 100000.",
    ],
    [replyOnceTo(buildMessage({ ok: 1 }, 1)), "The response is not valid for MongoDB."],
    [replyOnceTo(buildMessage({ ok: 1 })), "The response is not valid for MongoDB."],
    [replyOnceTo("HTTP/1.1 400 Bad Request\r\n\r\n"), "The response is not valid for MongoDB."],
  ],
  flood: Buffer.from([0, 0, 0, 0x10, ...Buffer.alloc(8), 0xdd, 7, 0, 0, ...Buffer.alloc(5)]),
  tls: "first",
};
