import { createHash, createHmac, pbkdf2Sync } from "node:crypto";

/** The server side of RFC 5802 for one user, `username`. */
export function createScramServer(
  hash: "sha256" | "sha512",
  username: string,
  password: string,
  count = 4_096,
) {
  const salt = Buffer.from("0123456789abcdef");
  const computeHmac = (key: Uint8Array, text: string) =>
    createHmac(hash, key).update(text).digest();
  let first = "";
  let serverFirst = "";
  return {
    answerFirst(message: string) {
      first = message.slice(3);
      const nonce = /r=(.*)$/.exec(first)?.[1] ?? "";
      serverFirst = `r=${nonce}server,s=${salt.toString("base64")},i=${count}`;
      return serverFirst;
    },
    /** Null for a rejected user. */
    answerFinal(message: string): string | null {
      const [last = "", proof = ""] = message.split(",p=");
      const salted = pbkdf2Sync(password, salt, count, hash === "sha256" ? 32 : 64, hash);
      const auth = `${first},${serverFirst},${last}`;
      const key = computeHmac(salted, "Client Key");
      const mask = computeHmac(createHash(hash).update(key).digest(), auth);
      const expectedProof = Buffer.from(key.map((byte, index) => byte ^ (mask[index] ?? 0)));
      if (!first.includes(`n=${username},`) || expectedProof.toString("base64") !== proof)
        return null;
      return `v=${computeHmac(computeHmac(salted, "Server Key"), auth).toString("base64")}`;
    },
  };
}
