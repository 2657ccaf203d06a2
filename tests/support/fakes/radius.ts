import { createHash, createHmac } from "node:crypto";
import { canary } from "../samples.ts";
import type { Fake } from "./fake.ts";

const sharedSecret = `${canary}-shared`;

/** Responds with this code, signed with this secret. */
const createAnswer =
  (code: number, secret = sharedSecret) =>
  (request: Buffer) => {
    const reply = "Welcome on board";
    const attributes = Buffer.concat([
      Buffer.from([80, 18]),
      Buffer.alloc(16),
      Buffer.from([18, reply.length + 2]),
      Buffer.from(reply),
    ]);
    const response = Buffer.concat([
      Buffer.from([code, request[1] ?? 0, 0, 20 + attributes.length]),
      request.subarray(4, 20),
      attributes,
    ]);
    createHmac("md5", secret).update(response).digest().copy(response, 22);
    createHash("md5").update(response).update(secret).digest().copy(response, 4);
    return response;
  };

/** The password of a request, which fits into one block. */
function decryptPassword(request: Buffer): string {
  let at = 20;
  while (request[at] !== 2) at += request[at + 1] ?? 0;
  const mask = createHash("md5").update(sharedSecret).update(request.subarray(4, 20)).digest();
  const plain = request.subarray(at + 2, at + 18).map((byte, index) => byte ^ (mask[index] ?? 0));
  return Buffer.from(plain).toString().replace(/\0+$/, "");
}

export const radius: Fake = {
  transport: "udp",
  fields: { secret: sharedSecret, username: "probe", password: canary },
  serve: (request) => createAnswer(decryptPassword(request) === canary ? 2 : 3)(request),
  up: "Accepted the user",
  details: { reply: "Welcome on board" },
  refused: {
    fields: { password: "other" },
    message: "The server rejected the user name or the password.",
  },
  wrong: [
    [createAnswer(11), "The server requires more than a password."],
    [createAnswer(5), "The response is not valid for RADIUS."],
    [createAnswer(2, "another"), "The response is not signed with the shared secret."],
    [
      (request) => createAnswer(2)(request).fill(1, 22),
      "The response is not signed with the shared secret.",
    ],
  ],
};
