import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import { examineClock, findTimeServers } from "../../../src/operations/diagnostics/clock.ts";
import { createScratch } from "../../support/scratch-directories.ts";
import { replyWith, startTarget } from "../../support/target.ts";
import { startTimeServer } from "../../support/time-server.ts";

const newDirectory = createScratch();
const targets = createTargetGuard(() => []);

describe("the clock is compared with a time server", () => {
  test.each([
    [0, "ok", "agrees with"],
    [10_000, "warning", "is 10 s behind 127.0.0.1"],
    [90_000, "problem", "is 90 s behind 127.0.0.1"],
    [-90_000, "problem", "is 90 s ahead of 127.0.0.1"],
  ])("that is off by %i ms: %s", async (wrongMs, verdict, message) => {
    using server = await startTimeServer(wrongMs);
    const [found] = await examineClock({ ntp: server.ntp, destinations: { hosts: [] }, targets });
    expect(found).toMatchObject({ verdict, message: expect.stringContaining(message) });
    expect(found?.advice?.includes("timedatectl set-ntp true") ?? false).toBe(verdict !== "ok");
  });

  test.each([
    ["does not know the time itself", { stratum: 16 }],
    ["responds to another request", { mark: false }],
  ])("is not compared with a server that %s", async (_what, how) => {
    using server = await startTimeServer(90_000, how);
    const [found] = await examineClock({
      ntp: server.ntp,
      destinations: { hosts: [] },
      targets,
      timeoutMs: 100,
    });
    expect(found).toMatchObject({ verdict: "skipped", subject: "clock" });
  });
});

describe("without a time server", () => {
  test.each([
    [0, "ok"],
    [90_000, "problem"],
  ])(
    "the clock is compared with a web server's date, here off by %i ms: %s",
    async (wrongMs, verdict) => {
      const date = new Date(Date.now() + wrongMs).toUTCString();
      await using site = await startTarget(replyWith(200, "", { date }));
      const hosts = [{ origin: new URL(site.at("/secret/path")) }];
      using lost = await startTimeServer(0, { stratum: 16 });
      const [found] = await examineClock({ ntp: lost.ntp, destinations: { hosts }, targets });
      expect(found).toMatchObject({ verdict, message: expect.stringContaining(`:${site.port}`) });
      expect(site.asked.map(({ method, path }) => [method, path])).toEqual([["HEAD", "/"]]);
    },
  );

  test("and without a web server there is no finding", async () => {
    const [found] = await examineClock({
      ntp: "127.0.0.1:1",
      destinations: { hosts: [] },
      targets,
      timeoutMs: 100,
    });
    expect(found).toMatchObject({ verdict: "skipped" });
  });
});

test("the time servers are those of chrony, ntpd and timesyncd, each once", async () => {
  const root = newDirectory();
  const files = {
    "etc/chrony/chrony.conf":
      "pool ntp.lan iburst\n# server no.lan\nserver 10.0.0.1\nserver fd00::1\n",
    "etc/ntp.conf": "server ntp.lan prefer\nserver 127.127.1.0\n",
    "etc/systemd/timesyncd.conf.d/lan.conf": "[Time]\nNTP=a.lan b.lan\n#FallbackNTP=no.lan\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  expect(await findTimeServers(root)).toEqual([
    "ntp.lan",
    "10.0.0.1",
    "[fd00::1]",
    "a.lan",
    "b.lan",
  ]);
});
