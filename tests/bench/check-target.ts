// A target that answers at once, with 1 MB of a text, hangs or streams for ever; argv: the port. With a second argument it
// is the floor instead: a bare node:http loop of so many requests at a time against that port.
import { request } from "node:http";
import { worstText } from "../support/bad-expressions.ts";

const [port = "0", concurrency] = process.argv.slice(2);
if (concurrency === undefined) {
  Bun.serve({
    port: Number(port),
    hostname: "127.0.0.1",
    idleTimeout: 255,
    fetch(asked) {
      const { pathname, searchParams } = new URL(asked.url);
      if (pathname === "/hang") return new Promise<Response>(() => {});
      if (pathname === "/repeated")
        return new Response(worstText(searchParams.get("text") ?? "", 1024 * 1024 - 1_024));
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
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port, path: "/ok", agent: false }, (answer) => {
        answer.resume();
        answer.on("end", resolve);
      });
      asked.on("error", reject);
      asked.end();
    });
  for (let index = 0; index < Number(concurrency); index++)
    void (async () => {
      for (;;) {
        await one();
        done++;
      }
    })();
}
