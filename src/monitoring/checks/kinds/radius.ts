/** The RADIUS check: signs in a user and verifies the signature of the response. */
import { createHmac, randomBytes } from "node:crypto";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { queryByDatagram } from "../../../core/outgoing/datagrams.ts";
import { type CheckKind, measureElapsedMs } from "../check.ts";
import { computeDigest } from "../protocols/digest.ts";

const packetCodes = { request: 1, accept: 2, reject: 3, challenge: 11 };
const attributeTypes = {
  userName: 1,
  password: 2,
  replyMessage: 18,
  nasIdentifier: 32,
  messageAuthenticator: 80,
};

/** Up when the server accepts the user (RFC 2865). The request is signed (RFC 3579 §3.2). */
export const checkRadius: CheckKind<"radius"> = async (settings, context) => {
  const { host, port, secret, username, password } = settings;
  const startedAt = performance.now();
  context.step = "resolving the name";
  const addresses = await context.addressesOf(host, port);
  const authenticator = randomBytes(16);
  const [id = 0] = randomBytes(1);
  const request = buildRequest({ id, authenticator, secret, username, password });
  const response = await queryByDatagram(addresses, port, context, () => ({
    buildQuery: () => request,
    parseResponse: (message) => (message.length >= 20 && message[1] === id ? message : null),
  }));
  if (!isSigned(response, authenticator, secret))
    throw new TargetFailure("The response is not signed with the shared secret.");
  const latencyMs = measureElapsedMs(startedAt);
  if (response[0] === packetCodes.reject)
    throw new TargetFailure("The server rejected the user name or the password.");
  if (response[0] === packetCodes.challenge)
    throw new TargetFailure("The server requires more than a password.");
  if (response[0] !== packetCodes.accept)
    throw new TargetFailure("The response is not valid for RADIUS.");
  const details = { reply: readReply(response) };
  return { status: "up", message: `Accepted the user in ${latencyMs} ms.`, latencyMs, details };
};

type Request = {
  id: number;
  authenticator: Buffer;
  secret: string;
  username: string;
  password: string;
};

function buildRequest({ id, authenticator, secret, username, password }: Request): Buffer {
  const fields = Buffer.concat([
    encodeAttribute(attributeTypes.userName, Buffer.from(username)),
    encodeAttribute(
      attributeTypes.password,
      encryptPassword(Buffer.from(password), authenticator, secret),
    ),
    encodeAttribute(attributeTypes.nasIdentifier, Buffer.from("signalbox")),
    // The signature is last, so that it can be written into the last 16 bytes.
    encodeAttribute(attributeTypes.messageAuthenticator, Buffer.alloc(16)),
  ]);
  const message = Buffer.concat([
    Buffer.from([packetCodes.request, id, 0, 0]),
    authenticator,
    fields,
  ]);
  message.writeUInt16BE(message.length, 2);
  createHmac("md5", secret)
    .update(message)
    .digest()
    .copy(message, message.length - 16);
  return message;
}

const encodeAttribute = (type: number, value: Buffer) =>
  Buffer.concat([Buffer.from([type, value.length + 2]), value]);

/** Encrypts the password with the shared secret (RFC 2865 §5.2). */
function encryptPassword(password: Buffer, authenticator: Buffer, secret: string): Buffer {
  const padded = Buffer.alloc(Math.max(16, Math.ceil(password.length / 16) * 16));
  padded.set(password);
  let before: Buffer = authenticator;
  for (let at = 0; at < padded.length; at += 16) {
    const mask = computeDigest("md5", secret, before);
    for (let index = 0; index < 16; index++)
      padded[at + index] = (padded[at + index] ?? 0) ^ (mask[index] ?? 0);
    before = padded.subarray(at, at + 16);
  }
  return padded;
}

/** Verifies that the server knows the secret (RFC 2865 §3), and a Message-Authenticator if present (RFC 3579 §3.2). */
function isSigned(response: Buffer, authenticator: Buffer, secret: string): boolean {
  const length = response.readUInt16BE(2);
  if (length < 20 || length > response.length) return false;
  const message = Buffer.from(response.subarray(0, length));
  const receivedAuthenticator = Buffer.from(message.subarray(4, 20));
  message.set(authenticator, 4);
  if (!computeDigest("md5", message, secret).equals(receivedAuthenticator)) return false;
  const signed = listAttributes(message, attributeTypes.messageAuthenticator).find(
    ({ length }) => length === 16,
  );
  if (signed === undefined) return true;
  const signature = Buffer.from(signed);
  signed.fill(0);
  return createHmac("md5", secret).update(message).digest().equals(signature);
}

/** Returns the values of all attributes of a type. They share memory with the message. */
function listAttributes(message: Buffer, type: number): Buffer[] {
  const found: Buffer[] = [];
  const length = message.readUInt16BE(2);
  for (let at = 20; at + 2 <= length; at += message[at + 1] || length)
    if (message[at] === type) found.push(message.subarray(at + 2, at + (message[at + 1] ?? 0)));
  return found;
}

/** Reads the message of the server for the user (RFC 2865 §5.18). */
const readReply = (response: Buffer) =>
  Buffer.concat(listAttributes(response, attributeTypes.replyMessage)).toString();
