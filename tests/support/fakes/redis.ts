import { canary } from "../samples.ts";
import { type ServeSocket, type Fake, replyOnceTo } from "./fake.ts";

const encodeBulk = (text: string) => `$${text.length}\r\n${text}\r\n`;
const hello = [
  "*14\r\n",
  ...["server", "redis", "version", "7.0.15", "proto"].map(encodeBulk),
  ":2\r\n",
  encodeBulk("id"),
  ":5\r\n",
  ...["mode", "standalone", "role", "master", "modules"].map(encodeBulk),
  "*0\r\n",
].join("");

/** Accepts only a user without a password, like `nopass`. */
const serveWithoutPassword: ServeSocket = (socket) => {
  socket.on("data", (data: Buffer) => {
    if (data.includes("HELLO")) socket.write(hello);
    else if (data.includes("AUTH"))
      socket.write(data.includes("\r\nguest\r\n$0\r\n\r\n") ? "+OK\r\n" : "-WRONGPASS\r\n");
    else socket.write("+PONG\r\n");
  });
};

/** Supports one user, PING and AUTH. */
const serveWithPassword: ServeSocket = (socket) => {
  let isIn = false;
  socket.on("data", (data: Buffer) => {
    const words = data
      .toString()
      .split("\r\n")
      .filter((_, index) => index > 0 && index % 2 === 0);
    if (words[0] === "HELLO") return void socket.write(hello);
    if (words[0] === "AUTH") isIn = words.join(" ") === `AUTH probe ${canary}`;
    const wrong = words[0] === "AUTH" ? "-WRONGPASS invalid username-password pair" : "-NOAUTH";
    socket.write(`${isIn ? (words[0] === "AUTH" ? "+OK" : "+PONG") : wrong}\r\n`);
  });
};

export const redis: Fake = {
  transport: "tcp",
  fields: { username: "probe", password: canary },
  serve: serveWithPassword,
  up: "Answered PING",
  alsoUp: [[serveWithoutPassword, "Answered PING", { username: "guest", password: null }]],
  details: { version: "7.0.15", role: "master", mode: "standalone" },
  refused: { fields: { username: "other" }, message: "The server rejected the password." },
  wrong: [
    [replyOnceTo("-NOAUTH Authentication required.\r\n"), "The server requires a password."],
    [replyOnceTo("-LOADING Redis is loading\r\n"), "The server is still loading its data."],
    [replyOnceTo("-ERR unknown command\r\n"), "The server rejected the password."],
    [replyOnceTo("-XYZ odd\r\n"), "The server responded to AUTH with an error."],
    [replyOnceTo("HTTP/1.1 400 Bad Request\r\n\r\n"), "The response is not valid for Redis."],
    [replyOnceTo("+OK\r\n+PANG\r\n"), "The response is not valid for Redis."],
  ],
  flood: "+",
  tls: "first",
};
