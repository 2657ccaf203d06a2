import { expect, test } from "bun:test";
import type { MonitorType } from "../../../../src/monitoring/monitors/kinds-schema.ts";
import { runCheckOfType, startListener } from "../../../support/check-runs.ts";
import { createHealthServer } from "../../../support/fakes/grpc.ts";

const host = "127.0.0.1";

/** A server that onConnect, and responds to each line. An empty response is none. */
const startLineServer = (greeting: string, respond: (line: string) => string) =>
  startListener((socket) => {
    socket.write(greeting);
    let received = "";
    socket.on("data", (data) => {
      const lines = `${received}${data.toString()}`.split("\r\n");
      received = lines.pop() ?? "";
      for (const line of lines) socket.write(respond(line));
    });
  });

/** SMTP with these extensions. Responds to sign-ins by `signIn`. */
const startSmtp = (ehlo: string, respond: (line: string) => string = () => "502 no\r\n") =>
  startLineServer("220 mail.example\r\n", (line) =>
    line.startsWith("EHLO") ? ehlo : respond(line),
  );

const check = (type: MonitorType, port: number, fields: object = {}) =>
  runCheckOfType(type, { host, port, ...fields });

const user = { tls: "none", username: "probe", password: "p" };

for (const refusal of ["500 Command unrecognized", "502 5.5.2 Error: command not implemented"])
  test(`smtp: a server without extensions, which answers EHLO with “${refusal}”, is greeted by HELO`, async () => {
    await using server = await startSmtp(`${refusal}\r\n`, (line) =>
      line.startsWith("HELO") ? "250 mail.example\r\n" : "502 no\r\n",
    );
    expect(await check("smtp", server.port, { tls: "none" })).toMatchObject({ status: "up" });
    expect(await check("smtp", server.port, { tls: "starttls" })).toMatchObject({
      message: "The server does not offer STARTTLS.",
    });
    expect(await check("smtp", server.port, user)).toMatchObject({
      message: "The server offers no sign-in by password over this connection.",
    });
  });

const login = (line: string) =>
  ({
    "AUTH LOGIN": "334 VXNlcm5hbWU6\r\n",
    "cHJvYmU=": "334 UGFzc3dvcmQ6\r\n",
    "cA==": "235 ok\r\n",
  })[line] ?? "535 no\r\n";

for (const extensions of [
  "250-mail.example\r\n250-AUTH GSSAPI NTLM\r\n250-AUTH=LOGIN\r\n250 8BITMIME\r\n",
  "250-mail.example\r\n250 auth  ntlm\tlogin \r\n",
])
  test(`smtp: mechanisms are found in every list: ${JSON.stringify(extensions)}`, async () => {
    await using server = await startSmtp(extensions, login);
    expect(await check("smtp", server.port, user)).toMatchObject({ status: "up" });
  });

test("smtp: a sign-in that exceeds the length of a command is sent after a challenge", async () => {
  const signIns: string[] = [];
  await using server = await startSmtp("250-mail.example\r\n250 AUTH PLAIN\r\n", (line) => {
    signIns.push(line);
    if (line.length > 510 && line.startsWith("AUTH")) return "500 line too long\r\n";
    return line === "AUTH PLAIN" ? "334 \r\n" : "235 ok\r\n";
  });
  const password = "p".repeat(600);
  expect(await check("smtp", server.port, { ...user, password })).toMatchObject({ status: "up" });
  const response = Buffer.from(`\0probe\0${password}`).toString("base64");
  expect(signIns.slice(0, 2)).toEqual(["AUTH PLAIN", response]);
});

test("smtp: a server that can't start TLS now is not one that does not offer it", async () => {
  await using server = await startSmtp(
    "250-mail.example\r\n250 STARTTLS\r\n",
    () => "454 4.7.0 TLS not available due to a local problem\r\n",
  );
  expect(await check("smtp", server.port)).toMatchObject({
    message: "The server can't start TLS at the moment.",
    serverText: expect.stringContaining("local problem"),
  });
});

for (const [response, message] of [
  ["-DENIED Redis is running in protected mode", "The server is in protected mode"],
  ["-MISCONF Errors writing to the AOF file", "The server can't save its data to disk."],
  ["-CLUSTERDOWN The cluster is down", "The cluster is down."],
  ["-ERR max number of clients reached", "The server responded to PING with an error."],
] as const)
  test(`redis: “${response}” is named, and the organization sees the server's words`, async () => {
    await using server = await startListener((socket) =>
      socket.once("data", () => socket.end(`${response}\r\n`)),
    );
    expect(await check("redis", server.port)).toMatchObject({
      status: "down",
      message: expect.stringContaining(message),
      serverText: expect.stringContaining(response.slice(1)),
    });
  });

test("redis: words of the server that repeat the password are not shown", async () => {
  await using server = await startListener((socket) =>
    socket.once("data", () => socket.end("-WRONGPASS invalid word geheim-1234\r\n")),
  );
  const found = await check("redis", server.port, { password: "geheim-1234" });
  expect(found.message).toBe("The server rejected the password.");
  expect(JSON.stringify(found)).not.toContain("geheim");
});

/** An LDAP bind response with a result code and a message. */
function buildBindResponse(code: number, text: string): Buffer {
  const element = (tag: number, content: Buffer) =>
    Buffer.concat([Buffer.from([tag, content.length]), content]);
  const result = [
    element(0x0a, Buffer.from([code])),
    element(0x04, Buffer.alloc(0)),
    element(0x04, Buffer.from(text)),
  ];
  const id = element(0x02, Buffer.from([1]));
  return element(0x30, Buffer.concat([id, element(0x61, Buffer.concat(result))]));
}

test("ldap: the organization sees why the directory rejects a user, such as an expired password", async () => {
  const text = "80090308: LdapErr: AcceptSecurityContext error, data 532, v3839";
  await using server = await startListener((socket) =>
    socket.once("data", () => socket.end(buildBindResponse(49, `${text}\0`))),
  );
  expect(await check("ldap", server.port, { ...user, password: "secret-1" })).toMatchObject({
    message: "The server rejected the user name or the password.",
    serverText: `The server rejected the user name or the password: ${text}`,
  });
});

/** A SIP response to a request: the status line, then these lines. `CALL` stands for the request's Call-ID. */
const respondBySip = (request: string, first: string, ...lines: string[]) =>
  [first, ...lines, "Content-Length: 0", "", ""]
    .join("\r\n")
    .replace("CALL", /^Call-ID: (.*)$/m.exec(request)?.[1]?.trim() ?? "");

for (const [what, respond] of [
  [
    "after line breaks that keep the connection alive",
    (request: string) => `\r\n\r\n\r\n${respondBySip(request, "SIP/2.0 200 OK", "Call-ID: CALL")}`,
  ],
  [
    "with a folded line",
    (request: string) => respondBySip(request, "SIP/2.0 200 OK", "Call-ID:\r\n  CALL"),
  ],
  [
    "without a reason, in lower case",
    (request: string) => respondBySip(request, "sip/2.0 200", "call-id: CALL"),
  ],
] as const)
  test(`sip: a response ${what} is read`, async () => {
    await using server = await startListener((socket) =>
      socket.on("data", (data) => socket.write(respond(data.toString()))),
    );
    expect(await check("sip", server.port, { transport: "tcp" })).toMatchObject({ status: "up" });
  });

test("ntp: only the response of a server counts, and no other mode", async () => {
  const answer = async (mode: number) => {
    const socket = await Bun.udpSocket({
      hostname: host,
      socket: {
        data(own, message, port, address) {
          const seconds = Math.floor(Date.now() / 1_000) + 2_208_988_800;
          const response = Buffer.alloc(48);
          response.set([0x20 | mode, 2]);
          message.copy(response, 24, 40, 48);
          for (const at of [32, 40]) response.writeUInt32BE(seconds >>> 0, at);
          own.send(response, port, address);
        },
      },
    });
    const fields = { host, port: socket.port, maxOffsetMs: 3_600_000 };
    const { status } = await runCheckOfType("ntp", fields, { timeoutMs: 500 });
    socket.close();
    return status;
  };
  expect([await answer(4), await answer(5), await answer(3)]).toEqual(["up", "down", "down"]);
});

test("grpc: unknown fields of a response are skipped, and the host is sent with its port", async () => {
  const authorities: unknown[] = [];
  const unknown = [
    0x12, 3, 8, 2, 8, 0x1d, 8, 2, 8, 2, 0x21, 8, 2, 8, 2, 8, 2, 8, 2, 0x98, 1, 0xff, 1,
  ];
  const message = [...unknown, 8, 1, ...unknown];
  const serve = createHealthServer([0, 0, 0, 0, message.length, ...message], "0", 200, (headers) =>
    authorities.push(headers[":authority"]),
  );
  await using server = await startListener((socket) => serve(socket, () => socket));
  const service = "shop.Orders";
  expect(await check("grpc", server.port, { service })).toMatchObject({ status: "up" });
  expect(authorities).toEqual([`${host}:${server.port}`]);
});
