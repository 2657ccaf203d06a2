/** Key exchange methods of SSH: elliptic curves, and Diffie-Hellman with fixed groups or a group of the server. */
import {
  createECDH,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type JsonWebKey,
  randomBytes,
} from "node:crypto";
import { yieldToEventLoop } from "../../../core/time/event-loop.ts";
import { encodeMpint, encodeString, encodeUint32, toUnsigned } from "./ssh-encoding.ts";

/** Our half of a key exchange. */
export type Agreement = {
  /** Parameters that are hashed before `ours`. */
  parameters: Buffer;
  ours: Buffer;
  /** Throws for an invalid value of the server. */
  deriveSecret: (peerKey: Buffer) => bigint | Promise<bigint>;
};

/** A key exchange method. `create` is null for a group that the server chooses (RFC 4419). */
type Method = { hash: string; create: (() => Agreement | Promise<Agreement>) | null };

/** All methods in order of preference. The last ones are for old devices. */
export const keyAgreements: Record<string, Method> = {
  "curve25519-sha256": { hash: "sha256", create: createX25519 },
  "curve25519-sha256@libssh.org": { hash: "sha256", create: createX25519 },
  "ecdh-sha2-nistp256": { hash: "sha256", create: () => createNistCurve("prime256v1") },
  "ecdh-sha2-nistp384": { hash: "sha384", create: () => createNistCurve("secp384r1") },
  "ecdh-sha2-nistp521": { hash: "sha512", create: () => createNistCurve("secp521r1") },
  "diffie-hellman-group14-sha256": { hash: "sha256", create: () => createGroup(2048) },
  "diffie-hellman-group-exchange-sha256": { hash: "sha256", create: null },
  "diffie-hellman-group15-sha512": { hash: "sha512", create: () => createGroup(3072) },
  "diffie-hellman-group16-sha512": { hash: "sha512", create: () => createGroup(4096) },
  "diffie-hellman-group17-sha512": { hash: "sha512", create: () => createGroup(6144) },
  "diffie-hellman-group18-sha512": { hash: "sha512", create: () => createGroup(8192) },
  "diffie-hellman-group14-sha1": { hash: "sha1", create: () => createGroup(2048) },
  "diffie-hellman-group-exchange-sha1": { hash: "sha1", create: null },
  "diffie-hellman-group1-sha1": { hash: "sha1", create: () => createGroup(1024) },
};

export const importJwk = (key: JsonWebKey) => createPublicKey({ key, format: "jwk" });

const noParameters = Buffer.alloc(0);

/** Key exchange with Curve25519: https://www.rfc-editor.org/rfc/rfc8731 */
function createX25519(): Agreement {
  const { privateKey, publicKey } = generateKeyPairSync("x25519");
  return {
    parameters: noParameters,
    ours: encodeString(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url")),
    deriveSecret(peerKey) {
      const key = importJwk({ kty: "OKP", crv: "X25519", x: peerKey.toString("base64url") });
      return toUnsigned(diffieHellman({ privateKey, publicKey: key }));
    },
  };
}

/** Key exchange with a NIST curve: https://www.rfc-editor.org/rfc/rfc5656#section-4 */
function createNistCurve(curve: string): Agreement {
  const ownKey = createECDH(curve);
  ownKey.generateKeys();
  return {
    parameters: noParameters,
    ours: encodeString(ownKey.getPublicKey()),
    deriveSecret: (peerKey) => toUnsigned(ownKey.computeSecret(peerKey)),
  };
}

/** Constants in the formula of the primes: RFC 2409 §6.2, RFC 3526 §3–7. */
const primeConstants = {
  1024: 129093n,
  2048: 124476n,
  3072: 1690314n,
  4096: 240904n,
  6144: 929484n,
  8192: 4743158n,
} as const;
type GroupBits = keyof typeof primeConstants;

const primes = new Map<GroupBits, bigint>();

/** Returns the prime of a group: 2^n - 2^(n-64) - 1 + 2^64 × (⌊2^(n-130) π⌋ + constant). */
function getPrime(bits: GroupBits): bigint {
  return primes.getOrInsertComputed(bits, () => {
    const exponent = BigInt(bits);
    const middle = computePi(bits - 130) + primeConstants[bits];
    return 2n ** exponent - 2n ** (exponent - 64n) - 1n + (middle << 64n);
  });
}

/** Computes ⌊2^bits π⌋ by Machin's formula, with 32 more bits for the rounding. */
function computePi(bits: number): bigint {
  const one = 1n << BigInt(bits + 32);
  const computeArctan = (inverse: bigint): bigint => {
    const square = inverse * inverse;
    let sum = 0n;
    for (let [term, odd, sign] = [one / inverse, 1n, 1n]; term > 0n; odd += 2n, sign = -sign) {
      sum += (sign * term) / odd;
      term /= square;
    }
    return sum;
  };
  return (4n * (4n * computeArctan(5n) - computeArctan(239n))) >> 32n;
}

const createGroup = (bits: GroupBits) => createDiffieHellman(getPrime(bits), 2n, noParameters);

/** Bounds of the group that the server chooses, and the wanted size, in bits. */
const [minBits, wantedBits, maxBits] = [1024, 2048, 4096] as const;

/** Request for a group of the server: https://www.rfc-editor.org/rfc/rfc4419#section-3 */
export const groupRequest = Buffer.concat([minBits, wantedBits, maxBits].map(encodeUint32));

/** Starts a key exchange with the group of the server; null for an unusable group. */
export async function createServerGroup(p: Buffer, g: Buffer): Promise<Agreement | null> {
  const [prime, generator] = [toUnsigned(p), toUnsigned(g)];
  const bits = prime.toString(2).length;
  const isUsable = bits >= minBits && bits <= maxBits && (prime & 1n) === 1n;
  if (!isUsable || generator <= 1n || generator >= prime - 1n) return null;
  const parameters = Buffer.concat([groupRequest, encodeMpint(prime), encodeMpint(generator)]);
  return await createDiffieHellman(prime, generator, parameters);
}

/** Diffie-Hellman. A short exponent is enough, because no data is encrypted. Node's version takes seconds to start. */
async function createDiffieHellman(
  prime: bigint,
  generator: bigint,
  parameters: Buffer,
): Promise<Agreement> {
  const ownExponent = toUnsigned(randomBytes(32));
  return {
    parameters,
    ours: encodeMpint(await raiseToPower(generator, ownExponent, prime)),
    async deriveSecret(peerKey) {
      const other = toUnsigned(peerKey);
      if (other <= 1n || other >= prime - 1n) throw new Error("The value is outside of the group.");
      return await raiseToPower(other, ownExponent, prime);
    },
  };
}

/** Bits of an exponent between two yields to the event loop. 32 bits of the largest group take about 6 ms. */
const bitsPerTurn = 32;

async function raiseToPower(base: bigint, exponent: bigint, prime: bigint): Promise<bigint> {
  let result = 1n;
  let factor = base;
  for (let [left, done] = [exponent, 1]; left > 0n; left >>= 1n, done++) {
    if ((left & 1n) === 1n) result = (result * factor) % prime;
    factor = (factor * factor) % prime;
    if (done % bitsPerTurn === 0) await yieldToEventLoop();
  }
  return result;
}
