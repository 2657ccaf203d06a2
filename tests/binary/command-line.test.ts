import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { binary, runSignalbox } from "../support/binary.ts";
import {
  createServerClient,
  createMachine,
  createMachineWithKey,
  expectSuccess,
} from "../support/machine.ts";
import { waitUntil } from "../support/poll.ts";

const newKey = ["keys", "create", "--org", "acme", "--name", "Script"];
const keyShape = /^sbx_[0-9A-Za-z]{43}$/;

// /dev/full rejects every write, as a full disk does.
test.if(process.platform === "linux")(
  "a command whose output is lost fails with the reason, and ends",
  async () => {
    await using box = await createMachineWithKey();
    const data = ["--data-dir", box.dataDir];
    const commands = [
      ["version"],
      ["licenses"],
      ["--help"],
      ["completion", "bash"],
      ["keys", "list", ...data],
      ["export", "--org", "acme", ...data],
      ["audit-log", "export", "--org", "acme", ...data],
      ["doctor", "--offline", ...data],
    ];
    for (const command of commands) {
      const child = Bun.spawn([binary, ...command], {
        stdout: Bun.file("/dev/full"),
        stderr: "pipe",
      });
      expect([command, await new Response(child.stderr).text(), await child.exited]).toEqual([
        command,
        "signalbox: ENOSPC: no space left on device, write\n",
        1,
      ]);
    }
  },
);

describe("data is written to stdout, messages to stderr", () => {
  test("creating an organization prints its slug and nothing else", async () => {
    await using box = createMachine();
    const run = await box.run(["orgs", "create", "Zoë & Søn"]);
    const stderr = `Created the data directory ${box.dataDir}.\n`;
    expect(run).toEqual({ exitCode: 0, stdout: "zoe-son\n", stderr });
  });

  test("creating a key prints only the key to stdout, and a warning to stderr", async () => {
    await using box = await createMachineWithKey();
    const { exitCode, stdout, stderr } = await box.run(newKey);
    expect([exitCode, keyShape.test(stdout.trim())]).toEqual([0, true]);
    expect(stderr).toContain("not shown again");
  });

  test("a key expires at the given time", async () => {
    await using box = await createMachineWithKey();
    await expectSuccess(box.run([...newKey, "--expires", "30d"]));
    const keys = JSON.parse(await expectSuccess(box.run(["keys", "list", "--json"])));
    const [forever, month] = keys;
    expect(forever.expiresAt).toBeNull();
    expect(Date.parse(month.expiresAt) - Date.parse(month.createdAt)).toBe(30 * 86_400_000);
  });

  test("lists have a heading and a line for each row", async () => {
    await using box = await createMachineWithKey();
    const [heading, row, ...others] = (await expectSuccess(box.run(["orgs", "list"]))).split("\n");
    expect(heading).toMatch(/^slug +name +createdAt$/);
    expect(row).toMatch(/^acme +Acme +\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
    expect(others).toEqual([]);
    const keys = await expectSuccess(box.run(["keys", "list", "--org", "acme"]));
    expect(keys).toContain("Script");
    expect(keys).not.toContain("sbx_");
  });

  test("an audit log is exported as CSV or JSON Lines, each entry once", async () => {
    await using box = await createMachineWithKey();
    await expectSuccess(box.run(newKey));
    const args = ["audit-log", "export", "--org", "acme"];
    const csv = (await expectSuccess(box.run(args))).split("\r\n");
    const lines = (await expectSuccess(box.run([...args, "--format", "jsonl"]))).split("\n");
    const document = JSON.parse(await expectSuccess(box.run([...args, "--json"])));
    expect(lines.map((line) => JSON.parse(line))).toEqual(document);
    expect(document.map(({ action }: { action: string }) => action)).toEqual([
      "organization.created",
      "api-key.created",
      "api-key.created",
    ]);
    expect(csv).toHaveLength(4);
    const wrong = await box.run([...args, "--format", "xml"]);
    expect([wrong.exitCode, wrong.stdout]).toEqual([2, ""]);
  });

  test("compact frees the space of removed rows, and needs exclusive access", async () => {
    await using box = await createMachineWithKey();
    const file = join(box.dataDir, "signalbox.db");
    const rows = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
      INSERT INTO heartbeats SELECT 1, i, 0, 3, 60, 'some text of a result', NULL FROM n`;
    const database = new Database(file);
    database.run(rows);
    database.run("DELETE FROM heartbeats WHERE at > 10");
    database.close();
    const server = await box.serve();
    expect((await box.run(["compact"])).exitCode).toBe(5);
    await server.stop();
    const { before, after } = JSON.parse(await expectSuccess(box.run(["compact", "--json"])));
    expect([before > 2_000_000, after < 1_500_000, statSync(file).size]).toEqual([
      true,
      true,
      after,
    ]);
    const left = new Database(file, { readonly: true });
    expect(left.query("SELECT count(*) FROM heartbeats").values()).toEqual([[10]]);
    left.close();
    expect(JSON.parse(await expectSuccess(box.run(["orgs", "list", "--json"])))).toHaveLength(1);
  });

  test("version prints the version", async () => {
    expect(await expectSuccess(runSignalbox(["version"]))).toBe(manifest.version);
    expect(await expectSuccess(runSignalbox(["--version"]))).toBe(manifest.version);
  });
});

describe("--json prints one document", () => {
  test("for every command", async () => {
    await using box = await createMachineWithKey();
    const script = { organization: "acme", name: "Script", scope: "write", revokedAt: null };
    const documents: [string[], unknown][] = [
      [["orgs", "create", "Beta"], { slug: "beta", name: "Beta" }],
      [
        ["orgs", "list"],
        [
          { slug: "acme", name: "Acme" },
          { slug: "beta", name: "Beta" },
        ],
      ],
      [[...newKey, "--scope", "read"], { key: expect.stringMatching(keyShape) }],
      [
        ["keys", "list"],
        [
          { ...script, expiresAt: null },
          { ...script, scope: "read" },
        ],
      ],
      [["migrate"], { migrated: 0 }],
    ];
    for (const [command, expected] of documents) {
      const { exitCode, stdout } = await box.run([...command, "--json"]);
      expect([command, exitCode]).toEqual([command, 0]);
      expect(JSON.parse(stdout)).toMatchObject(expected as object);
    }
    const version = JSON.parse(await expectSuccess(runSignalbox(["version", "--json"])));
    expect(version).toMatchObject({ version: manifest.version, bun: Bun.version });
  });

  test("an empty list is an empty document", async () => {
    await using box = await createMachineWithKey();
    expect(JSON.parse(await expectSuccess(box.run(["users", "list", "--json"])))).toEqual([]);
  });
});

describe("wrong usage exits with 2 and shows the valid usage", () => {
  const cases: [string[], RegExp][] = [
    [["frobnicate"], /unknown command 'frobnicate'/],
    [["orgs"], /Usage: signalbox orgs/],
    [["orgs", "create"], /missing required argument 'name'/],
    [["orgs", "create", " "], /name must not be blank/],
    [["orgs", "list", "--colour"], /unknown option '--colour'/],
    [["keys", "create", "--name", "x"], /'--org <slug>' not specified/],
    [["keys", "create", "--org", "acme"], /'--name <name>' not specified/],
    [[...newKey, "--scope", "admin"], /Allowed choices are read, write/],
    [[...newKey, "--expires", "30"], /--expires must be a duration/],
    [["serve", "--port", "65536"], /port number from 0 to 65535/],
    [["serve", "--port", "0x10"], /port number from 0 to 65535/],
    [["serve", "--rate-limit", "-1"], /whole number of requests/],
    [["serve", "--tls-cert", "cert.pem"], /--tls-key must be given with --tls-cert/],
  ];
  for (const [command, message] of cases)
    test(`signalbox ${command.join(" ")}`, async () => {
      await using box = createMachine();
      const { exitCode, stdout, stderr } = await runSignalbox(command, { cwd: box.directory });
      expect([exitCode, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(message);
    });
});

describe("a failed action exits with 1 and one sentence", () => {
  const cases: [string, string[], string][] = [
    [
      "a key for an unknown organization",
      ["keys", "create", "--org", "nobody", "--name", "x"],
      "signalbox: There is no organization with the slug nobody.\n",
    ],
    [
      "a key for an unknown group",
      [...newKey, "--group", "01a1fb99-3c58-7a90-b1d2-0f4e6a8c2b35"],
      "signalbox: groupIds names no monitor group of this organization.\n",
    ],
    [
      "revoking an unknown key",
      ["keys", "revoke", "nothing"],
      "signalbox: There is no API key with this id; see `keys list`.\n",
    ],
  ];
  for (const [name, command, sentence] of cases)
    test(name, async () => {
      await using box = await createMachineWithKey();
      const run = await box.run(command);
      expect(run).toEqual({ exitCode: 1, stdout: "", stderr: sentence });
    });

  test("revoking a key a second time", async () => {
    await using box = await createMachineWithKey();
    const [{ id }] = JSON.parse(await expectSuccess(box.run(["keys", "list", "--json"])));
    await expectSuccess(box.run(["keys", "revoke", id]));
    const { exitCode, stderr } = await box.run(["keys", "revoke", id]);
    expect([exitCode, stderr]).toEqual([1, "signalbox: This API key was already revoked.\n"]);
  });
});

describe("data of another version is rejected with 4 and stays unchanged", () => {
  const histories: [string, string][] = [
    [
      "a newer one",
      "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 9999999999999)",
    ],
    ["one of another history", "UPDATE __drizzle_migrations SET hash = 'edited'"],
  ];
  for (const [name, change] of histories)
    test(name, async () => {
      await using box = await createMachineWithKey();
      const file = join(box.dataDir, "signalbox.db");
      const changed = new Database(file);
      changed.run(change);
      changed.close();
      const before = await Bun.file(file).bytes();
      for (const command of [["serve", "--port", "0"], ["migrate"], ["orgs", "list"]])
        expect((await box.run(command)).exitCode).toBe(4);
      expect(Buffer.compare(await Bun.file(file).bytes(), before)).toBe(0);
    });
});

describe("while the server runs", () => {
  test("an organization and a key created meanwhile work, and a revoked key stops", async () => {
    await using box = createMachine();
    const { url } = await box.serve();
    await expectSuccess(box.run(["orgs", "create", "Acme"]));
    const { id, key } = JSON.parse(await expectSuccess(box.run([...newKey, "--json"])));
    const api = createServerClient(url, key);
    const waitForStatus = async (expected: number) => {
      await waitUntil(async () => (await api("GET", "/api/v1/incidents")).status === expected);
    };
    await waitForStatus(200);
    await expectSuccess(box.run(["keys", "revoke", id]));
    await waitForStatus(401);
    expect((await api("POST", "/api/v1/incidents", { title: "x" })).status).toBe(401);
  });

  test("migrate finds nothing to do", async () => {
    await using box = await createMachineWithKey();
    await box.serve();
    expect(await expectSuccess(box.run(["migrate"]))).toBe("The data is up to date.");
  });

  test("a read key created meanwhile can read and cannot write", async () => {
    await using box = await createMachineWithKey();
    const { url } = await box.serve();
    const reader = createServerClient(
      url,
      await expectSuccess(box.run([...newKey, "--scope", "read"])),
    );
    expect((await reader("GET", "/api/v1/incidents")).status).toBe(200);
    expect((await reader("POST", "/api/v1/incidents", { title: "x" })).status).toBe(403);
  });
});
