import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTargetGuard } from "../../src/core/security/target-guard.ts";
import { buildDnsRecord, tryHost } from "../../src/status-pages/site/host-check-service.ts";
import { unknownId } from "../support/appliance.ts";
import { getFreePort } from "../support/binary.ts";
import { writeSelfSigned } from "../support/certificates.ts";
import { createDashboard } from "../support/dashboard.ts";
import { startDnsmasq, hasPrograms, startSilentNameServer } from "../support/real-targets.ts";
import { startSecureListener } from "../support/secure-listener.ts";
import { replyWith, hang, startTarget } from "../support/target.ts";
import { signInMember } from "../support/people.ts";

const host = "status.acme.example";
const page = { slug: "acme", visibility: "public" } as const;
const figures = JSON.stringify({ page: { slug: "acme", title: "Acme" } });
const csp = { "content-security-policy": "default-src 'none'; frame-ancestors 'self'" };

const guard = (...ports: number[]) =>
  createTargetGuard(() => ports.map((port) => ({ host: "127.0.0.1", port })));

describe.if(hasPrograms("dnsmasq"))("a host name of a status page", () => {
  let dns: Awaited<ReturnType<typeof startDnsmasq>>;
  beforeAll(async () => {
    dns = await startDnsmasq(
      `--host-record=${host},127.0.0.1`,
      "--host-record=cloud.acme.example,169.254.169.254",
    );
  });
  afterAll(() => dns[Symbol.asyncDispose]());

  const attempt = (
    origin: string,
    {
      name = host,
      targets = guard(),
      certificate = null as string | null,
      nameServers = [`127.0.0.1:${dns.port}`],
      of = page as Parameters<typeof tryHost>[0],
    } = {},
  ) => tryHost(of, name, { targets, origin, certificate, nameServers });

  test("works if it shows the page", async () => {
    await using server = await startTarget(replyWith(200, figures));
    expect(await attempt(`http://10.1.2.3:${server.port}`)).toEqual({
      host,
      address: `http://${host}:${server.port}`,
      record: { type: "A", value: "10.1.2.3" },
      works: true,
      message: `http://${host}:${server.port} shows this page.`,
      certificateExpiresAt: null,
    });
    expect(server.asked.map(({ path, headers }) => [path, headers.host])).toEqual([
      ["/status.json", `${host}:${server.port}`],
    ]);
  });

  test("of a hidden or restricted page works if it returns that page's 403 or 404", async () => {
    for (const [visibility, status] of [
      ["password", 403],
      ["signed-in", 403],
      ["addresses", 403],
      ["hidden", 404],
    ] as const) {
      const checkedPage = { ...page, visibility };
      await using ours = await startTarget(replyWith(status, "", csp));
      expect((await attempt(`http://box.example:${ours.port}`, { of: checkedPage })).works).toBe(
        true,
      );
      await using other = await startTarget(replyWith(status));
      expect((await attempt(`http://box.example:${other.port}`, { of: checkedPage })).works).toBe(
        false,
      );
    }
  });

  test("reports the missing part", async () => {
    await using other = await startTarget(replyWith(200, "Welcome to nginx!"));
    await using second = await startTarget(replyWith(200, figures.replace("acme", "acme-2")));
    const refused = getFreePort();
    const elsewhere = "shows something else: the DNS record or the reverse proxy leads elsewhere.";
    const at = (port: number) => `http://${host}:${port}`;
    const cases: [origin: string, name: string, message: string][] = [
      ["https://box.example", "nobody.acme.example", "There is no DNS record for this name yet."],
      [at(other.port), host, `${at(other.port)} ${elsewhere}`],
      [at(second.port), host, `${at(second.port)} ${elsewhere}`],
      [at(refused), host, `${at(refused)} does not work yet: the connection was refused.`],
      [
        "http://box.example",
        "cloud.acme.example",
        "The name leads to an address that is a link-local address, where cloud machines keep their credentials.",
      ],
    ];
    for (const [origin, name, message] of cases)
      expect(await attempt(origin, { name })).toMatchObject({ works: false, message });
  });

  test("needs a trusted certificate with its name", async () => {
    await using server = await startSecureListener("wrongName");
    const { works, message } = await attempt(`https://box.example:${server.port}`);
    expect(works).toBe(false);
    expect(message).toStartWith(
      `https://${host}:${server.port} does not work yet: the certificate`,
    );
  });

  test("that leads to this appliance is not connected to; the appliance's own certificate is checked", async () => {
    await using server = await startTarget(replyWith(200, figures));
    const targets = guard(server.port);
    const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
    const readPem = (name: string) =>
      readFileSync(writeSelfSigned(folder, name, `DNS:${name}`).cert, "utf8");
    const [named, another] = [readPem("status.acme.example"), readPem("other.example")];
    rmSync(folder, { recursive: true });
    const readText = async (scheme: string, certificate: string | null) => {
      const origin = `${scheme}://box.example:${server.port}`;
      const { works, message } = await attempt(origin, { targets, certificate });
      return [works, message];
    };
    const success = "The name leads to this appliance";
    expect(await readText("http", null)).toEqual([true, `${success}.`]);
    expect(await readText("https", named)).toEqual([
      true,
      `${success}, and its certificate is for this name.`,
    ]);
    expect(await readText("https", another)).toEqual([
      false,
      `${success}, but its certificate is for another name.`,
    ]);
    expect(await readText("https", null)).toEqual([false, `${success}, which does not use TLS.`]);
    expect(server.asked).toEqual([]);
  });

  test("has a timeout: silent name servers and servers are given up", async () => {
    await using silent = await startSilentNameServer();
    await using server = await startTarget(hang);
    const nameServers = [`127.0.0.1:${silent.port}`];
    const [unnamed, unanswered] = await Promise.all([
      attempt("http://box.example", { nameServers }),
      attempt(`http://box.example:${server.port}`),
    ]);
    expect(unnamed).toMatchObject({
      works: false,
      message: `http://${host} does not work yet: the name servers of this machine don't respond.`,
    });
    expect(unanswered.message).toContain("timed out");
  });
});

test("the suggested DNS record of a host name points to the appliance's address", () => {
  expect(buildDnsRecord("https://signalbox.acme.example:8443")).toEqual({
    type: "CNAME",
    value: "signalbox.acme.example",
  });
  expect(buildDnsRecord("http://192.168.1.5:3210")).toEqual({ type: "A", value: "192.168.1.5" });
  expect(buildDnsRecord("http://[2001:db8::1]")).toEqual({ type: "AAAA", value: "2001:db8::1" });
  for (const here of ["localhost:3210", "127.0.0.1:3210", "[::1]"])
    expect([here, buildDnsRecord(`http://${here}`)]).toEqual([here, null]);
});

test("only host names of the page are checked, and only a limited number per minute", async () => {
  const dashboard = await createDashboard();
  const { page: browser } = await signInMember(dashboard, "member");
  const [{ id }] = (await dashboard.api("GET", "/api/v1/status-pages")).json.data;
  const check = (body: object, of = id) =>
    browser("POST", `/dashboard/status-pages/${of}/host-check`, { body });
  const refused = await check({ host: "elsewhere.example" });
  expect([refused.status, refused.json.error.details[0].path]).toEqual([422, "host"]);
  expect((await check({ host: "elsewhere.example" }, unknownId)).status).toBe(404);
  await dashboard.api("PATCH", `/api/v1/status-pages/${id}`, {
    body: { hosts: ["status.invalid"] },
  });
  dashboard.appliance.hostCheckLimit = { take: () => 7, refund: () => {} };
  const limited = await check({ host: "status.invalid" });
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "7"]);
});
