import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createVault } from "../../src/core/security/secrets.ts";
import { binary } from "../support/binary.ts";
import {
  readFirstLines,
  createMachine,
  createMachineWithKey,
  expectSuccess,
} from "../support/machine.ts";

const password = "a long enough password";
const claim = { organization: "Acme", name: "Ada", email: "ada@acme.example", password };

/** A client that behaves like the admin page, with its cookie. */
function createPageClient(url: string) {
  let cookie = "";
  return async (method: string, path: string, body?: object) => {
    const response = await fetch(`${url}/dashboard${path}`, {
      method,
      headers: {
        Origin: url,
        Cookie: cookie,
        ...(body && { "Content-Type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return { status: response.status, json: await response.json() };
  };
}

async function runWithStdin(dataDir: string, args: string[], text: string) {
  const run = Bun.spawn([binary, ...args, "--data-dir", dataDir], {
    stdin: new Blob([text]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = [
    await new Response(run.stdout).text(),
    await new Response(run.stderr).text(),
  ];
  return { exitCode: await run.exited, stdout, stderr };
}

describe("the first run", () => {
  test("prints a link whose token is in a 0600 file and claims the appliance once", async () => {
    await using box = createMachine();
    const server = await box.serve();
    const text = await readFirstLines(server.child);
    const token = /Set it up +http:\/\/127\.0\.0\.1:\d+\/set-up#([0-9A-Za-z]{43})\n/.exec(
      text,
    )?.[1];
    const file = join(box.dataDir, "set-up-token");
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual([
      `${token}\n`,
      0o600,
    ]);
    const page = createPageClient(server.url);
    expect((await page("GET", "/session")).json.data.state).toBe("set-up");
    expect((await page("POST", "/set-up", { ...claim, token })).status).toBe(201);
    expect((await page("GET", "/session")).json.data.state).toBe("signed-in");
    expect((await page("GET", "/api/v1/monitors")).status).toBe(200);
    expect(existsSync(file)).toBe(false);
    expect((await page("POST", "/set-up", { ...claim, token })).status).toBe(409);
    await server.stop();
    const again = await box.serve();
    expect(await readFirstLines(again.child)).not.toContain("set-up");
    const back = createPageClient(again.url);
    const { email } = claim;
    expect((await back("POST", "/sign-in", { email, password })).json.data.state).toBe("signed-in");
  });

  test("a restart prints a new link and invalidates the old one", async () => {
    await using box = createMachine();
    const file = join(box.dataDir, "set-up-token");
    const first = await box.serve();
    const old = readFileSync(file, "utf8").trim();
    await first.stop("SIGKILL");
    const second = await box.serve();
    expect(readFileSync(file, "utf8").trim()).not.toBe(old);
    const page = createPageClient(second.url);
    expect((await page("POST", "/set-up", { ...claim, token: old })).status).toBe(403);
  });
});

describe("users on the command line", () => {
  const create = ["users", "create", "--org", "acme"];
  const ada = [...create, "--email", "ada@acme.example", "--name", "Ada"];

  test("the first of an organization owns it, and signs in with the printed password while the server runs", async () => {
    await using box = createMachine();
    const server = await box.serve();
    await expectSuccess(box.run(["orgs", "create", "Acme"]));
    const { exitCode, stdout, stderr } = await box.run(ada);
    expect([exitCode, stderr]).toEqual([0, "Keep this password: it is not shown again.\n"]);
    expect(stdout).toMatch(/^[0-9A-Za-z]{20}\n$/);
    const page = createPageClient(server.url);
    expect((await page("GET", "/session")).json.data.state).toBe("signed-out");
    const signIn = { email: "ada@acme.example", password: stdout.trim() };
    expect((await page("POST", "/sign-in", signIn)).status).toBe(200);
    const { organizations } = (await page("GET", "/session")).json.data;
    expect(organizations).toMatchObject([{ slug: "acme", role: "owner" }]);
    await expectSuccess(box.run([...create, "--email", "bea@acme.example", "--name", "Bea"]));
    const users = JSON.parse(await expectSuccess(box.run(["users", "list", "--json"])));
    expect(users).toMatchObject([
      { organization: "acme", email: "ada@acme.example", role: "owner", twoFactor: "off" },
      { organization: "acme", email: "bea@acme.example", role: "member", twoFactor: "off" },
    ]);
  });

  test("a password reset ends all sessions, a link signs in once, and a lost second factor is removed on request", async () => {
    await using box = await createMachineWithKey();
    const secret = await expectSuccess(box.run(ada));
    const server = await box.serve();
    const page = createPageClient(server.url);
    const email = "ada@acme.example";
    await page("POST", "/sign-in", { email, password: secret });
    expect((await page("GET", "/people")).status).toBe(200);
    const reset = ["users", "reset-password", "ADA@acme.example"];
    const fresh = await expectSuccess(box.run(reset));
    expect((await page("GET", "/people")).status).toBe(401);
    expect((await page("POST", "/sign-in", { email, password: secret })).status).toBe(401);
    expect((await page("POST", "/sign-in", { email, password: fresh })).status).toBe(200);
    const link = new URL(await expectSuccess(box.run(["users", "sign-in-link", email])));
    expect([link.port, link.pathname]).toEqual([new URL(server.url).port, "/sign-in"]);
    const token = link.hash.slice(1);
    expect((await page("POST", "/sign-in/link", { token })).status).toBe(200);
    expect((await page("POST", "/sign-in/link", { token })).status).toBe(404);
    await server.stop();
    const database = new Database(join(box.dataDir, "signalbox.db"));
    const key = Buffer.from((await Bun.file(join(box.dataDir, "secret.key")).text()).trim(), "hex");
    const [[id]] = database.query("SELECT id FROM people").values() as [[string]];
    // The command rejects a directory whose key opens none of its secrets.
    database.run("UPDATE people SET totp_secret = ?", [
      createVault(key).seal("JBSWY3DPEHPK3PXP", `person/${id}/totp`),
    ]);
    const runGuarded = () =>
      database.query("SELECT totp_secret IS NULL FROM people").values()[0]?.[0];
    await expectSuccess(box.run(reset));
    expect(runGuarded()).toBe(0);
    await expectSuccess(box.run([...reset, "--without-two-factor"]));
    expect(runGuarded()).toBe(1);
    database.close();
  });

  test("a password from standard input must satisfy the rules and is never printed", async () => {
    await using box = await createMachineWithKey();
    const runWithPassword = (text: string) =>
      runWithStdin(box.dataDir, [...ada, "--password-stdin"], text);
    const bad = await runWithPassword("short\n");
    expect([bad.exitCode, bad.stdout]).toEqual([2, ""]);
    expect(bad.stderr).toBe("signalbox: The password must have at least 10 characters.\n");
    expect((await runWithPassword("ada@acme.example\n")).exitCode).toBe(2);
    expect(await runWithPassword(`${password}\n`)).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    const server = await box.serve();
    const signIn = { email: claim.email, password };
    expect((await createPageClient(server.url)("POST", "/sign-in", signIn)).status).toBe(200);
  });

  test("an e-mail address that another organization set grants no access", async () => {
    await using box = await createMachineWithKey();
    await expectSuccess(box.run(["orgs", "create", "Umbrella"]));
    await expectSuccess(box.run(ada));
    const umbrella = ["users", "create", "--org", "umbrella", "--email", "ceo@acme.example"];
    const mallory = await expectSuccess(box.run([...umbrella, "--name", "Mallory"]));
    const ceo = [...create, "--email", "ceo@acme.example", "--role", "owner"];
    const result = await box.run([...ceo, "--name", "Cleo"]);
    expect([result.exitCode, result.stderr]).toEqual([
      0,
      "Another person signs in with ceo@acme.example, too, in another organization: Cleo is a new person.\nKeep this password: it is not shown again.\n",
    ]);
    const buildUsers = (...args: string[]) => box.run(["users", ...args]);
    const readList = async () =>
      JSON.parse(await expectSuccess(buildUsers("list", "--json"))).map(
        ({ organization, name, administrator }: Record<string, string>) =>
          `${organization} ${name} ${administrator}`,
      );
    expect(await readList()).toEqual(["acme Ada yes", "acme Cleo no", "umbrella Mallory no"]);
    for (const command of ["reset-password", "revoke-administrator"]) {
      const { exitCode, stdout, stderr } = await buildUsers(command, "ceo@acme.example");
      expect([command, exitCode, stdout]).toEqual([command, 1, ""]);
      expect(stderr).toContain("say --org");
    }
    const granted = await buildUsers(
      "grant-administrator",
      "ceo@acme.example",
      "--org",
      "acme",
      "--json",
    );
    expect(JSON.parse(granted.stdout)).toMatchObject({ name: "Cleo", organizations: ["acme"] });
    expect(await readList()).toEqual(["acme Ada yes", "acme Cleo yes", "umbrella Mallory no"]);
    const server = await box.serve();
    const page = createPageClient(server.url);
    const signIn = { email: "ceo@acme.example", password: mallory };
    expect((await page("POST", "/sign-in", signIn)).status).toBe(200);
    const { organizations } = (await page("GET", "/session")).json.data;
    expect(organizations.map(({ slug }: { slug: string }) => slug)).toEqual(["umbrella"]);
  });

  test("a person with an account is added to another organization with their full name", async () => {
    await using box = await createMachineWithKey();
    await expectSuccess(box.run(["orgs", "create", "Umbrella"]));
    await expectSuccess(box.run(ada));
    const join = ["users", "create", "--org", "umbrella", "--email", "ADA@acme.example"];
    const { exitCode, stdout, stderr } = await box.run([...join, "--existing", "acme"]);
    expect([exitCode, stdout, stderr]).toEqual([
      0,
      "",
      "Ada (ada@acme.example, of acme, umbrella) signs in with the password they have.\n",
    ]);
    const reset = await box.run(["users", "reset-password", "ada@acme.example"]);
    expect([reset.exitCode, reset.stderr]).toEqual([
      0,
      "Ada (ada@acme.example, of acme, umbrella) is signed out everywhere.\nKeep this password: it is not shown again.\n",
    ]);
    const bea = ["users", "create", "--org", "umbrella", "--email", "bea@acme.example"];
    const cases: [string[], number, string][] = [
      [[...join, "--existing", "acme"], 1, "already belongs to the organization"],
      [[...bea, "--existing", "acme"], 1, "No person signs in"],
      [[...bea, "--existing", "none"], 1, "no organization"],
      [
        [...bea, "--existing", "acme", "--name", "Bea"],
        2,
        "--existing can't be combined with --name",
      ],
      [bea, 2, "--name is required"],
    ];
    for (const [args, code, message] of cases) {
      const refused = await box.run(args);
      expect([args, refused.exitCode, refused.stdout]).toEqual([args, code, ""]);
      expect(refused.stderr).toContain(message);
    }
  });

  test("wrong usage exits with 2, a failed action with 1", async () => {
    await using box = await createMachineWithKey();
    await expectSuccess(box.run(ada));
    const cases: [string[], number, string][] = [
      [ada, 1, "already belongs to the organization"],
      [["users", "create", "--org", "none", ...ada.slice(4)], 1, "no organization"],
      [[...create, "--email", "nobody", "--name", "N"], 2, "--email must be an e-mail address"],
      [[...create, "--email", "n@acme.example", "--name", " "], 2, "--name must not be blank"],
      [
        [...create, "--email", "n@acme.example", "--name", "N", "--role", "god"],
        2,
        "Allowed choices are viewer, member, admin, owner",
      ],
      [["users", "reset-password", "nobody@acme.example"], 1, "No person signs in"],
    ];
    for (const [args, code, message] of cases) {
      const { exitCode, stdout, stderr } = await box.run(args);
      expect([args, exitCode, stdout]).toEqual([args, code, ""]);
      expect(stderr).toContain(message);
    }
  });
});
