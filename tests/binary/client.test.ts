import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { binary, getFreePort, type Run, runSignalbox } from "../support/binary.ts";
import type { Json } from "../support/json.ts";
import {
  createServerClient,
  createMachineWithKey,
  type ServerClient,
  expectSuccess,
} from "../support/machine.ts";
import { createScratch } from "../support/scratch-directories.ts";
import { replyWith, startTarget } from "../support/target.ts";

const newDirectory = createScratch();
let box: Awaited<ReturnType<typeof createMachineWithKey>>;
let server: string;
let api: ServerClient;

beforeAll(async () => {
  box = await createMachineWithKey();
  const served = await box.serve({ flags: ["--allow-target", "127.0.0.0/8"] });
  server = served.url;
  api = createServerClient(server, box.key);
});
afterAll(() => box[Symbol.asyncDispose]());

/** A person's account: a separate environment. */
function createAccountEnvironment(variables: Record<string, string> = {}) {
  const home = newDirectory();
  const env = { PATH: `${dirname(binary)}:${process.env["PATH"]}`, HOME: home, ...variables };
  return {
    cwd: home,
    env,
    credentials: join(home, ".config", "signalbox", "credentials.json"),
    run: (...args: string[]): Promise<Run> => runSignalbox(args, { cwd: home, env }),
    json: async (...args: string[]): Promise<Json> =>
      JSON.parse(await expectSuccess(runSignalbox([...args, "--json"], { cwd: home, env }))),
  };
}

const buildVisitor = () =>
  createAccountEnvironment({ SIGNALBOX_URL: server, SIGNALBOX_KEY: box.key });

/** A monitor of the appliance's port or of a closed one, after its first check. */
async function createMonitor(name: string, isUp: boolean): Promise<Json> {
  const port = isUp ? Number(new URL(server).port) : getFreePort();
  const monitor = { type: "tcp", name, host: "127.0.0.1", port, retries: 0 };
  const { json } = await api("POST", "/api/v1/monitors", monitor);
  await api("POST", `/api/v1/monitors/${json.data.id}/check`);
  return json.data;
}

let shop: Promise<Json> | undefined;
/** The workflow of the document. */
const getWebShop = () => (shop ??= createMonitor("Web shop", true));

const document = await Bun.file(join(import.meta.dir, "..", "..", "docs", "client.md")).text();

/** Logs in on a terminal and returns its output. */
async function logIn(
  { cwd, env }: ReturnType<typeof createAccountEnvironment>,
  responses: [RegExp, string][],
) {
  let output = "";
  const child = Bun.spawn([binary, "login"], {
    cwd,
    env,
    terminal: {
      data(terminal, data) {
        output += new TextDecoder().decode(data);
        const [question, reply] = responses[0] ?? [];
        if (question === undefined || !question.test(output)) return;
        responses.shift();
        terminal.write(`${reply}\r`);
      },
    },
  });
  const exitCode = await child.exited;
  child.terminal?.close();
  return { exitCode, shown: output };
}

test("login asks for address and key on a terminal, hides the key, and stores it for this person only", async () => {
  const me = createAccountEnvironment();
  const { exitCode, shown } = await logIn(me, [
    [/Address of the Signalbox: /, `${server}/`],
    [/API key: /, box.key],
  ]);
  expect([exitCode, shown.includes(box.key), shown.includes(me.credentials)]).toEqual([
    0,
    false,
    true,
  ]);
  expect(
    [me.credentials, dirname(me.credentials)].map((path) => statSync(path).mode & 0o777),
  ).toEqual([0o600, 0o700]);
  expect((await me.json("status")).monitors).toHaveProperty("down");
  expect(await me.run("logout")).toMatchObject({ exitCode: 0, stdout: "" });
  expect(readFileSync(me.credentials, "utf8")).not.toContain("sbx_");
  expect((await me.run("status")).exitCode).toBe(2);
});

test("login reads a key from standard input, a file or an option, and does not store a rejected one", async () => {
  const me = createAccountEnvironment();
  writeFileSync(join(me.cwd, "key"), `${box.key}\n`);
  const wrong = join(me.cwd, "wrong");
  writeFileSync(wrong, `sbx_${"x".repeat(43)}`);
  const login = ["login", "--server", server];
  expect(await me.run(...login, "--key-file", wrong)).toMatchObject({
    exitCode: 6,
    stderr: expect.stringContaining("does not accept this key"),
  });
  expect(await Bun.file(me.credentials).exists()).toBe(false);
  expect(await me.run(...login, "--key", box.key, "--key-file", "key")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--key or --key-file, not both"),
  });
  expect((await me.run("monitor", "list", "--server", server, "--key", box.key)).exitCode).toBe(0);
  expect((await me.run(...login, "--key-file", "key")).exitCode).toBe(0);
  const child = Bun.spawn([binary, ...login], {
    cwd: me.cwd,
    env: me.env,
    stdin: new Blob([box.key]),
    stderr: "pipe",
  });
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([
    0,
    expect.stringContaining(me.credentials),
  ]);
  expect((await me.run("monitor", "list")).exitCode).toBe(0);
});

test("a key is sent only to its own server", async () => {
  await using other = await startTarget(replyWith(200, "{}"));
  const elsewhere = other.at("").replace(/\/$/, "");
  const me = createAccountEnvironment();
  writeFileSync(join(me.cwd, "key"), box.key);
  await expectSuccess(me.run("login", "--server", server, "--key-file", "key"));
  const stored = await me.run("status", "--server", elsewhere);
  const variables = createAccountEnvironment({ SIGNALBOX_URL: server, SIGNALBOX_KEY: box.key });
  const inVariable = await variables.run("status", "--server", elsewhere);
  expect([stored.exitCode, inVariable.exitCode, other.asked]).toEqual([2, 2, []]);
  const named = createAccountEnvironment({ SIGNALBOX_KEY: box.key });
  expect((await named.run("status", "--server", elsewhere)).exitCode).toBe(6);
  expect(other.asked[0]?.headers.authorization).toBe(`Bearer ${box.key}`);
});

test("monitors are listed, paused, resumed and checked by name, start of a name or id", async () => {
  const me = buildVisitor();
  const [shop, blog] = [
    await createMonitor("Listed shop", true),
    await createMonitor("Listed blog", false),
  ];
  const [found, ...others] = await me.json("monitor", "list", "--search", "LISTED s");
  expect([found.id, others]).toEqual([shop.id, []]);
  const list = (await expectSuccess(me.run("monitor", "list", "--search", "Listed"))).split("\n");
  expect(list.map((line) => line.split(/ {2,}/)[0])).toEqual(["name", blog.name, shop.name]);

  const unclear = await me.run("monitor", "pause", "listed");
  expect([unclear.exitCode, unclear.stdout]).toEqual([2, ""]);
  for (const { id, name } of [shop, blog]) expect(unclear.stderr).toContain(`${id}  ${name}`);
  expect(await me.run("monitor", "pause", "listed s", blog.id)).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: `${shop.name} is paused.\n${blog.name} is paused.\n`,
  });
  const paused = await me.json("monitor", "list", "--search", "Listed", "--status", "paused");
  expect(paused.length).toBe(2);
  const resumed = await me.json("monitor", "resume", shop.name, "listed B");
  expect(resumed.map(({ paused }: Json) => paused)).toEqual([false, false]);

  expect(
    (await expectSuccess(me.run("monitor", "check", "listed s"))).startsWith(`${shop.name}: up in`),
  ).toBe(true);
  const failed = await me.run("monitor", "check", "listed s", "listed b");
  expect([failed.exitCode, failed.stdout, failed.stderr]).toEqual([
    1,
    expect.stringContaining(`${blog.name}: down: The connection was refused.\n`),
    `signalbox: Not up: ${blog.name}.\n`,
  ]);
  expect((await me.run("monitor", "check", "nobody is called this")).exitCode).toBe(1);
});

test("an incident is opened, updated and resolved, and found by title while it is open", async () => {
  const me = buildVisitor();
  const shop = await createMonitor("Incident shop", true);
  const id = await expectSuccess(
    me.run(
      "incident",
      "open",
      "Checkout is slow",
      "--monitor",
      "incident s",
      "--severity",
      "major",
    ),
  );
  const update = ["incident", "update", "checkout", "--status", "identified"];
  const updated = await me.json(...update, "--message", "It is **cold**.", "--severity", "minor");
  expect(updated).toMatchObject({
    id,
    status: "identified",
    severity: "minor",
    public: true,
    monitorIds: [shop.id],
    updates: [{ message: "Incident opened." }, { message: "It is **cold**." }],
  });
  expect(await me.run("incident", "resolve", "Check", "--message", "Warm.")).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: "Checkout is slow: resolved.\n",
  });
  expect((await me.run("incident", "resolve", "Check")).exitCode).toBe(1);
  const again = await me.json("incident", "update", id, "--title", "Checkout was slow");
  expect([again.title, again.updates.at(-1).message]).toEqual(["Checkout was slow", "Warm."]);
  const wrong = await me.run("incident", "open", "x".repeat(501));
  expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining("title must")]);
  expect(await me.run("incident", "open", "A", "--severity", "bad")).toMatchObject({ exitCode: 2 });
});

test("status counts monitors, lists outages, open incidents and maintenance, and sets its exit code", async () => {
  const me = buildVisitor();
  const { json } = await api("POST", "/api/v1/monitor-groups", { name: "Maintained group" });
  const maintain = ["maintenance", "start", "New firmware", "--for", "30m"];
  expect((await me.run(...maintain)).exitCode).toBe(2);
  const started = await me.json(...maintain, "--group", "maintained");
  expect(started).toMatchObject({ state: "running", groupIds: [json.data.id], public: true });
  expect(Date.parse(started.endsAt) - Date.parse(started.startsAt)).toBe(30 * 60_000);
  const id = await expectSuccess(me.run("incident", "open", "Fire", "--internal"));
  const down = await createMonitor("Status", false);

  const shown = await me.run("status");
  expect(shown.exitCode).toBe(1);
  expect(shown.stdout).toMatch(/\b\d+ down\b/);
  for (const part of [down.name, "The connection was refused.", `Fire`, id, started.id])
    expect(shown.stdout).toContain(part);
  const { stdout } = await me.run("status", "--json");
  const status = JSON.parse(stdout);
  expect(status.monitors.down).toBe(status.down.length);
  expect(status.down.map((monitor: Json) => monitor.id)).toContain(down.id);
  expect(status.incidents.map((incident: Json) => incident.id)).toContain(id);
  expect(status.maintenance.map((window: Json) => window.id)).toContain(started.id);

  expect(await me.run("maintenance", "end", "new")).toMatchObject({ exitCode: 0, stdout: "" });
  const ended = (await api("GET", `/api/v1/maintenance-windows/${started.id}`)).json.data;
  expect(ended.state).toBe("over");
  expect((await me.run("maintenance", "end", "new")).exitCode).toBe(1);
  for (const { name } of status.down) await expectSuccess(me.run("monitor", "pause", name));
  expect(await me.run("status")).toMatchObject({ exitCode: 0, stderr: "" });
  const unreachableServer = createAccountEnvironment({
    SIGNALBOX_URL: `http://127.0.0.1:${getFreePort()}`,
    SIGNALBOX_KEY: box.key,
  });
  expect((await unreachableServer.run("status")).exitCode).toBe(6);
});

type Step = { name: string; run: string; if?: string };

/** Runs a job like GitHub: a failed step skips the following ones, except for `always` and `failure`. */
async function runJob(steps: readonly Step[], me: ReturnType<typeof createAccountEnvironment>) {
  const ran: string[] = [];
  let hasFailed = false;
  const file = join(me.cwd, "github-env");
  writeFileSync(file, "");
  for (const { name, run, if: when = "success()" } of steps) {
    if (when === "success()" ? hasFailed : when === "failure()" && !hasFailed) continue;
    const given = readFileSync(file, "utf8").split("\n").filter(Boolean);
    const variables = Object.fromEntries(given.map((line) => line.split(/=(.*)/s)));
    const child = Bun.spawn(["bash", "-e", "-c", run.replaceAll("${{ github.run_number }}", "7")], {
      cwd: me.cwd,
      env: { ...me.env, ...variables, GITHUB_ENV: file },
      stdout: "pipe",
      stderr: "pipe",
    });
    const texts = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
    const [exitCode] = await Promise.all([child.exited, ...texts]);
    ran.push(`${name}: ${exitCode}`);
    hasFailed ||= exitCode !== 0;
  }
  return ran;
}

test("the documented deploy job pauses alerts, always resumes them, and opens an incident when it fails", async () => {
  const [, block = ""] = /^```yaml\n([^]*?)^```/m.exec(document) ?? [];
  const { env, steps } = (Bun.YAML.parse(block) as Json).jobs.deploy;
  expect(Object.keys(env)).toEqual(["SIGNALBOX_URL", "SIGNALBOX_KEY"]);
  const me = buildVisitor();
  const { id } = await getWebShop();
  const script = join(me.cwd, "deploy.sh");
  const listed = join(me.cwd, "windows.json");
  const deploy = (exitCode: number) => {
    const request = `curl -fs -H "Authorization: Bearer $SIGNALBOX_KEY" "$SIGNALBOX_URL/api/v1/maintenance-windows?state=running" > ${listed}`;
    writeFileSync(script, `#!/bin/sh\n${request}\nexit ${exitCode}\n`, { mode: 0o700 });
  };
  const listRunning = async () =>
    (await api("GET", "/api/v1/maintenance-windows?state=running")).json.data.filter(
      ({ title }: Json) => title === "Deploy 7",
    );

  deploy(0);
  expect(await runJob(steps, me)).toEqual([
    "Hold alerts: 0",
    "Deploy: 0",
    "Alert again: 0",
    "Check: 0",
  ]);
  expect(JSON.parse(readFileSync(listed, "utf8")).data).toMatchObject([
    { title: "Deploy 7", monitorIds: [id] },
  ]);
  expect(await listRunning()).toEqual([]);
  deploy(1);
  expect(await runJob(steps, me)).toEqual([
    "Hold alerts: 0",
    "Deploy: 1",
    "Alert again: 0",
    "Report the failure: 0",
  ]);
  expect(await listRunning()).toEqual([]);
  const { incidents } = JSON.parse((await me.run("status", "--json")).stdout);
  expect(incidents).toContainEqual(
    expect.objectContaining({ title: "Deploy 7 failed", severity: "major", monitorIds: [id] }),
  );
});

test("the commands of the document work as shown", async () => {
  const [, block = ""] = /^## Commands\n\n```sh\n([^]*?)^```/m.exec(document) ?? [];
  const me = buildVisitor();
  await getWebShop();
  const phone = { type: "manual", name: "Phone line" };
  expect((await api("POST", "/api/v1/monitors", phone)).status).toBe(201);
  const lines = block.trim().split("\n");
  expect(lines.length).toBeGreaterThan(9);
  for (const line of lines) {
    const child = Bun.spawn(["bash", "-c", line], { ...me, stdout: "pipe", stderr: "pipe" });
    const texts = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
    const [exitCode, , error] = await Promise.all([child.exited, ...texts]);
    // Monitors of other tests in this file can be down.
    const isFine = exitCode === 0 || (line === "signalbox status" && exitCode === 1);
    expect([line, isFine, isFine ? "" : error]).toEqual([line, true, ""]);
  }
});

test("the shell uses the printed completion", async () => {
  const me = createAccountEnvironment();
  // A function of the package bash-completion.
  const helper = "_get_comp_words_by_ref() { words=(signalbox maint); cur=maint; cword=1; }";
  const script = `${helper}
    source <(signalbox completion bash)
    __signalbox_complete; echo "\${COMPREPLY[@]}"
    complete -p signalbox`;
  const child = Bun.spawn(["bash", "--norc", "-c", script], { env: me.env, stdout: "pipe" });
  expect(await new Response(child.stdout).text()).toBe(
    "maintenance\ncomplete -F __signalbox_complete signalbox\n",
  );
  expect((await me.run("completion", "tcsh")).exitCode).toBe(2);
});
