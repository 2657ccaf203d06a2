import { type Answers, type Fake } from "./fake.ts";

const answerWith =
  (body: string, status = "200 OK"): Answers =>
  (socket) =>
    void socket.once("data", () =>
      socket.write(
        `HTTP/1.1 ${status}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    );

/** Lists these containers by name or label. */
const answerWithContainers =
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
  answers: answerWithContainers(up),
  up: "The container is running and healthy, responded",
  details: { state: "running", health: "healthy" },
  alsoUp: [
    [
      answerWithContainers(up, up),
      "All 2 containers are running, responded",
      byLabel,
      { containers: 2, running: 2, unhealthy: 0 },
    ],
  ],
  refused: {
    fields: { container: "forbidden" },
    message: "HTTP 403 (Forbidden), expected 200.",
  },
  wrong: [
    [answerWithContainers(), "There is no such container."],
    [answerWithContainers(up), "There is no such container.", { container: "other" }],
    [answerWithContainers(["exited", "Exited (1)"]), "The container is not running but exited."],
    [
      answerWithContainers(["running", "Up 2 hours (Paused)"]),
      "The container is not running but paused.",
    ],
    [
      answerWithContainers(["running", "Exited (137) 1 hour ago"]),
      "The container is not running but exited.",
    ],
    [
      answerWithContainers(up, ["running", "Up 1 hour (Paused)"]),
      "1 of 2 containers is not running.",
      byLabel,
    ],
    [answerWithContainers(["CANARY-7f3a", ""]), "The container is not running."],
    [answerWithContainers(["running", "Up 1 hour (unhealthy)"]), "The container is unhealthy."],
    [answerWithContainers(up, ["dead", ""], up), "1 of 3 containers is not running.", byLabel],
    [
      answerWithContainers(up, ["running", "(unhealthy)"]),
      "1 of 2 containers is unhealthy.",
      byLabel,
    ],
    [answerWith("[{}]"), "The response is not valid for Docker."],
    [answerWith("no JSON"), "The response is not valid for Docker."],
    [answerWith("x", "404 Not Found"), "HTTP 404 (Not Found), expected 200."],
  ],
  flood: "HTTP/1.1 200 OK\r\n\r\n",
  tls: "first",
};
