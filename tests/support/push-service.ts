/** A push service with one subscribed browser. It decrypts messages with its own code, as RFC 8291 describes. */
import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  type ECDH,
  hkdfSync,
  randomBytes,
  verify,
} from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PushedMessage } from "../../src/alerting/pushed-message.ts";
import type { Exchange } from "../../src/core/outgoing/http/exchange.ts";
import { writeCertificates } from "./certificates.ts";

type BrowserKeys = { pair: ECDH; auth: Buffer };

/** Decrypts a message of one record (RFC 8188 §2, RFC 8291 §3.4). */
export function decrypt(body: Uint8Array, { pair, auth }: BrowserKeys): string {
  const bytes = Buffer.from(body);
  const [salt, idLength] = [bytes.subarray(0, 16), bytes.readUInt8(20)];
  const senderKey = bytes.subarray(21, 21 + idLength);
  const sealed = bytes.subarray(21 + idLength);
  const derive = (secret: Uint8Array, with_: Uint8Array, info: Uint8Array | string, size: number) =>
    Buffer.from(hkdfSync("sha256", secret, with_, info, size));
  const keyInfo = Buffer.concat([Buffer.from("WebPush: info\0"), pair.getPublicKey(), senderKey]);
  const input = derive(pair.computeSecret(senderKey), auth, keyInfo, 32);
  const key = derive(input, salt, "Content-Encoding: aes128gcm\0", 16);
  const nonce = derive(input, salt, "Content-Encoding: nonce\0", 12);
  const decipher = createDecipheriv("aes-128-gcm", key, nonce).setAuthTag(sealed.subarray(-16));
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  // 2 delimits the last record, and zeros follow it.
  return padded.subarray(0, padded.lastIndexOf(2)).toString();
}

type Claims = { aud: string; exp: number; sub: string };

/** The claims of a signed identification (RFC 8292 §2) and its public key. Throws if the signature is wrong. */
function readIdentification(header: string): Claims & { publicKey: string } {
  const [, token = "", publicKey = ""] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(header) ?? [];
  const [head = "", claims = "", signature = ""] = token.split(".");
  const point = Buffer.from(publicKey, "base64url");
  const key = createPublicKey({
    key: {
      kty: "EC",
      crv: "P-256",
      x: point.subarray(1, 33).toString("base64url"),
      y: point.subarray(33).toString("base64url"),
    },
    format: "jwk",
  });
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${claims}`),
    { key, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  if (!isSigned) throw new Error("The signature is wrong.");
  return { ...(JSON.parse(Buffer.from(claims, "base64url").toString()) as Claims), publicKey };
}

type ReceivedPush = {
  url: string;
  headers: Record<string, string>;
  size: number;
  from: ReturnType<typeof readIdentification>;
  message: PushedMessage;
};

/** A push service that accepts every message, until `respond` is called. */
export function createPushService(endpoint = "https://push.example/send/4f2c9e") {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  const auth = randomBytes(16);
  const received: ReceivedPush[] = [];
  let response = { status: 201, headers: {} as Record<string, string> };

  function receive(url: string, headers: Record<string, string>, body: Uint8Array) {
    const from = readIdentification(headers["authorization"] ?? "");
    const message = JSON.parse(decrypt(body, { pair, auth })) as PushedMessage;
    received.push({ url, headers, size: body.length, from, message });
    return response;
  }

  const exchange: Exchange = async ({ url, headers, body }) => {
    const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const { status, headers: sent } = receive(
      url.href,
      Object.fromEntries(lower),
      body as Uint8Array,
    );
    return { status, headers: new Map(Object.entries(sent)), body: "internal gossip" };
  };

  return {
    /** What a browser stores in Signalbox. */
    subscription: {
      endpoint,
      publicKey: pair.getPublicKey("base64url"),
      auth: auth.toString("base64url"),
    },
    received,
    receive,
    exchange,
    last(): ReceivedPush {
      const push = received.at(-1);
      if (push === undefined) throw new Error("Nothing was pushed.");
      return push;
    },
    respond(status: number, headers: Record<string, string> = {}) {
      response = { status, headers };
    },
  };
}

/** The same over TLS on loopback, for a server that trusts the authority in `env`. */
export async function startPushService() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  writeCertificates(folder);
  const changed = { next: Promise.withResolvers<void>() };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: {
      key: readFileSync(join(folder, "good.key"), "utf8"),
      cert: readFileSync(join(folder, "good.pem"), "utf8"),
    },
    async fetch(request) {
      const { status, headers } = service.receive(
        request.url,
        Object.fromEntries(request.headers),
        await request.bytes(),
      );
      changed.next.resolve();
      changed.next = Promise.withResolvers();
      return new Response(null, { status, headers });
    },
  });
  const service = createPushService(`https://127.0.0.1:${server.port}/send/4f2c9e`);
  return {
    ...service,
    env: { NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") },
    /** Waits for a message that satisfies the condition. */
    async waitFor(isWanted: (message: PushedMessage) => boolean): Promise<PushedMessage> {
      for (;;) {
        const found = service.received.find(({ message }) => isWanted(message));
        if (found !== undefined) return found.message;
        await changed.next.promise;
      }
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      rmSync(folder, { recursive: true });
    },
  };
}
