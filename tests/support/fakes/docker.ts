import { type ServeSocket, type Fake } from "./fake.ts";

const replyWithBody =
  (body: string, status = "200 OK"): ServeSocket =>
  (socket) =>
    void socket.once("data", () =>
      socket.write(
        `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    );

/** Lists these containers by name or label. */
const replyWithContainers =
  (...containers: readonly [state: string, status: string][]): ServeSocket =>
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

const upStatus = ["running", "Up 3 hours (healthy)"] as [string, string];
const labelFields = { container: "label=app=shop" };

export const docker: Fake = {
  transport: "tcp",
  at: (host, port, isSecure) => ({ host, port, tls: isSecure }),
  fields: { container: "shop-web" },
  serve: replyWithContainers(upStatus),
  up: "The container is running and healthy, responded",
  details: { state: "running", health: "healthy" },
  alsoUp: [
    [
      replyWithContainers(["Running", "Up 3 hours"]),
      "The container is running, responded",
      {},
      { state: "running" },
    ],
    [
      replyWithContainers(upStatus, upStatus),
      "All 2 containers are running, responded",
      labelFields,
      { containers: 2, running: 2, unhealthy: 0 },
    ],
  ],
  refused: {
    fields: { container: "forbidden" },
    message: "HTTP 403 (Forbidden), expected 200.",
  },
  wrong: [
    [replyWithContainers(), "There is no such container."],
    [replyWithContainers(upStatus), "There is no such container.", { container: "other" }],
    [replyWithContainers(["exited", "Exited (1)"]), "The container is not running but exited."],
    [replyWithContainers(["stopped", ""]), "The container is not running but exited."],
    [
      replyWithContainers(["running", "Up 2 hours (Paused)"]),
      "The container is not running but paused.",
    ],
    [
      replyWithContainers(["running", "Exited (137) 1 hour ago"]),
      "The container is not running but exited.",
    ],
    [
      replyWithContainers(upStatus, ["running", "Up 1 hour (Paused)"]),
      "1 of 2 containers is not running.",
      labelFields,
    ],
    [replyWithContainers(["CANARY-7f3a", ""]), "The container is not running."],
    [replyWithContainers(["running", "Up 1 hour (unhealthy)"]), "The container is unhealthy."],
    [
      replyWithContainers(upStatus, ["dead", ""], upStatus),
      "1 of 3 containers is not running.",
      labelFields,
    ],
    [
      replyWithContainers(upStatus, ["running", "(unhealthy)"]),
      "1 of 2 containers is unhealthy.",
      labelFields,
    ],
    [replyWithBody("[{}]"), "The response is not valid for Docker."],
    [replyWithBody("no JSON"), "The response is not valid for Docker."],
    [replyWithBody("x", "404 Not Found"), "HTTP 404 (Not Found), expected 200."],
  ],
  flood: "HTTP/1.1 200 OK\r\n\r\n",
  tls: "first",
};
