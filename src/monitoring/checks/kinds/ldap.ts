/** The LDAP check: binds to a directory, and looks for an entry. */
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import type { DetailsOf } from "../../monitors/details-rules.ts";
import type { CheckKind } from "../check.ts";
import { buildTls, converse } from "../protocols/conversation.ts";
import { refusalError } from "../protocols/refusal-error.ts";

/** Tags of protocol operations and their parts (RFC 4511 §4, BER). */
const tags = {
  integer: 0x02,
  octets: 0x04,
  enumerated: 0x0a,
  boolean: 0x01,
  sequence: 0x30,
  bind: 0x60,
  bindResponse: 0x61,
  unbind: 0x42,
  search: 0x63,
  searchEntry: 0x64,
  searchDone: 0x65,
  searchReference: 0x73,
  extended: 0x77,
  extendedResponse: 0x78,
  extendedValue: 0x8b,
  simplePassword: 0x80,
  extendedName: 0x80,
  present: 0x87,
} as const;

const oids = {
  /** RFC 4511 §4.14.1 */
  startTls: "1.3.6.1.4.1.1466.20037",
  /** RFC 4532 */
  whoAmI: "1.3.6.1.4.1.4203.1.11.3",
};
const notLdapError = () => new TargetFailure("The response is not valid for LDAP.");

/** Up when the directory accepts the bind, which is anonymous without a user, and has the entry `baseDn` if it is set. */
export const checkLdap: CheckKind<"ldap"> = (settings, context) => {
  const { tls, username, password, baseDn } = settings;
  return converse(
    settings,
    context,
    async (wire) => {
      const session = createSession(wire, password === null ? [] : [password]);
      if (tls === "starttls") {
        await session.askExtended(oids.startTls, "STARTTLS");
        await wire.secure(buildTls(settings));
      }
      const version = encodeElement(tags.integer, Buffer.from([3]));
      const user = encodeText(username ?? "");
      const proof = encodeElement(tags.simplePassword, Buffer.from(password ?? ""));
      await session.request(tags.bind, [version, user, proof], tags.bindResponse, "the bind");
      if (baseDn !== null) await findEntry(session, baseDn);
      return baseDn === null ? "Accepted the bind" : "Found the entry";
    },
    { startsTls: tls === "starttls", details: readIdentity },
  );
};

/** Reads as whom the server signed in the user, such as `dn:cn=probe,dc=team,dc=example`. */
async function readIdentity(wire: Wire): Promise<DetailsOf<"ldap">> {
  const session = createSession(wire);
  const identity = (await session.askExtended(oids.whoAmI, "Who am I?")).value;
  session.send(tags.unbind, []);
  return { identity: identity === "" ? "anonymous" : identity };
}

/** Searches for the entry itself, without attributes (RFC 4511 §4.5.1). */
async function findEntry(session: Session, baseDn: string) {
  const baseObject = encodeElement(tags.enumerated, Buffer.from([0]));
  const neverFollowAliases = encodeElement(tags.enumerated, Buffer.from([0]));
  const messageId = encodeElement(tags.integer, Buffer.from([1]));
  const noLimit = encodeElement(tags.integer, Buffer.from([0]));
  const typesOnly = encodeElement(tags.boolean, Buffer.from([0xff]));
  const filter = encodeElement(tags.present, Buffer.from("objectClass"));
  const noAttributes = encodeElement(tags.sequence, encodeText("1.1"));
  const { entries } = await session.request(
    tags.search,
    [
      encodeText(baseDn),
      baseObject,
      neverFollowAliases,
      messageId,
      noLimit,
      typesOnly,
      filter,
      noAttributes,
    ],
    tags.searchDone,
    "the search",
  );
  if (entries === 0) throw new TargetFailure("The entry does not exist, or the user can't see it.");
}

type Session = ReturnType<typeof createSession>;

function createSession(wire: Wire, secrets: readonly string[] = []) {
  function send(tag: number, parts: readonly Buffer[]) {
    // One operation at a time, so all can have the same ID.
    const message = [encodeElement(tags.integer, Buffer.from([1])), encodeElement(tag, ...parts)];
    wire.write(encodeElement(tags.sequence, ...message));
  }
  const session = {
    send,
    /** Performs an extended operation without a value (RFC 4511 §4.12). */
    askExtended: (oid: string, operationName: string) =>
      session.request(
        tags.extended,
        [encodeElement(tags.extendedName, Buffer.from(oid))],
        tags.extendedResponse,
        operationName,
      ),
    /**
     * Sends an operation and reads responses until its last one. Returns the number of entries, and the value of an
     * extended response. Throws TargetFailure unless it succeeded.
     */
    async request(tag: number, parts: readonly Buffer[], last: number, operationName: string) {
      send(tag, parts);
      for (let entries = 0; ;) {
        const message = createReader((await readMessage(wire)).content);
        const messageId = message.next();
        const operation = message.next();
        if (messageId.tag !== tags.integer) throw notLdapError();
        // The server announces that it closes the connection (RFC 4511 §4.4.1).
        if (Number(messageId.content[0]) === 0)
          throw readFailure(operation.content, operationName, secrets) ?? notLdapError();
        if (operation.tag === tags.searchEntry && tag === tags.search) entries++;
        else if (operation.tag === last) {
          const failure = readFailure(operation.content, operationName, secrets);
          if (failure !== null) throw failure;
          return { entries, value: readValue(operation.content) };
        } else if (operation.tag !== tags.searchReference) throw notLdapError();
      }
    },
  };
  return session;
}

/** Reads the value of an extended response; empty if there is none. */
function readValue(operation: Buffer): string {
  const reader = createReader(operation);
  for (let element = reader.next(); ; element = reader.next()) {
    if (element.tag === tags.extendedValue) return element.content.toString();
    if (reader.isAtEnd()) return "";
  }
}

/** Failures by result code (RFC 4511 §4.1.9). */
const failures: Record<number, string> = {
  7: "The server does not support simple binds.",
  8: "The server requires an encrypted connection or a stronger sign-in.",
  10: "The server refers to another server.",
  13: "The server signs in only over an encrypted connection.",
  32: "The entry does not exist.",
  34: "The name of the user or entry is not a valid DN.",
  48: "The server accepts no anonymous bind.",
  49: "The server rejected the user name or the password.",
  50: "The user may not do this.",
  51: "The server is busy.",
  52: "The server is unavailable.",
  53: "The server is unwilling to do this.",
};

/** Reads the result code and message of a response (RFC 4511 §4.1.9); null for success. */
function readFailure(
  operation: Buffer,
  operationName: string,
  secrets: readonly string[],
): TargetFailure | null {
  const reader = createReader(operation);
  const { tag, content } = reader.next();
  if (tag !== tags.enumerated || content.length !== 1) throw notLdapError();
  const code = content.readUInt8();
  if (code === 0) return null;
  reader.next();
  const sentence = failures[code] ?? `The server responded to ${operationName} with error ${code}.`;
  // Active Directory ends its messages with NUL.
  const text = reader.next().content.toString().replaceAll("\0", "");
  return refusalError(sentence, text, ...secrets);
}

type Element = { tag: number; content: Buffer };

async function readMessage(wire: Wire): Promise<Element> {
  const head = await wire.read(2);
  const { tag, size } = { tag: head.readUInt8(), size: head.readUInt8(1) };
  if (tag !== tags.sequence) throw notLdapError();
  if (size < 0x80) return { tag, content: await wire.read(size) };
  const bytes = size & 0x7f;
  if (bytes < 1 || bytes > 4) throw notLdapError();
  return { tag, content: await wire.read((await wire.read(bytes)).readUIntBE(0, bytes)) };
}

/** Reads BER elements in order. Throws TargetFailure for a truncated message. */
function createReader(whole: Buffer) {
  let at = 0;
  function take(count: number): Buffer {
    if (at + count > whole.length) throw notLdapError();
    at += count;
    return whole.subarray(at - count, at);
  }
  return {
    isAtEnd: () => at === whole.length,
    next(): Element {
      const tag = take(1).readUInt8();
      const size = take(1).readUInt8();
      if (size < 0x80) return { tag, content: take(size) };
      const bytes = size & 0x7f;
      if (bytes < 1 || bytes > 4) throw notLdapError();
      return { tag, content: take(take(bytes).readUIntBE(0, bytes)) };
    },
  };
}

function encodeElement(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const encodeText = (text: string) => encodeElement(tags.octets, Buffer.from(text));
