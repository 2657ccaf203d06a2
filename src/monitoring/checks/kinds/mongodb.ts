/** The MongoDB check: sends `hello` over the wire protocol, with an optional login. */
import type { Document } from "bson";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import type { CheckKind } from "../check.ts";
import { converse } from "../protocols/conversation.ts";
import { refusedLoginError, createScram } from "../protocols/scram.ts";

const opMessage = 2013;
const headBytes = 21;

const notMongoError = () => new TargetFailure("The response is not valid for MongoDB.");

/** Sends a command and reads its reply. Throws TargetFailure. */
async function runCommand(wire: Wire, command: Document): Promise<Document> {
  const { serialize, deserialize } = await import("bson");
  const body = serialize(command);
  const head = Buffer.alloc(headBytes);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(1, 4);
  head.writeInt32LE(opMessage, 12);
  wire.write(Buffer.concat([head, body]));
  const response = await wire.read(headBytes);
  const length = response.readInt32LE(0) - headBytes;
  if (response.readInt32LE(12) !== opMessage || response[20] !== 0 || length < 5)
    throw notMongoError();
  const bytes = await wire.read(length);
  let document: Document;
  try {
    // A checksum can follow the document.
    document = deserialize(bytes.subarray(0, bytes.readInt32LE(0)));
  } catch {
    throw notMongoError();
  }
  if (document["ok"] === 1) return document;
  if (document["code"] === 18) throw refusedLoginError();
  throw new TargetFailure("The server responded with an error.");
}

async function signIn(wire: Wire, user: string, password: string, $db: string) {
  const login = createScram("sha256", user, password, "saslprep");
  const first = await runCommand(wire, {
    saslStart: 1,
    mechanism: "SCRAM-SHA-256",
    payload: Buffer.from(login.first),
    options: { skipEmptyExchange: true },
    $db,
  });
  const payload = Buffer.from(await login.final(readPayload(first)));
  const conversationId = first["conversationId"] as unknown;
  login.assertServerKnows(
    readPayload(await runCommand(wire, { saslContinue: 1, conversationId, payload, $db })),
  );
}

/** Up when the server responds to `hello`, after a SCRAM-SHA-256 login if a user is set. https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ */
export const checkMongodb: CheckKind<"mongodb"> = (settings, context) => {
  const { username, password, authDatabase } = settings;
  let hello: Document = {};
  return converse(
    settings,
    context,
    async (wire) => {
      if (username !== null) await signIn(wire, username, password ?? "", authDatabase);
      hello = await runCommand(wire, { hello: 1, $db: "admin" });
      return "Answered hello";
    },
    {
      async details(wire) {
        const { version } = await runCommand(wire, { buildInfo: 1, $db: "admin" }).catch(
          () => ({}) as Document,
        );
        const { setName, primary } = hello;
        return {
          version: toText(version),
          role: determineRole(hello),
          replicaSet: toText(setName),
          primary: toText(primary),
        };
      },
    },
  );
};

const toText = (value: unknown) => (typeof value === "string" ? value : null);

/** Derives the role of a server from its `hello` reply: https://www.mongodb.com/docs/manual/reference/command/hello/ */
function determineRole({
  msg,
  setName,
  isWritablePrimary,
  secondary,
  arbiterOnly,
}: Document): string {
  if (msg === "isdbgrid") return "mongos";
  if (setName === undefined) return "standalone";
  if (isWritablePrimary === true) return "primary";
  if (secondary === true) return "secondary";
  return arbiterOnly === true ? "arbiter" : "other";
}

function readPayload({ payload }: Document): string {
  const { buffer } = (payload ?? {}) as { buffer?: unknown };
  if (!(buffer instanceof Uint8Array)) throw notMongoError();
  return Buffer.from(buffer).toString();
}
