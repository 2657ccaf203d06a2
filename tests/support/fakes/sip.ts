import { type Fake, replyOnceTo } from "./fake.ts";

const callIdOf = (request: Buffer | string) => /^Call-ID: (.+)$/im.exec(String(request))?.[1] ?? "";

const buildResponse = (
  request: Buffer | string,
  { status = "200 OK", callId = callIdOf(request), header = "Call-ID" } = {},
) =>
  Buffer.from(
    [
      `SIP/2.0 ${status}`,
      "Via: SIP/2.0/UDP signalbox.invalid;branch=z9hG4bK1;rport=5062",
      `${header}: ${callId}`,
      "CSeq: 1 OPTIONS",
      "Server: Asterisk PBX 20.6.0",
      "Content-Length: 0\r\n\r\n",
    ].join("\r\n"),
  );

export const sip: Fake = {
  transport: "udp",
  fields: { user: "100" },
  serve: (request) =>
    request.includes("OPTIONS sip:100@") ? buildResponse(request, { header: "i" }) : null,
  up: "Responded with 200",
  details: { server: "Asterisk PBX 20.6.0" },
  wrong: [
    [
      (request) => buildResponse(request, { status: "404 Not Found" }),
      "The server responded with 404, expected 200-299.",
    ],
    [
      (request) => buildResponse(request, { status: "503 Service Unavailable" }),
      "The server responded with 503, expected 200-299 or 401.",
      { expectedStatus: ["200-299", "401"] },
    ],
    [() => Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"), "The response is not valid for SIP."],
    [
      (request) => buildResponse(request, { status: "100 Trying" }),
      "Timed out while waiting for the response.",
    ],
    [
      (request) => buildResponse(request, { callId: "another" }),
      "Timed out while waiting for the response.",
    ],
  ],
};

/** The same over TCP and TLS. */
export const sipOverTcp: Fake = {
  transport: "tcp",
  at: (host, port, isSecure) => ({ host, port, transport: isSecure ? "tls" : "tcp" }),
  fields: {},
  serve: (socket) =>
    void socket.once("data", (request: Buffer) => {
      socket.write(buildResponse(request, { status: "100 Trying" }));
      socket.write(buildResponse(request, { callId: "another", status: "500 Other" }));
      socket.write(buildResponse(request));
    }),
  up: "Responded with 200",
  details: { server: "Asterisk PBX 20.6.0" },
  wrong: [
    [replyOnceTo("HTTP/1.1 400 Bad Request\r\n\r\n"), "The response is not valid for SIP."],
    [
      replyOnceTo("SIP/2.0 200 OK\r\nContent-Length: -1\r\n\r\n"),
      "The response is not valid for SIP.",
    ],
  ],
  flood: "SIP/2.0 200 OK\r\nX: ",
  tls: "first",
};
