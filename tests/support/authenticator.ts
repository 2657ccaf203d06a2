/** An authenticator in software, for passkeys of tests without a browser. */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

const encodeBase64Url = (bytes: Uint8Array | string) =>
  Buffer.from(bytes as string).toString("base64url");
const hashBytes = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest();

/** CBOR of a byte string with less than 65,536 bytes. */
const encodeCborBytes = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from([0x59, bytes.length >> 8, bytes.length & 255]), bytes]);
const encodeCborText = (text: string) =>
  Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);

type Flags = { verified?: boolean; count?: number; origin?: string; rpId?: string };

/** Creates an authenticator with one passkey for this origin. */
export function createAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const id = randomBytes(16);
  const key = Buffer.concat([
    // {1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y}
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 32]),
    Buffer.from(x, "base64url"),
    Buffer.from([0x22, 0x58, 32]),
    Buffer.from(y, "base64url"),
  ]);
  const buildData = (flags: Flags, attested: boolean) => {
    const { verified = true, count = 0, rpId = new URL(origin).hostname } = flags;
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(count);
    const bits = 0x01 | (verified ? 0x04 : 0) | (attested ? 0x40 : 0);
    const data = Buffer.concat([hashBytes(rpId), Buffer.from([bits]), counter]);
    if (!attested) return data;
    return Buffer.concat([data, Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
  };
  const buildClientData = (type: string, challenge: string, flags: Flags) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: flags.origin ?? origin }));
  const credentialId = encodeBase64Url(id);
  return {
    credentialId,
    /** The response to creation options, as the body of `POST /passkeys`. */
    create({ challenge }: { challenge: string }, flags: Flags = {}) {
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        encodeCborText("fmt"),
        encodeCborText("none"),
        encodeCborText("attStmt"),
        Buffer.from([0xa0]),
        encodeCborText("authData"),
        encodeCborBytes(buildData(flags, true)),
      ]);
      return {
        credentialId,
        clientData: encodeBase64Url(buildClientData("webauthn.create", challenge, flags)),
        attestation: encodeBase64Url(attestation),
        transports: ["internal"],
      };
    },
    /** The response to request options, as the body of `POST /sign-in/passkey`. */
    prove({ challenge }: { challenge: string }, flags: Flags = {}) {
      const clientData = buildClientData("webauthn.get", challenge, flags);
      const data = buildData(flags, false);
      return {
        credentialId,
        clientData: encodeBase64Url(clientData),
        authenticatorData: encodeBase64Url(data),
        signature: encodeBase64Url(
          sign("sha256", Buffer.concat([data, hashBytes(clientData)]), privateKey),
        ),
        userHandle: null as string | null,
      };
    },
  };
}
