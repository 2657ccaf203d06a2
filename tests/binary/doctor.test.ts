import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:tls";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Report } from "../../src/operations/diagnostics/diagnostic.ts";
import { binary, getFreePort } from "../support/binary.ts";
import { expiringDays, writeCertificates } from "../support/certificates.ts";
import {
  createServerClient,
  createMachine,
  createMachineWithKey,
  type ServerClient,
} from "../support/machine.ts";
import { hasPrograms } from "../support/real-targets.ts";
import { canary } from "../support/samples.ts";
import { startTimeServer } from "../support/time-server.ts";
import { waitUntil } from "../support/poll.ts";

type Box = Awaited<ReturnType<typeof createMachineWithKey>>;

/** Free space and disk type of this machine vary. */
const machineSubjects = /^(disk space|growth|room for copies|file system|memory|open files)$/;

async function runDoctor(box: Box, args: string[], env?: Record<string, string>) {
  const { exitCode, stdout, stderr } = await box.run(["doctor", "--json", ...args], {
    ...(env && { env: { ...process.env, ...env } }),
  });
  const report = JSON.parse(stdout) as Report;
  const isWrong = ({ verdict }: { verdict: string }) => !["ok", "skipped"].includes(verdict);
  expect(exitCode).toBe(report.some(isWrong) ? 1 : 0);
  const findings = report.filter(
    ({ subject, ...finding }) => isWrong(finding) && !machineSubjects.test(subject),
  );
  return { report, findings, stderr };
}

/** Hashes of all files, except for SQLite's shared memory. */
function hashFiles(folder: string) {
  const names = readdirSync(folder).filter((name) => !/-shm$|-wal$/.test(name));
  return names.map((name) => [
    name,
    Bun.CryptoHasher.hash("sha256", readFileSync(join(folder, name)), "hex"),
  ]);
}

describe("doctor", () => {
  test("finds nothing on a new appliance, before and while it runs, and changes nothing", async () => {
    await using box = await createMachineWithKey();
    const before = hashFiles(box.dataDir);
    const { report, findings, stderr } = await runDoctor(box, ["--offline", "--port", "0"]);
    expect(findings).toEqual([]);
    expect(stderr).not.toContain("problem");
    for (const finding of report)
      expect(Object.keys(finding)).toEqual(["area", "verdict", "subject", "message", "advice"]);
    expect(hashFiles(box.dataDir)).toEqual(before);
    const { port } = await box.serve();
    // The start finishes a moment after the first response.
    await waitUntil(() => existsSync(join(box.dataDir, "signalbox.url")));
    const running = hashFiles(box.dataDir);
    const beside = await runDoctor(box, [
      "--offline",
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
    ]);
    expect(beside.findings).toEqual([]);
    expect(beside.report.filter(({ area }) => area === "Server")).toMatchObject([
      { subject: "server", verdict: "ok" },
      { subject: "port", verdict: "ok" },
    ]);
    expect(hashFiles(box.dataDir)).toEqual(running);
  });

  test("gives advice for each problem, in a terminal as well", async () => {
    await using box = await createMachineWithKey();
    const server = await box.serve({ flags: ["--allow-target", "169.254.169.254/32"] });
    await setUp(createServerClient(server.url, box.key), {
      "closed port": `http://127.0.0.1:${getFreePort()}`,
      "cloud's own": "http://169.254.169.254",
    });
    await server.stop();
    using wrongClock = await startTimeServer(-90_000);
    const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    chmodSync(join(box.dataDir, "secret.key"), 0o644);
    const args = ["--host", "127.0.0.1", "--port", String(taken.port), "--ntp", wrongClock.ntp];
    const wrong = [...args, "--url", "https://127.0.0.1"];
    const { report, findings } = await runDoctor(box, wrong, { HTTP_PROXY: "http://proxy.lan" });
    const advice = Object.fromEntries(findings.map((one) => [one.subject, one.advice]));
    const expected: Record<string, string> = {
      permissions: `chmod 600 ${box.dataDir}/secret.key`,
      port: "choose another --port",
      "--url": "--trust-proxy",
      clock: "timedatectl set-ntp true",
      "mail server": "Settings → Mail server",
      "http://169.254.169.254": "--allow-target 169.254.169.254/32",
    };
    for (const [subject, what] of Object.entries(expected))
      expect([subject, advice[subject]]).toEqual([subject, expect.stringContaining(what)]);
    expect(findings).toHaveLength(Object.keys(expected).length + 1);
    expect(JSON.stringify(report)).toContain("HTTP_PROXY is set and has no effect");
    expect(JSON.stringify(report)).not.toContain(canary);

    const text = await box.run(["doctor", ...wrong]);
    expect(text.exitCode).toBe(1);
    expect(text.stdout).toMatch(
      /^problem +permissions:\s[^→]*secret\.key\s+is\s+open\s+to\s+others\n +→ /m,
    );
    expect(text.stderr).toMatch(/^signalbox: \d+ problems .*see above what to do\.$/m);
    expect(text.stdout + text.stderr).not.toContain(canary);
    await taken.stop(true);
  });

  test.skipIf(!hasPrograms("openssl"))("counts the days of a channel's certificate", async () => {
    await using box = await createMachineWithKey();
    writeCertificates(box.directory);
    const readFile = (name: string) => readFileSync(join(box.directory, name));
    const https = createServer({ key: readFile("expiring.key"), cert: readFile("expiring.pem") });
    await new Promise<void>((resolve) => https.listen(0, "127.0.0.1", resolve));
    const { port } = https.address() as AddressInfo;
    const server = await box.serve();
    await setUp(createServerClient(server.url, box.key), { Bot: `https://127.0.0.1:${port}` });
    await server.stop();
    using clock = await startTimeServer(0);
    const { findings } = await runDoctor(box, ["--port", "0", "--ntp", clock.ntp], {
      NODE_EXTRA_CA_CERTS: join(box.directory, "authority.pem"),
    });
    https.close();
    expect(findings.find(({ area }) => area === "Alert channels")).toMatchObject({
      verdict: "warning",
      message: expect.stringContaining(`valid for ${expiringDays - 1} days`),
      advice: expect.stringContaining("renew"),
    });
  });

  const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", binary];
  const mayBeNobody =
    process.getuid?.() === 0 && Bun.spawnSync([...asNobody, "version"]).exitCode === 0;

  test.skipIf(!mayBeNobody)(
    "never advises a restore for data that it cannot read for lack of permission",
    async () => {
      await using box = await createMachineWithKey();
      const args = ["doctor", "--offline", "--json", "--port", "0", "--data-dir", box.dataDir];
      const request = () => {
        const { exitCode, stdout } = Bun.spawnSync([...asNobody, ...args]);
        const found = (JSON.parse(stdout.toString()) as Report).filter(
          ({ verdict }) => verdict === "unusable",
        );
        return [exitCode, found.map(({ subject }) => subject), found[0]?.advice];
      };
      const advice = expect.stringMatching(
        /as the account that (owns it|`serve` runs as), or as root/,
      );
      expect(request()).toEqual([3, ["data directory"], advice]);
      for (const name of [".", ".."]) chmodSync(join(box.dataDir, name), 0o755);
      expect(request()).toEqual([3, ["database"], advice]);
    },
  );

  test("creates nothing in an empty place", async () => {
    await using box = createMachine();
    expect((await box.run(["doctor", "--offline"])).exitCode).toBe(3);
    expect(existsSync(box.dataDir)).toBe(false);
  });

  test("rejects an address that is no time server", async () => {
    await using box = createMachine();
    const { exitCode, stderr } = await box.run(["doctor", "--ntp", "a b"]);
    expect([exitCode, stderr.includes("--ntp")]).toEqual([2, true]);
  });
});

/** Creates webhooks to these origins, and an e-mail channel without a mail server. */
async function setUp(api: ServerClient, origins: Record<string, string>) {
  const make = async (body: object) =>
    expect((await api("POST", "/api/v1/alert-channels", body)).status).toBe(201);
  await make({ type: "email", name: "Mail", to: ["a@team.example"] });
  for (const [name, origin] of Object.entries(origins))
    await make({ type: "webhook", name, url: `${origin}/${canary}` });
}
