import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Report } from "../../src/operations/diagnostics/diagnostic.ts";
import { runSignalbox } from "../support/binary.ts";
import { createServerClient, createMachine, expectSuccess } from "../support/machine.ts";
import { hasRqlite, type RqliteNode, startOneNode } from "../support/rqlite.ts";
import { createScratch } from "../support/scratch-directories.ts";

const newDirectory = createScratch();
const password = "not-in-any-output";

describe.skipIf(!hasRqlite)("Signalbox on a cluster", () => {
  let node: RqliteNode;
  beforeAll(async () => {
    const auth = join(newDirectory(), "auth.json");
    writeFileSync(auth, JSON.stringify([{ username: "box", password, perms: ["all"] }]));
    node = await startOneNode(["-auth", auth], {
      Authorization: `Basic ${btoa(`box:${password}`)}`,
    });
  });
  afterAll(() => node.kill());

  test("serves, is backed up, names unsupported commands, and never shows its password", async () => {
    await using box = createMachine();
    const { PATH = "" } = process.env;
    const env = { PATH, SIGNALBOX_DATABASE: `rqlite://box:${password}@${node.host}` };
    const run = (...args: string[]) => box.run(args, { env });

    expect(await run("cluster", "status")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("no Signalbox has been started on this database yet"),
    });
    await expectSuccess(run("orgs", "create", "Acme"));
    const key = await expectSuccess(run("keys", "create", "--org", "acme", "--name", "Script"));
    expect(await expectSuccess(run("migrate"))).toBe("The data is up to date.");
    const server = await box.serve({ env });
    const api = createServerClient(server.url, key);
    const { json } = await api("POST", "/api/v1/incidents", { title: "Slow" });
    expect((await api("GET", `/api/v1/incidents/${json.data.id}`)).json.data.title).toBe("Slow");
    // From another process, so that no response is cached.
    await expectSuccess(run("orgs", "create", "Globex"));
    expect(JSON.parse(await expectSuccess(run("orgs", "list", "--json")))).toHaveLength(2);

    const file = join(box.directory, "backup.db");
    await expectSuccess(run("backup", file));
    const other = join(box.directory, "restored");
    const restored = { ...process.env, SIGNALBOX_DATABASE: undefined, SIGNALBOX_DATA_DIR: other };
    const secretKey = join(box.dataDir, "secret.key");
    await expectSuccess(runSignalbox(["restore", file, "--key", secretKey], { env: restored }));
    const listed = await expectSuccess(runSignalbox(["orgs", "list", "--json"], { env: restored }));
    expect(JSON.parse(listed)).toHaveLength(2);

    for (const command of [["compact"], ["restore", file]]) {
      const { exitCode, stderr } = await run(...command);
      expect([command, exitCode, stderr]).toEqual([
        command,
        2,
        expect.stringContaining("--database is not for this command"),
      ]);
    }
    const port = ["--host", "127.0.0.1", "--port", String(server.port), "--ntp", "127.0.0.1:1"];
    const report = JSON.parse((await run("doctor", "--json", ...port)).stdout) as Report;
    const verdicts = report.map(({ subject, verdict }) => `${subject}: ${verdict}`);
    for (const subject of ["node", "schema", "secrets", "server", "port"])
      expect(verdicts).toContain(`${subject}: ok`);
    expect(report.filter(({ verdict }) => verdict === "unusable")).toEqual([]);
    const inArguments = await box.run(
      ["orgs", "list", "--database", `rqlite://box:${password}@${node.host}`],
      { env: { PATH } },
    );
    expect(inArguments.stderr).toContain("other users of this machine can read the password");
    expect((await run("cluster", "export")).exitCode).toBe(5);
    expect(await server.stop()).toBe(0);
    expect(readdirSync(box.dataDir).toSorted()).toEqual([
      "node.id",
      "secret.key",
      "signalbox.lock",
    ]);
    const withoutName = await box.run(["cluster", "import"], { env: { PATH } });
    expect([withoutName.exitCode, withoutName.stderr]).toEqual([
      2,
      expect.stringContaining("--database is needed"),
    ]);
    const down = JSON.parse(await expectSuccess(run("cluster", "export", "--json")));
    expect(down).toMatchObject({
      file: join(box.dataDir, "signalbox.db"),
      tables: expect.any(Number),
    });
    const onFile = { env: { PATH } };
    expect(
      JSON.parse(await expectSuccess(box.run(["orgs", "list", "--json"], onFile))),
    ).toHaveLength(2);
    const up = await run("cluster", "import");
    expect(up.stdout).toMatch(/^The cluster holds \d+ tables with \d+ rows .* each table compared/);
    expect(up.stderr).toContain("already has exactly this data");

    const output = await new Response(server.child.stdout).text();
    for (const text of [output, inArguments.stdout, inArguments.stderr])
      expect(text).not.toContain(password);
    expect(readFileSync(file).includes(password)).toBe(false);
  });
});
