import { type Answers, type Fake } from "./fake.ts";

const answering =
  (body: string, status = "200 OK"): Answers =>
  (socket) =>
    void socket.once("data", () =>
      socket.write(
        `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    );

/** Lists these containers by name or label. */
const listing =
  (...containers: readonly [state: string, status: string][]): Answers =>
  (socket) =>
    void socket.once("data", (request: Buffer) => {
      const query = decodeURIComponent(request.toString());
      if (query.includes("forbidden"))
        return void socket.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
      const isMeant = query.includes('"^/?shop-web$"') || query.includes('{"label":["app=shop"]}');
      const list = containers.map(([State, Status]) => ({ State, Status }));
      const body = JSON.stringify(isMeant ? list : []);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });

const up = ["running", "Up 3 hours (healthy)"] as [string, string];
const byLabel = { container: "label=app=shop" };

export const docker: Fake = {
  over: "tcp",
  at: (host, port, isSecure) => ({ host, port, tls: isSecure }),
  fields: { container: "shop-web" },
  answers: listing(up),
  up: "The container is running and healthy, answered",
  details: { state: "running", health: "healthy" },
  alsoUp: [
    [
      listing(up, up),
      "All 2 containers are running, answered",
      byLabel,
      { containers: 2, running: 2, unhealthy: 0 },
    ],
  ],
  refused: {
    fields: { container: "forbidden" },
    message: "HTTP 403 (Forbidden), expected 200.",
  },
  wrong: [
    [listing(), "There is no such container."],
    [listing(up), "There is no such container.", { container: "other" }],
    [listing(["exited", "Exited (1)"]), "The container is not running but exited."],
    [listing(["running", "Up 2 hours (Paused)"]), "The container is not running but paused."],
    [listing(["running", "Exited (137) 1 hour ago"]), "The container is not running but exited."],
    [listing(up, ["running", "Up 1 hour (Paused)"]), "1 of 2 containers is not running.", byLabel],
    [listing(["CANARY-7f3a", ""]), "The container is not running."],
    [listing(["running", "Up 1 hour (unhealthy)"]), "The container is unhealthy."],
    [listing(up, ["dead", ""], up), "1 of 3 containers is not running.", byLabel],
    [listing(up, ["running", "(unhealthy)"]), "1 of 2 containers is unhealthy.", byLabel],
    [answering("[{}]"), "The answer is not valid for Docker."],
    [answering("no JSON"), "The answer is not valid for Docker."],
    [answering("x", "404 Not Found"), "HTTP 404 (Not Found), expected 200."],
  ],
  flood: "HTTP/1.1 200 OK\r\n\r\n",
  tls: "first",
};
