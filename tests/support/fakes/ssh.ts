import { expect } from "bun:test";
import {
  createHash,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { type Answers, type Fake, says } from "./fake.ts";

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const string = (value: string | Buffer) =>
  Buffer.concat([uint32(Buffer.from(value).length), Buffer.from(value)]);
const packet = (...parts: readonly (Buffer | number[])[]) => {
  const payload = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const padding = 16 - ((payload.length + 5) % 8);
  return Buffer.concat([
    uint32(payload.length + padding + 1),
    Buffer.from([padding]),
    payload,
    Buffer.alloc(padding, 7),
  ]);
};
const raw = (key: KeyObject) => Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");

const keys = generateKeyPairSync("ed25519");
const hostKey = Buffer.concat([string("ssh-ed25519"), string(raw(keys.publicKey))]);
const fingerprint = `SHA256:${createHash("sha256").update(hostKey).digest("base64").slice(0, 43)}`;
const other = generateKeyPairSync("ed25519");

const banner = "SSH-2.0-Fake_1.0";
const init = ({ kex = "sntrup761x25519-sha512,curve25519-sha256", key = "ssh-ed25519" } = {}) =>
  Buffer.concat([
    Buffer.from([20]),
    Buffer.alloc(16, 9),
    ...[kex, key, "aes256-ctr", "aes256-ctr", "hmac-sha2-256", "hmac-sha2-256"].map(string),
    ...["none", "none", "", ""].map(string),
    Buffer.from([0, 0, 0, 0, 0]),
  ]);

type Ways = {
  init?: Buffer;
  /** Signs the exchange. */
  signer?: KeyObject;
  signed?: string;
  point?: Buffer;
  /** Packets before the reply. */
  before?: Buffer[];
};

/** Negotiates Curve25519 and proves an Ed25519 key. */
const server =
  ({
    init: own = init(),
    signer = keys.privateKey,
    signed = "ssh-ed25519",
    point,
    before = [],
  }: Ways = {}): Answers =>
  (socket) => {
    let unread = Buffer.alloc(0);
    let client: string | null = null;
    let clientInit = Buffer.alloc(0);
    socket.write(`Authorized users only\r\n${banner}\r\n`);
    socket.write(packet(own));
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
        if (payload[0] === 30) reply(payload.subarray(5));
      }
    });

    function reply(theirs: Buffer) {
      const { privateKey, publicKey } = generateKeyPairSync("x25519");
      const x = theirs.toString("base64url");
      const theirKey = createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
      const secret = diffieHellman({ privateKey, publicKey: theirKey });
      const bare = secret.subarray(secret.findIndex((byte) => byte !== 0));
      const number = (bare[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), bare]) : bare;
      const exchanged = createHash("sha256")
        .update(Buffer.concat([client ?? "", banner, clientInit, own, hostKey].map(string)))
        .update(Buffer.concat([theirs, raw(publicKey), number].map(string)))
        .digest();
      const proof = Buffer.concat([string(signed), string(sign(null, exchanged, signer))]);
      const parts = [hostKey, point ?? raw(publicKey), proof].map(string);
      for (const one of before) socket.write(one);
      socket.write(packet([31], ...parts));
    }
  };

const not = "The answer is not valid for SSH.";
const unproven = "The server does not prove that it has its host key.";
const noCommon = "The server offers no key exchange that is supported.";

export const ssh: Fake = {
  over: "tcp",
  fields: { fingerprint },
  answers: server(),
  alsoUp: [
    [server(), "Proved its host key", { fingerprint: null }],
    // SSH_MSG_IGNORE and SSH_MSG_DEBUG.
    [
      server({ before: [packet([2], string("x")), packet([4, 0], string("x"), string(""))] }),
      "Proved its host key",
    ],
  ],
  up: "Proved its host key",
  details: { server: banner, fingerprint: expect.stringMatching(/^SHA256:/) },
  wrong: [
    [
      server(),
      "The host key is not the expected one.",
      { fingerprint: `SHA256:${"A".repeat(43)}` },
    ],
    [server({ signer: other.privateKey }), unproven],
    [server({ signed: "ssh-rsa" }), unproven],
    [server({ point: Buffer.alloc(32) }), unproven],
    [server({ point: Buffer.alloc(5) }), unproven],
    [server({ init: init({ kex: "diffie-hellman-group1-sha1" }) }), noCommon],
    [server({ init: init({ key: "ssh-dss" }) }), noCommon],
    [server({ init: Buffer.from([20, 1, 2]) }), not],
    [server({ before: [packet([1, 0, 0, 0, 2])] }), "The server closed the connection."],
    [server({ before: [packet([31], string("x"))] }), not],
    [server({ before: [packet([99])] }), not],
    [says("SSH-1.5-Old\r\n"), "The server speaks an older version of SSH."],
    [says("Exceeded MaxStartups\r\n"), "The server accepts no more connections at the moment."],
    [says("HTTP/1.1 400 Bad Request\r\n\r\n"), not],
    [says("220 mail.test ESMTP\r\n"), not],
  ],
  greeting: Buffer.from(`${banner}\r\n`),
  flood: "SSH-2.0-",
};
