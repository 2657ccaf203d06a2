import type { ServeSocket, Fake } from "./fake.ts";

/** Serves documents by path, and 404 for all other paths. */
export const serveDocuments =
  (documents: Readonly<Record<string, unknown>>): ServeSocket =>
  (socket) =>
    void socket.once("data", (request: Buffer) => {
      const path = /^GET (?:\/p\d+)?(\S*)/.exec(request.toString())?.[1] ?? "";
      const body = path in documents ? JSON.stringify(documents[path]) : "";
      const status = path in documents ? "200 OK" : "404 Not Found";
      socket.write(
        `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });

const answerWith =
  (status: string, body: string): ServeSocket =>
  (socket) =>
    void socket.once("data", () =>
      socket.write(`HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    );

/** A page in the format of Statuspage: https://metastatuspage.com/api */
export const buildSummary = (api: string, indicator: string, incidents: object[] = []) => ({
  page: { id: "kctbh9vrtdwd", name: "Supplier", url: "https://status.supplier.example" },
  status: { indicator, description: "" },
  components: [
    { id: "8l4ygp009s5s", name: "API", status: api, group_id: null, group: false },
    { id: "brv1bkgrwx7q", name: "Website", status: "operational", group_id: null, group: false },
  ],
  incidents,
  scheduled_maintenances: [],
});

const serveSummary = (...summary: Parameters<typeof buildSummary>) =>
  serveDocuments({ "/api/v2/summary.json": buildSummary(...summary) });

const unknownPage = "There is no status page in a known format at this address.";
let servedPages = 0;

export const statuspage: Fake = {
  transport: "tcp",
  // Detected formats are cached by address, and ports are reused by other tests.
  at: (host, port) => ({ url: `http://${host}:${port}/p${++servedPages}` }),
  fields: {},
  serve: serveSummary("operational", "none"),
  up: "The status page reports normal operation, read",
  details: { page: "Supplier" },
  alsoUp: [
    [
      serveSummary("operational", "none", [
        { name: "Late mails", status: "monitoring", components: [{ id: "8l4ygp009s5s" }] },
      ]),
      "The status page reports normal operation, read",
      { components: ["8l4ygp009s5s"] },
      { page: "Supplier", incident: "Late mails" },
    ],
  ],
  wrong: [
    [serveSummary("major_outage", "critical"), "The status page reports an outage."],
    [
      serveSummary("major_outage", "major"),
      "The status page reports an outage.",
      { components: ["api"] },
    ],
    [
      serveSummary("operational", "none"),
      "The status page has no component of a chosen name.",
      { components: ["Nothing"] },
    ],
    [serveDocuments({}), unknownPage],
    [answerWith("200 OK", "<html>CANARY-7f3a"), unknownPage],
    [answerWith("200 OK", '{"page":"CANARY-7f3a"}'), unknownPage],
    [
      serveSummary("operational", "none"),
      "The page does not provide the chosen format.",
      { format: "instatus" },
    ],
    [answerWith("503 Service Unavailable", ""), "HTTP 503 (Service Unavailable), expected 200."],
    [
      answerWith("302 Found\r\nLocation: file:///etc/passwd", ""),
      "Redirected to something that is not an http or https address.",
    ],
  ],
  flood: "HTTP/1.1 200 OK\r\n\r\n",
};
