import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createMachine } from "../support/machine.ts";

test("open streams, read or not, do not block a stop", async () => {
  await using box = createMachine();
  const server = await box.serve();
  const { hostname, port } = new URL(server.url);
  const token = (await Bun.file(join(box.dataDir, "set-up-token")).text()).trim();
  const claim = { organization: "Acme", name: "Ada", email: "ada@acme.example" };
  const signedIn = await fetch(`${server.url}/dashboard/set-up`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin" },
    body: JSON.stringify({ token, ...claim, password: "a long enough password" }),
  });
  expect(signedIn.status).toBe(201);
  const cookie = signedIn.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "";
  const read = await fetch(`${server.url}/dashboard/live`, { headers: { Cookie: cookie } });
  const unread = connect(Number(port), hostname);
  await once(unread, "connect");
  unread.pause();
  unread.write(`GET /dashboard/live HTTP/1.1\r\nHost: ${hostname}\r\nCookie: ${cookie}\r\n\r\n`);
  const reader = read.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  expect(new TextDecoder().decode(value)).toStartWith("retry: 1000\n\n");
  // By now the other connection is a stream as well.
  await fetch(`${server.url}/healthz`);
  const stopping = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - stopping).toBeLessThan(10_000);
  for (;;) if ((await reader?.read())?.done !== false) break;
  unread.destroy();
});
