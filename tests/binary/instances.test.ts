import { expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { binary } from "../support/binary.ts";
import {
  createServerClient,
  createMachine,
  createMachineWithKey,
  expectSuccess,
} from "../support/machine.ts";
import { waitUntil } from "../support/poll.ts";

test("a second instance on the same data exits with 5, and the first continues", async () => {
  await using box = await createMachineWithKey();
  const { url } = await box.serve();
  expect(await box.run(["serve", "--port", "0"])).toEqual({
    exitCode: 5,
    stdout: "",
    stderr: `signalbox: Another Signalbox is running on ${box.dataDir}.\n`,
  });
  expect((await createServerClient(url, box.key)("GET", "/api/v1/incidents")).status).toBe(200);
});

test("a killed server leaves no lock behind", async () => {
  await using box = await createMachineWithKey();
  await (await box.serve()).stop("SIGKILL");
  const { url } = await box.serve();
  expect((await createServerClient(url, box.key)("GET", "/api/v1/incidents")).status).toBe(200);
});

for (const signal of ["SIGTERM", "SIGINT"] as const)
  test(`${signal} ends an idle server with 0`, async () => {
    await using box = createMachine();
    expect(await (await box.serve()).stop(signal)).toBe(0);
  });

test("SIGTERM during the start ends it with 0 as well", async () => {
  await using box = await createMachineWithKey();
  const lock = join(box.dataDir, "signalbox.lock");
  rmSync(lock, { force: true });
  const args = ["serve", "--data-dir", box.dataDir, "--host", "127.0.0.1", "--port", "0"];
  const child = Bun.spawn([binary, ...args], { stdout: "ignore", stderr: "ignore" });
  await waitUntil(() => existsSync(lock));
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});

for (const flag of ["--port", "--public-port"])
  test(`a used ${flag} ends serve with 1 and one sentence, without opening another port`, async () => {
    await using box = createMachine();
    using taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const args = ["serve", "--host", "127.0.0.1", "--port", "0", flag, String(taken.port)];
    const { exitCode, stdout, stderr } = await box.run(args);
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^signalbox: [^\n]+\n$/);
    expect(stderr).toContain(String(taken.port));
    await box.serve();
  });

test("two first starts at once on one unused directory both succeed", async () => {
  await using box = createMachine();
  const runs = [box.run(["orgs", "create", "Acme"]), box.run(["orgs", "create", "Acme"])];
  const slugs = await Promise.all(runs.map(expectSuccess));
  expect(slugs.toSorted()).toEqual(["acme", "acme-2"]);
  const listed = JSON.parse(await expectSuccess(box.run(["orgs", "list", "--json"])));
  expect(listed).toHaveLength(2);
});
