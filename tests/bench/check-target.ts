// A target that responds at once, with 1 MB of text, hangs or streams forever; argv: the port. With further arguments it
// is a baseline instead: a bare loop against that port, of node:http requests `at-once`, or of fetches `a-second`.
import { request } from "node:http";
import { createWorstText } from "../support/bad-expressions.ts";

const [port = "0", manner, number] = process.argv.slice(2);
if (manner === undefined) {
  Bun.serve({
    port: Number(port),
    hostname: "127.0.0.1",
    idleTimeout: 255,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/hang") return new Promise<Response>(() => {});
      if (pathname === "/repeated")
        return new Response(createWorstText(searchParams.get("text") ?? "", 1024 * 1024 - 1_024));
      if (pathname === "/endless") {
        const chunk = new Uint8Array(64 * 1024);
        return new Response(new ReadableStream({ pull: (stream) => stream.enqueue(chunk) }));
      }
      return new Response("ok");
    },
  });
} else {
  let done = 0;
  process.on("SIGTERM", () => {
    process.stdout.write(`${done}\n`);
    process.exit(0);
  });
  const requestByFetch = async () => {
    const url = `http://127.0.0.1:${port}/ok`;
    // Each on a new connection, like checks.
    const response = await fetch(url, { keepalive: false, headers: { Connection: "close" } });
    await response.text();
    done++;
  };
  const requestBySocket = () =>
    new Promise<void>((resolve, reject) => {
      const requested = request(
        { host: "127.0.0.1", port, path: "/ok", agent: false },
        (response) => {
          response.resume();
          response.on("end", resolve);
        },
      );
      requested.on("error", reject);
      requested.end();
    });
  const startedAt = performance.now();
  let begun = 0;
  const beginDue = () => {
    const due = ((performance.now() - startedAt) / 1_000) * Number(number);
    for (; begun < due; begun++) void requestByFetch();
  };
  if (manner === "a-second") setInterval(beginDue, 1_000 / Number(number));
  else
    for (let index = 0; index < Number(number); index++)
      void (async () => {
        for (;;) {
          await requestBySocket();
          done++;
        }
      })();
}
