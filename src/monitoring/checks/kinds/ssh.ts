/** The SSH check: exchanges keys with a server and compares the fingerprint of its host key. */
import { createHash, type JsonWebKey, randomBytes, verify } from "node:crypto";
import { version } from "../../../core/assets.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";
import { excerptText } from "../../../core/text/formatting.ts";
import { type CheckKind, measureElapsedMs } from "../check.ts";
import { converse } from "../protocols/conversation.ts";
import {
  type Agreement,
  createServerGroup,
  groupRequest,
  importJwk,
  keyAgreements,
} from "../protocols/ssh-agreements.ts";
import { encodeMpint, encodeString, encodeUint32 } from "../protocols/ssh-encoding.ts";

/** Message numbers: https://www.rfc-editor.org/rfc/rfc4253#section-12, https://www.rfc-editor.org/rfc/rfc4419#section-5 */
const messageTypes = {
  disconnect: 1,
  ignore: 2,
  debug: 4,
  init: 20,
  request: 30,
  reply: 31,
  group: 31,
  groupInit: 32,
  groupReply: 33,
  groupRequest: 34,
};

/** Up when the server proves possession of its host key, and the fingerprint matches if one is expected. */
export const checkSsh: CheckKind<"ssh"> = (settings, context) => {
  const startedAt = performance.now();
  return converse(settings, context, async (wire) => {
    const { banner, type, fingerprint } = await exchangeKeys(wire);
    const byApplication = encodeUint32(11);
    wire.write(
      encodePacket(messageTypes.disconnect, byApplication, encodeString(""), encodeString("")),
    );
    const received = `${excerptText(banner, 100)} with the ${type} key ${fingerprint}`;
    if (settings.fingerprint !== null && settings.fingerprint !== fingerprint) {
      const sentence = "The host key is not the expected one";
      throw new TargetFailure(`${sentence}.`, false, `${sentence}: received ${received}.`);
    }
    const words = `Proved its host key in ${measureElapsedMs(startedAt)} ms`;
    const details = { fingerprint, server: excerptText(banner, 100) };
    return { status: "up", message: `${words}.`, serverText: `${words}: ${received}.`, details };
  });
};

const notSshError = () => new TargetFailure("The response is not valid for SSH.");
const unprovenError = () =>
  new TargetFailure("The server does not prove that it has its host key.");

const p256 = { curve: "P-256", bytes: 32, hash: "sha256" };
const p384 = { curve: "P-384", bytes: 48, hash: "sha384" };
const p521 = { curve: "P-521", bytes: 66, hash: "sha512" };

/** Signature verification by host key algorithm, in order of preference. */
const hostKeys: Record<string, (key: Reader, data: Buffer, signature: Reader) => boolean> = {
  "ssh-ed25519": (key, data, signature) =>
    verify(
      null,
      data,
      importJwk({ kty: "OKP", crv: "Ed25519", x: key.string().toString("base64url") }),
      signature.string(),
    ),
  "ecdsa-sha2-nistp256": createEcdsaVerifier(p256),
  "ecdsa-sha2-nistp384": createEcdsaVerifier(p384),
  "ecdsa-sha2-nistp521": createEcdsaVerifier(p521),
  "rsa-sha2-512": createRsaVerifier("sha512"),
  "rsa-sha2-256": createRsaVerifier("sha256"),
  "ssh-rsa": createRsaVerifier("sha1"),
};

function createEcdsaVerifier({ curve, bytes, hash }: typeof p256) {
  return (key: Reader, data: Buffer, signature: Reader) => {
    key.string();
    const point = key.string();
    const encodeCoordinate = (from: number) =>
      point.subarray(from, from + bytes).toString("base64url");
    if (point.length !== 1 + 2 * bytes || point[0] !== 4) return false;
    const publicKey = importJwk({
      kty: "EC",
      crv: curve,
      x: encodeCoordinate(1),
      y: encodeCoordinate(1 + bytes),
    });
    const numbers = createReader(signature.string());
    const [r, s] = [numbers.string(), numbers.string()].map((number) => padNumber(number, bytes));
    if (r === undefined || s === undefined) return false;
    return verify(hash, data, { key: publicKey, dsaEncoding: "ieee-p1363" }, Buffer.concat([r, s]));
  };
}

function createRsaVerifier(hash: string) {
  return (key: Reader, data: Buffer, signature: Reader) => {
    const [e, n] = [key.string(), key.string()].map((number) => number.toString("base64url"));
    return verify(hash, data, importJwk({ kty: "RSA", e, n } as JsonWebKey), signature.string());
  };
}

/** Both sides must agree on these algorithms, although the check ends before their first use. So all are offered. */
const ciphers =
  "aes128-ctr,aes256-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,aes192-ctr,aes128-cbc,aes256-cbc,aes192-cbc,rijndael-cbc@lysator.liu.se,3des-cbc,blowfish-cbc,cast128-cbc,arcfour256,arcfour128,arcfour";
const macs =
  "hmac-sha2-256,hmac-sha2-512,hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha1,hmac-sha1-etm@openssh.com,umac-128@openssh.com,umac-128-etm@openssh.com,umac-64@openssh.com,umac-64-etm@openssh.com,hmac-sha1-96,hmac-sha1-96-etm@openssh.com,hmac-ripemd160,hmac-md5,hmac-md5-etm@openssh.com,hmac-md5-96,hmac-md5-96-etm@openssh.com";
const compression = "none,zlib@openssh.com,zlib";

/** Lists the supported algorithms: https://www.rfc-editor.org/rfc/rfc4253#section-7.1 */
function buildInit(): Buffer {
  return Buffer.concat([
    Buffer.from([messageTypes.init]),
    randomBytes(16),
    ...[
      Object.keys(keyAgreements).join(),
      Object.keys(hostKeys).join(),
      ciphers,
      ciphers,
      macs,
      macs,
      compression,
      compression,
      "",
      "",
    ].map(encodeString),
    Buffer.from([0]),
    encodeUint32(0),
  ]);
}

/** Exchanges keys and returns the server's banner and verified host key. https://www.rfc-editor.org/rfc/rfc4253#section-8 */
async function exchangeKeys(wire: Wire) {
  const ownIdentification = `SSH-2.0-Signalbox_${version.replaceAll(/[^\w.]/g, "_")}`;
  wire.write(`${ownIdentification}\r\n`);
  const ownInit = buildInit();
  wire.write(wrapPacket(ownInit));
  const banner = await readIdentification(wire);
  const init = await readPacket(wire, messageTypes.init);
  const offered = createReader(init.subarray(17));
  const [theirAgreements, theirKeys] = [offered.string(), offered.string()].map((names) =>
    names.toString("latin1").split(","),
  );
  const agree = chooseAlgorithm(keyAgreements, theirAgreements);
  const proves = chooseAlgorithm(hostKeys, theirKeys);
  if (agree === undefined || proves === undefined)
    throw new TargetFailure("The server offers no key exchange that is supported.");
  const { hash, create } = agree.value;
  const agreement = create === null ? await receiveGroup(wire) : await create();
  const [request, response] =
    create === null
      ? [messageTypes.groupInit, messageTypes.groupReply]
      : [messageTypes.request, messageTypes.reply];
  wire.write(encodePacket(request, agreement.ours));
  const reply = createReader((await readPacket(wire, response)).subarray(1));
  const [key, peerKey, proof] = [reply.string(), reply.string(), reply.string()];
  const type = createReader(key).string().toString("latin1");
  if (!(await isProven())) throw unprovenError();
  const digest = createHash("sha256").update(key).digest("base64").replaceAll("=", "");
  return { banner, type, fingerprint: `SHA256:${digest}` };

  async function isProven(): Promise<boolean> {
    const [keyReader, proofReader] = [createReader(key), createReader(proof)];
    const [keyType, proofType] = [keyReader.string(), proofReader.string()].map(String);
    const algorithmName = proves?.name ?? "";
    if (
      proofType !== algorithmName ||
      keyType !== algorithmName.replace(/^rsa-sha2-\d+$/, "ssh-rsa")
    )
      return false;
    try {
      const exchanged = createHash(hash)
        .update(Buffer.concat([ownIdentification, banner, ownInit, init, key].map(encodeString)))
        .update(agreement.parameters)
        .update(agreement.ours)
        .update(encodeString(peerKey))
        .update(encodeMpint(await agreement.deriveSecret(peerKey)))
        .digest();
      return proves?.value(keyReader, exchanged, proofReader) ?? false;
    } catch {
      // The server sent an invalid point, key or signature.
      return false;
    }
  }
}

/** Asks the server for its group. */
async function receiveGroup(wire: Wire): Promise<Agreement> {
  wire.write(encodePacket(messageTypes.groupRequest, groupRequest));
  const group = createReader((await readPacket(wire, messageTypes.group)).subarray(1));
  const agreement = await createServerGroup(group.string(), group.string());
  if (agreement === null)
    throw new TargetFailure("The server offers no key exchange that is supported.");
  return agreement;
}

function chooseAlgorithm<T>(known: Readonly<Record<string, T>>, offered: readonly string[] = []) {
  const entry = Object.entries(known).find(([name]) => offered.includes(name));
  return entry && { name: entry[0], value: entry[1] };
}

/** Reads the identification of the server. Other lines can precede it. */
async function readIdentification(wire: Wire): Promise<string> {
  for (;;) {
    const line = (await wire.readUntil("\n")).toString("latin1").replace(/\r$/, "");
    if (/^SSH-(2\.0|1\.99)-/.test(line)) return line;
    if (line.startsWith("SSH-"))
      throw new TargetFailure("The server speaks an older version of SSH.");
    if (/^(Exceeded MaxStartups|Not allowed at this time)/.test(line))
      throw new TargetFailure("The server accepts no more connections at the moment.");
    // First lines of HTTP and mail servers.
    if (/^(HTTP\/|\d{3}[ -]|\* |\+OK|-ERR)/.test(line)) throw notSshError();
  }
}

/** Reads the payload of the next packet, which must have the given type. Skips debug messages. */
async function readPacket(wire: Wire, type: number): Promise<Buffer> {
  for (;;) {
    const length = (await wire.read(4)).readUInt32BE();
    const body = await wire.read(length);
    const payload = body.subarray(1, length - (body[0] ?? 0));
    const [received] = payload;
    if (received === type) return payload;
    if (received === messageTypes.disconnect)
      throw new TargetFailure("The server closed the connection.");
    if (received !== messageTypes.ignore && received !== messageTypes.debug) throw notSshError();
  }
}

function wrapPacket(payload: Uint8Array): Buffer {
  const padding = 4 + ((8 - ((payload.length + 9) % 8)) % 8);
  const head = Buffer.concat([encodeUint32(payload.length + padding + 1), Buffer.from([padding])]);
  return Buffer.concat([head, payload, Buffer.alloc(padding)]);
}

const encodePacket = (type: number, ...parts: readonly Buffer[]) =>
  wrapPacket(Buffer.concat([Buffer.from([type]), ...parts]));

function padNumber(number: Buffer, length: number): Buffer | undefined {
  const bytes = number.subarray(number.findIndex((byte) => byte !== 0));
  return bytes.length > length
    ? undefined
    : Buffer.concat([Buffer.alloc(length - bytes.length), bytes]);
}

type Reader = { string: () => Buffer };

/** Reads consecutive SSH strings. Throws TargetFailure for a truncated string. */
function createReader(bytes: Buffer): Reader {
  let at = 0;
  return {
    string() {
      const length = at + 4 > bytes.length ? bytes.length : bytes.readUInt32BE(at);
      const start = at + 4;
      if (start + length > bytes.length) throw notSshError();
      at = start + length;
      return bytes.subarray(start, at);
    },
  };
}
