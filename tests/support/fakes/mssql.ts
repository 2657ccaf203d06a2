import { type Fake, replyOnceTo } from "./fake.ts";

const options = [0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 16, 0, 0x10, 0x04, 0, 0, 0];
const buildHead = (length: number) => [4, 1, length >> 8, length & 0xff, 0, 0, 1, 0];

export const mssql: Fake = {
  transport: "tcp",
  fields: {},
  serve: replyOnceTo(Buffer.from([...buildHead(26), ...options])),
  up: "Answered the pre-login",
  details: { version: "16.0.4100" },
  wrong: [
    [replyOnceTo("HTTP/1.1 400 Bad Request\r\n\r\n"), "The response is not valid for SQL Server."],
    [replyOnceTo(Buffer.from([...buildHead(8)])), "The response is not valid for SQL Server."],
    [
      replyOnceTo(Buffer.from([...buildHead(26), 0, 0xff, ...options.slice(2)])),
      "The response is not valid for SQL Server.",
    ],
  ],
  // One packet has at most 64 KiB.
  flood: Buffer.from([4, 1, 0xff, 0xff, 0, 0, 1, 0]),
};
