import { expect } from "bun:test";
import {
  createHash,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { type ServeSocket, type Fake, replyOnceTo } from "./fake.ts";

const encodeUint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const encodeString = (value: string | Buffer) =>
  Buffer.concat([encodeUint32(Buffer.from(value).length), Buffer.from(value)]);
const buildSshPacket = (...parts: readonly (Buffer | number[])[]) => {
  const payload = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const padding = 16 - ((payload.length + 5) % 8);
  return Buffer.concat([
    encodeUint32(payload.length + padding + 1),
    Buffer.from([padding]),
    payload,
    Buffer.alloc(padding, 7),
  ]);
};
const exportRaw = (key: KeyObject) =>
  Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");

const keys = generateKeyPairSync("ed25519");
const hostKey = Buffer.concat([
  encodeString("ssh-ed25519"),
  encodeString(exportRaw(keys.publicKey)),
]);
const fingerprint = `SHA256:${createHash("sha256").update(hostKey).digest("base64").slice(0, 43)}`;
const other = generateKeyPairSync("ed25519");

const banner = "SSH-2.0-Fake_1.0";
const buildInit = ({
  kex = "sntrup761x25519-sha512,curve25519-sha256",
  key = "ssh-ed25519",
} = {}) =>
  Buffer.concat([
    Buffer.from([20]),
    Buffer.alloc(16, 9),
    ...[kex, key, "aes256-ctr", "aes256-ctr", "hmac-sha2-256", "hmac-sha2-256"].map(encodeString),
    ...["none", "none", "", ""].map(encodeString),
    Buffer.from([0, 0, 0, 0, 0]),
  ]);

type SshServerOptions = {
  init?: Buffer;
  /** Signs the exchange. */
  signer?: KeyObject;
  signed?: string;
  point?: Buffer;
  /** Packets before the reply. */
  before?: Buffer[];
};

/** Negotiates Curve25519 and proves an Ed25519 key. */
const createSshServer =
  ({
    init: own = buildInit(),
    signer = keys.privateKey,
    signed = "ssh-ed25519",
    point,
    before = [],
  }: SshServerOptions = {}): ServeSocket =>
  (socket) => {
    let unread = Buffer.alloc(0);
    let client: string | null = null;
    let clientInit = Buffer.alloc(0);
    socket.write(`Authorized users only\r\n${banner}\r\n`);
    socket.write(buildSshPacket(own));
    socket.on("data", (data: Buffer) => {
      unread = Buffer.concat([unread, data]);
      if (client === null) {
        const end = unread.indexOf("\r\n");
        if (end === -1) return;
        client = unread.toString("latin1", 0, end);
        unread = unread.subarray(end + 2);
      }
      while (unread.length >= 4 && unread.length >= 4 + unread.readUInt32BE()) {
        const length = unread.readUInt32BE();
        const payload = unread.subarray(5, 4 + length - (unread[4] ?? 0));
        unread = unread.subarray(4 + length);
        if (payload[0] === 20) clientInit = payload;
        if (payload[0] === 30) sendReply(payload.subarray(5));
      }
    });

    function sendReply(clientKey: Buffer) {
      const { privateKey, publicKey } = generateKeyPairSync("x25519");
      const x = clientKey.toString("base64url");
      const theirKey = createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
      const secret = diffieHellman({ privateKey, publicKey: theirKey });
      const bare = secret.subarray(secret.findIndex((byte) => byte !== 0));
      const number = (bare[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), bare]) : bare;
      const exchanged = createHash("sha256")
        .update(Buffer.concat([client ?? "", banner, clientInit, own, hostKey].map(encodeString)))
        .update(Buffer.concat([clientKey, exportRaw(publicKey), number].map(encodeString)))
        .digest();
      const proof = Buffer.concat([
        encodeString(signed),
        encodeString(sign(null, exchanged, signer)),
      ]);
      const parts = [hostKey, point ?? exportRaw(publicKey), proof].map(encodeString);
      for (const one of before) socket.write(one);
      socket.write(buildSshPacket([31], ...parts));
    }
  };

const invalidSshAnswer = "The response is not valid for SSH.";
const unproven = "The server does not prove that it has its host key.";
const noCommon = "The server offers no key exchange that is supported.";

export const ssh: Fake = {
  transport: "tcp",
  fields: { fingerprint },
  serve: createSshServer(),
  alsoUp: [
    [createSshServer(), "Proved its host key", { fingerprint: null }],
    // SSH_MSG_IGNORE and SSH_MSG_DEBUG.
    [
      createSshServer({
        before: [
          buildSshPacket([2], encodeString("x")),
          buildSshPacket([4, 0], encodeString("x"), encodeString("")),
        ],
      }),
      "Proved its host key",
    ],
  ],
  up: "Proved its host key",
  details: { server: banner, fingerprint: expect.stringMatching(/^SHA256:/) },
  wrong: [
    [
      createSshServer(),
      "The host key is not the expected one.",
      { fingerprint: `SHA256:${"A".repeat(43)}` },
    ],
    [createSshServer({ signer: other.privateKey }), unproven],
    [createSshServer({ signed: "ssh-rsa" }), unproven],
    [createSshServer({ point: Buffer.alloc(32) }), unproven],
    [createSshServer({ point: Buffer.alloc(5) }), unproven],
    [createSshServer({ init: buildInit({ kex: "sntrup761x25519-sha512" }) }), noCommon],
    [createSshServer({ init: buildInit({ key: "ssh-dss" }) }), noCommon],
    [createSshServer({ init: Buffer.from([20, 1, 2]) }), invalidSshAnswer],
    [
      createSshServer({ before: [buildSshPacket([1, 0, 0, 0, 2])] }),
      "The server closed the connection.",
    ],
    [createSshServer({ before: [buildSshPacket([31], encodeString("x"))] }), invalidSshAnswer],
    [createSshServer({ before: [buildSshPacket([99])] }), invalidSshAnswer],
    [replyOnceTo("SSH-1.5-Old\r\n"), "The server speaks an older version of SSH."],
    [
      replyOnceTo("Exceeded MaxStartups\r\n"),
      "The server accepts no more connections at the moment.",
    ],
    [replyOnceTo("HTTP/1.1 400 Bad Request\r\n\r\n"), invalidSshAnswer],
    [replyOnceTo("220 mail.test ESMTP\r\n"), invalidSshAnswer],
  ],
  greeting: Buffer.from(`${banner}\r\n`),
  flood: "SSH-2.0-",
};
