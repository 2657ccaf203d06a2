import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSystemClock } from "../../../src/core/time/clock.ts";
import { parseDenied, createTargetGuard } from "../../../src/core/security/target-guard.ts";
import { examineHost, examineNetwork } from "../../../src/operations/diagnostics/hosts.ts";
import { getFreePort } from "../../support/binary.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import { startSecureListener } from "../../support/secure-listener.ts";
import { canBeSilent, openSilentAddress } from "../../support/silent-address.ts";
import { startTarget } from "../../support/target.ts";

const newDirectory = createScratch();
const deny = parseDenied("*.denied.lan") ?? { name: "" };
const targets = createTargetGuard(() => [{ host: "127.0.0.1", port: 3210 }], { denied: [deny] });

const examine = (origin: string, timeoutMs?: number) =>
  examineHost(
    { origin: new URL(origin), channels: ["Slack “Ops” of Acme"] },
    { targets, clock: readSystemClock, ...(timeoutMs !== undefined && { timeoutMs }) },
  );

test("a host that accepts connections is sent nothing", async () => {
  await using site = await startTarget();
  const found = await examine(site.at());
  expect(found).toEqual({
    verdict: "ok",
    subject: `http://127.0.0.1:${site.port}`,
    message: "takes connections, for Slack “Ops” of Acme",
    advice: null,
  });
  expect(site.asked).toEqual([]);
});

describe("an unreachable alert host is reported with a next step:", () => {
  test.each([
    ["a blocked address", "http://169.254.1.2", "link-local", "--allow-target 169.254.1.2/32"],
    ["a blocked IPv6 address", "http://[fe80::1]", "link-local", "--allow-target fe80::1/128"],
    [
      "this appliance",
      "http://127.0.0.1:3210",
      "this appliance itself",
      "enter the address of the service",
    ],
    ["a denied name", "https://chat.denied.lan", "--deny-target", "Change --deny-target"],
    ["a closed port", `http://127.0.0.1:${getFreePort()}`, "refused", "curl -v http://127.0.0.1"],
  ])("%s", async (_what, origin, message, advice) => {
    expect(await examine(origin)).toMatchObject({
      verdict: "problem",
      message: expect.stringContaining(message),
      advice: expect.stringContaining(advice),
    });
  });

  test.skipIf(!canBeSilent)("a silent port", async () => {
    using silent = openSilentAddress();
    expect(await examine(`http://127.0.0.1:${silent.port}`, 100)).toMatchObject({
      verdict: "problem",
      message: expect.stringContaining("Timed out"),
      advice: expect.stringContaining("a firewall"),
    });
  });

  test.each([
    ["selfSigned", "self-signed"],
    ["expired", "expired"],
  ] as const)("a certificate that is %s", async (name, message) => {
    await using server = await startSecureListener(name);
    expect(await examine(`https://127.0.0.1:${server.port}`)).toMatchObject({
      verdict: "problem",
      message: expect.stringContaining(message),
      advice: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
    });
  });
});

describe("the network", () => {
  const writeRoute = (text: string) => {
    const root = newDirectory();
    mkdirSync(join(root, "proc/net"), { recursive: true });
    writeFileSync(join(root, "proc/net/route"), `Iface\tDestination\tGateway\n${text}`);
    return root;
  };
  const writeLanRoute = () => writeRoute("eth0\t000200C0\t00000000\n");
  const readVerdicts = async (hosts: string[], root: string) =>
    (await examineNetwork(hosts, root)).map(({ subject, verdict }) => `${subject}: ${verdict}`);

  test("of an offline machine is ok if all alerts stay in the LAN", async () => {
    const expectedOk = ["name servers: skipped", "default route: ok"];
    expect(await readVerdicts(["192.168.1.5", "127.0.0.1"], writeLanRoute())).toEqual(expectedOk);
    expect(await readVerdicts([], writeLanRoute())).toEqual(expectedOk);
  });

  test("needs a default route to hosts outside the LAN", async () => {
    const out = writeRoute("eth0\t00000000\t010200C0\n");
    expect((await readVerdicts(["8.8.8.8"], writeLanRoute()))[1]).toBe("default route: problem");
    expect((await readVerdicts(["8.8.8.8"], out))[1]).toBe("default route: ok");
  });
});
