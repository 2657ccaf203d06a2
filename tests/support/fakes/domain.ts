import { expect } from "bun:test";
import type { ServeSocket, Fake } from "./fake.ts";

const dayMs = 86_400_000;
const formatDaysAhead = (days: number) =>
  new Date(Date.now() + days * dayMs + dayMs / 2).toISOString();

const buildResponse = (body: string, status: string, header = "") =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/rdap+json\r\n${header}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const replyWithBody =
  (body: string, status = "200 OK", header = ""): ServeSocket =>
  (socket) =>
    void socket.once("data", () => socket.write(buildResponse(body, status, header)));

/** A registry that knows only example.org. */
const createRegistry =
  (domain: object): ServeSocket =>
  (socket) =>
    void socket.once("data", (request: Buffer) => {
      const isKnown = /^GET \/v\d+\/domain\/example\.org HTTP\/1\.1\r\n/.test(request.toString());
      socket.write(
        isKnown
          ? buildResponse(JSON.stringify(domain), "200 OK")
          : buildResponse("", "404 Not Found"),
      );
    });

const registered = { eventAction: "registration", eventDate: "1995-08-31T04:00:00Z" };
const buildExpiration = (eventDate: unknown) => ({ eventAction: "expiration", eventDate });
const buildDomain = (days: number, ...status: string[]) => ({
  objectClassName: "domain",
  ldhName: "EXAMPLE.ORG",
  status: ["client transfer prohibited", ...status],
  events: [null, registered, buildExpiration(formatDaysAhead(days))],
});
const buildEvents = (...events: unknown[]) => JSON.stringify({ ldhName: "example.org", events });

let servedRegistries = 0;

export const domain: Fake = {
  transport: "tcp",
  // Registry responses are cached by address, and ports are reused by other tests.
  at: (host, port) => ({ server: `http://${host}:${port}/v${++servedRegistries}` }),
  fields: { domain: "Example.org." },
  serve: createRegistry(buildDomain(300)),
  up: /The domain expires in 300 days, on \d{4}-\d\d-\d\d \d\d:\d\d UTC; the registry responded/,
  details: { expiresAt: expect.stringMatching(/^\d{4}-.*Z$/) },
  wrong: [
    [
      createRegistry(buildDomain(13)),
      /^The domain expires in 13 days, on \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/,
    ],
    [
      createRegistry(buildDomain(1)),
      /^The domain expires in 1 day, on \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/,
    ],
    [createRegistry(buildDomain(-3)), /^The domain expired on \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/],
    [
      createRegistry(buildDomain(300, "redemption period")),
      "The domain was deleted and can only be restored.",
    ],
    [
      createRegistry(buildDomain(300, "server hold")),
      "The domain is on hold by its registry, and not in the DNS.",
    ],
    [
      createRegistry(buildDomain(300)),
      "The registry does not know this domain: it is not registered, or not under this name.",
      { domain: "www.example.org" },
    ],
    [replyWithBody("", "429 Too Many Requests"), "HTTP 429 (Too Many Requests), expected 200."],
    [
      replyWithBody("", "302 Found", "Location: /v1/domain/example.org\r\n"),
      "Redirected more than 5 times.",
    ],
    [
      replyWithBody("", "302 Found", "Location: file:///etc/passwd\r\n"),
      "Redirected to something that is not an http or https address.",
    ],
    [replyWithBody("no JSON CANARY-7f3a"), "The response is not valid for RDAP."],
    [replyWithBody('{"ldhName":"example.org"}'), "The response is not valid for RDAP."],
    [
      replyWithBody(JSON.stringify({ ldhName: "example.com", events: [] })),
      "The response is about another domain.",
    ],
    [replyWithBody(buildEvents(registered)), "The registry does not say when the domain expires."],
    [
      replyWithBody(buildEvents(buildExpiration("CANARY-7f3a"))),
      "The registry does not say when the domain expires.",
    ],
  ],
  flood: "HTTP/1.1 200 OK\r\n\r\n",
};
