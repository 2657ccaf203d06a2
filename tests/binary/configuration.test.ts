import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runSignalbox, startServer } from "../support/binary.ts";
import { createMachineWithKey } from "../support/machine.ts";

/** The example of docs/configuration-as-code.md, unchanged. */
const readExample = () => {
  const text = readFileSync("docs/configuration-as-code.md", "utf8");
  return /```yaml\n# signalbox\.yaml\n([^]*?)```/.exec(text)?.[1] ?? "";
};

test("the documented example is applied, exported and applied again, offline and by a server, at each start and on SIGHUP", async () => {
  await using box = await createMachineWithKey();
  const { dataDir, directory, key } = box;
  const folder = join(directory, "configuration");
  mkdirSync(folder);
  const file = join(folder, "signalbox.yaml");
  writeFileSync(file, readExample());
  const secrets = {
    SLACK_WEBHOOK_URL: "https://hooks.slack.com/services/T/B/x",
    SHOP_TOKEN: "token",
  };
  const env = { ...process.env, ...secrets };
  const onData = ["--data-dir", dataDir];
  const applied = await runSignalbox(["apply", "-f", file, ...onData], { env });
  expect([applied.exitCode, applied.stdout]).toEqual([
    10,
    expect.stringContaining("+ monitors.shop"),
  ]);
  expect((await runSignalbox(["apply", "-f", folder, ...onData], { env })).exitCode).toBe(0);
  const unset = await runSignalbox(["apply", "-f", file, ...onData]);
  expect([unset.exitCode, unset.stderr]).toEqual([
    2,
    expect.stringMatching(/signalbox\.yaml:\d+:\d+: the variable \w+ is not set/),
  ]);

  const server = await startServer({
    dataDir,
    flags: ["--apply", folder],
    env,
  });
  try {
    const atServer = { ...env, SIGNALBOX_URL: server.url, SIGNALBOX_KEY: key };
    const exported = await runSignalbox(["export"], { env: atServer });
    const copy = join(directory, "export.yaml");
    writeFileSync(copy, exported.stdout);
    expect(await runSignalbox(["apply", "-f", copy], { env: atServer })).toMatchObject({
      exitCode: 0,
      stderr: "",
    });
    writeFileSync(copy, exported.stdout.replace("interval: 30", "intervall: 30"));
    const wrong = await runSignalbox(["apply", "-f", copy], { env: atServer });
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      2,
      expect.stringMatching(/export\.yaml:\d+:\d+: monitors\.\w+\.intervall is not a field/),
    ]);
    writeFileSync(copy, exported.stdout.replace("interval: 30", "interval: 31"));
    const dry = await runSignalbox(["apply", "-f", copy, "--dry-run"], { env: atServer });
    expect([dry.exitCode, dry.stdout]).toEqual([10, expect.stringContaining("interval: 30 → 31")]);

    writeFileSync(file, readExample().replace("interval: 30", "interval: 45"));
    server.child.kill("SIGHUP");
    const reader = server.child.stderr.pipeThrough(new TextDecoderStream()).getReader();
    let logged = "";
    while (!/the configuration was applied.*created=0 changed=2 /.test(logged)) {
      const { value, done } = await reader.read();
      if (done) throw new Error(logged);
      logged += value;
    }
    reader.releaseLock();
    expect((await runSignalbox(["export"], { env: atServer })).stdout).toContain("interval: 45");
  } finally {
    server.child.kill("SIGKILL");
    await server.child.exited;
  }
});

test("apply reports the sources that stay applied when a later one is rejected", async () => {
  await using box = await createMachineWithKey();
  const folder = join(box.directory, "configuration");
  mkdirSync(folder);
  writeFileSync(join(folder, "a.yaml"), "source: first\nmonitors:\n  job: { type: push }\n");
  const wrong = "source: second\nmonitors:\n  job: { type: push, intervall: 30 }\n";
  writeFileSync(join(folder, "b.yaml"), wrong);
  const run = await runSignalbox(["apply", "-f", folder, "--data-dir", box.dataDir]);
  expect(run).toEqual({
    exitCode: 2,
    stdout: expect.stringMatching(/^\+ monitors\.job .*\nfirst: 1 to create, .* Applied\.\n$/),
    stderr: expect.stringContaining("b.yaml:3:"),
  });
});
