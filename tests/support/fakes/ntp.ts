import { expect } from "bun:test";
import type { Fake } from "./fake.ts";

const ntpEraSeconds = 2_208_988_800;

/** A server of this stratum whose clock is ahead by a number of milliseconds. */
const createNtpServer =
  ({ stratum = 2, aheadMs = 0, first = 0b00_100_100 } = {}) =>
  (question: Buffer) => {
    const response = Buffer.alloc(48);
    response[0] = first;
    response[1] = stratum;
    response.set(question.subarray(40, 48), 24);
    const now = Date.now() + aheadMs;
    for (const at of [32, 40]) {
      response.writeUInt32BE(Math.floor(now / 1000) + ntpEraSeconds, at);
      response.writeUInt32BE(Math.floor(((now % 1000) / 1000) * 2 ** 32), at + 4);
    }
    return response;
  };

export const ntp: Fake = {
  transport: "udp",
  fields: { maxOffsetMs: 60_000, maxStratum: 3 },
  serve: createNtpServer(),
  up: /Stratum 2, its clock differs from this machine's by \d+ ms, responded/,
  details: { stratum: 2, offsetMs: expect.any(Number) },
  wrong: [
    [createNtpServer({ stratum: 0 }), "The server refuses requests (kiss-o'-death)."],
    [createNtpServer({ stratum: 16 }), "The server's clock is not synchronized."],
    [createNtpServer({ first: 0b11_100_100 }), "The server's clock is not synchronized."],
    [createNtpServer({ stratum: 4 }), "The server is of stratum 4, above 3."],
    [
      createNtpServer({ aheadMs: 86_400_000 }),
      /^The server responds, but its clock differs from this machine's by 86\d{6} ms, more than 60000 ms\.$/,
    ],
    [() => Buffer.alloc(48), "Timed out while waiting for the response."],
  ],
};
