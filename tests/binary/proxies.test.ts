import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createMachine } from "../support/machine.ts";
import { defineTestWith } from "../support/real-targets.ts";
import {
  createClientAt,
  publicName,
  reverseProxies,
  startReverseProxy,
} from "../support/reverse-proxies.ts";
import { dialPort } from "../support/raw-connection.ts";

const password = "a long enough password";

/** Headers that a client forges. */
const spoofed = {
  "X-Forwarded-For": "198.51.100.1, 127.0.0.1",
  "X-Forwarded-Proto": "http",
  "X-Forwarded-Host": "evil.io",
  Forwarded: "for=198.51.100.1;host=evil.io;proto=http",
  "X-Real-IP": "198.51.100.1",
};

/** An appliance behind the proxy of the guide, and its owner at 127.0.0.2. */
async function startBehindProxy(program: (typeof reverseProxies)[number]) {
  await using started = new AsyncDisposableStack();
  const box = started.use(createMachine());
  const flags = ["--trust-proxy", "127.0.0.1", "--allowed-host", publicName];
  const server = await box.serve({ flags });
  const proxy = started.use(await startReverseProxy(program, server.port));
  const origin = `https://${publicName}:${proxy.port}`;
  const client = started.use(createClientAt("127.0.0.2", proxy));
  const token = (await Bun.file(join(box.dataDir, "set-up-token")).text()).trim();
  const claim = { organization: "Acme", name: "Ada", email: "ada@acme.example", password };
  const claimed = await client.sendThroughProxy("POST", "/dashboard/set-up", {
    headers: { Origin: origin, ...spoofed },
    body: JSON.stringify({ token, ...claim }),
  });
  expect([claimed.status, claimed.status === 201 ? "" : claimed.text]).toEqual([201, ""]);
  const [setCookie = ""] = claimed.headers["set-cookie"] ?? [];
  const headers = { Cookie: setCookie.split(";", 1)[0] ?? "", Origin: origin };
  const running = started.move();
  const dispose = () => running.disposeAsync();
  return { proxy, origin, client, setCookie, headers, [Symbol.asyncDispose]: dispose };
}

for (const program of reverseProxies)
  describe(`behind ${program}, configured as in the guide`, () => {
    defineTestWith(
      [program, "openssl"],
      "people connect over TLS, each with their own address",
      async () => {
        await using result = await startBehindProxy(program);
        const { client, headers, origin, proxy } = result;
        expect(result.setCookie).toEndWith("; Secure");
        const sessions = await client.sendThroughProxy("GET", "/dashboard/sessions/", { headers });
        expect(sessions.json.data.map((one: { address: unknown }) => one.address)).toEqual([
          "127.0.0.2",
        ]);
        const push = JSON.stringify({ type: "push", name: "Job" });
        const monitors = "/dashboard/api/v1/monitors/";
        const asking = { headers: { ...headers, ...spoofed }, body: push };
        const { json } = await client.sendThroughProxy("POST", monitors, asking);
        expect(json.data.pushUrl).toStartWith(`${origin}/push/`);

        const elsewhere = { ...headers, Origin: "https://evil.io" };
        const foreign = await client.sendThroughProxy("POST", monitors, {
          headers: elsewhere,
          body: push,
        });
        expect(foreign.status).toBe(403);
        const rebound = { ...headers, Host: "evil.io", "X-Forwarded-Host": publicName };
        const { text } = await client.sendThroughProxy("GET", "/", { headers: rebound });
        expect(text).not.toContain("<html");

        const look = { headers: { Origin: origin, ...spoofed }, body: '{"token":"wrong"}' };
        using guessing = createClientAt("127.0.0.3", proxy);
        const statuses: number[] = [];
        while (statuses.length < 11)
          statuses.push(
            (await guessing.sendThroughProxy("POST", "/dashboard/invitations/look", look)).status,
          );
        expect(statuses).toEqual([...Array<number>(10).fill(404), 429]);
        expect(
          (await client.sendThroughProxy("POST", "/dashboard/invitations/look", look)).status,
        ).toBe(404);
      },
    );

    defineTestWith(
      [program, "openssl"],
      "live pages get events at once, and uploads arrive complete",
      async () => {
        await using result = await startBehindProxy(program);
        const { client, headers, proxy } = result;
        using listener = createClientAt("127.0.0.2", proxy);
        const live = await listener.open("GET", "/dashboard/live", { headers });
        const events = live[Symbol.asyncIterator]();
        expect(String((await events.next()).value)).toStartWith("retry: 1000");
        const incident = JSON.stringify({ title: "Slow answers" });
        const incidents = "/dashboard/api/v1/incidents/";
        const opened = await client.sendThroughProxy("POST", incidents, {
          headers,
          body: incident,
        });
        expect(opened.status).toBe(201);
        let text = "";
        while (!text.includes("incident.")) text += String((await events.next()).value);

        const ids = Array.from({ length: 5_000 }, () => crypto.randomUUID());
        const group = JSON.stringify({ name: "Payments", monitorIds: ids });
        const long = group.replace("Payments", "x".repeat(100_000));
        const readSent = async (body: string) =>
          (
            await client.sendThroughProxy("POST", "/dashboard/api/v1/monitor-groups/", {
              headers,
              body,
            })
          ).json.error.code;
        expect(await readSent(group)).toBe("NOT_FOUND");
        expect(await readSent(long)).toBe("PAYLOAD_TOO_LARGE");
        // The connection stays open, and the next request gets its own response.
        for (let page = 1; page <= 30; page++) {
          const { json } = await client.sendThroughProxy("GET", `${incidents}?page=${page}`, {
            headers,
          });
          expect(json.meta).toMatchObject({ page, total: 1 });
        }
      },
    );
  });

/** Headers of other proxies, in their order and spelling. */
const written: [proxy: string, lines: string[]][] = [
  [
    "Traefik",
    [
      `Host: ${publicName}`,
      "X-Forwarded-For: 203.0.113.9",
      `X-Forwarded-Host: ${publicName}`,
      "X-Forwarded-Port: 443",
      "X-Forwarded-Proto: https",
      "X-Forwarded-Server: 1c2d3e4f",
      "X-Real-Ip: 203.0.113.9",
    ],
  ],
  [
    "a chain that adds lines of its own",
    [
      "x-forwarded-proto: http",
      "x-forwarded-for: 198.51.100.1, 198.51.100.2",
      "Host: 127.0.0.1",
      "x-forwarded-host: evil.io",
      "X-FORWARDED-FOR: [::ffff:203.0.113.9]:4711",
      `X-Forwarded-Host:    ${publicName}:443   `,
      "X-Forwarded-Proto:HTTPS",
      "X-Forwarded-For: 10.0.0.7",
      "X-Forwarded-Host: inner.lan",
      "X-Forwarded-Proto: http",
    ],
  ],
];

for (const [proxy, lines] of written)
  test(`the headers of ${proxy} identify the client`, async () => {
    await using box = createMachine();
    const flags = ["--trust-proxy", "127.0.0.1", "10.0.0.0/24", "--allowed-host", publicName];
    const { port } = await box.serve({ flags });
    const token = (await Bun.file(join(box.dataDir, "set-up-token")).text()).trim();
    const claim = { organization: "Acme", name: "Ada", email: "ada@acme.example", password };
    const body = JSON.stringify({ token, ...claim });
    const request = async (start: string, more: string[], sent = "") => {
      const line = await dialPort(port);
      const head = [`${start} HTTP/1.1`, ...lines, "Connection: close", ...more];
      line.send(`${head.join("\r\n")}\r\n\r\n${sent}`);
      return line.waitUntilClosed();
    };
    const json = ["Content-Type: application/json", `Content-Length: ${body.length}`];
    const ownOrigin = `Origin: https://${publicName}`;
    const claimed = await request("POST /dashboard/set-up", [ownOrigin, ...json], body);
    expect(claimed).toStartWith("HTTP/1.1 201");
    const [, cookie] = /^set-cookie: (signalbox_session=\w+);.*; Secure\r$/im.exec(claimed) ?? [];
    const sessions = await request("GET /dashboard/sessions/", [`Cookie: ${cookie}`]);
    expect(sessions).toContain('"address":"203.0.113.9"');
  });

test("a port that is reachable without the proxy ignores forwarded headers", async () => {
  await using box = createMachine();
  const { port } = await box.serve({ flags: ["--trust-proxy", "10.0.0.0/24"] });
  const request = async (Host: string) => {
    const headers = { ...spoofed, "X-Forwarded-Host": "localhost", Host };
    return (await fetch(`http://127.0.0.1:${port}/`, { headers })).status;
  };
  expect([await request("localhost"), await request("evil.io")]).toEqual([200, 421]);
});
