/** Runs the commands of docs/cluster.md on three simulated machines. */
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binary, getFreePort, waitUntilHealthy } from "../support/binary.ts";
import { hasRqlite, rqlited } from "../support/rqlite.ts";

const document = join(import.meta.dir, "../../docs/cluster.md");

type Step = { where: "first" | "each" | "others" | "any"; text: string };

/** The commands of the section, each with its machines. */
function readSteps(title: string): Step[] {
  const [, section = ""] = readFileSync(document, "utf8").split(`\n## ${title}\n`);
  const [text = ""] = section.split("\n## ");
  let where: Step["where"] = "first";
  return text.split(/^```(?:sh)?\n/m).flatMap((part, index) => {
    if (index % 2 === 1) return [{ where, text: part }];
    const [, said] =
      /\*\*On (each|the first|the second and the third|any) machine\*\*/.exec(part) ?? [];
    if (said === "each" || said === "any") where = said;
    else if (said !== undefined) where = said === "the first" ? "first" : "others";
    return [];
  });
}

/**
 * Three machines as folders of this one. Absolute paths of the document are below those folders,
 * 10.0.0.N is a loopback address with free ports, and stand-ins replace the service manager, ssh
 * and root.
 */
function createMachines() {
  const root = mkdtempSync(join(tmpdir(), "signalbox-document-"));
  const network = `127.${1 + (process.pid % 250)}.${1 + Math.floor(Math.random() * 250)}.`;
  const ports: Record<string, number> = {
    3210: getFreePort(),
    4001: getFreePort(),
    4002: getFreePort(),
  };
  const running: Bun.Subprocess[] = [];
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  const rootOf = (n: number) => join(root, `${n}`);
  const getHome = (n: number) => join(rootOf(n), "home");
  const adaptCommands = (n: number, text: string) =>
    text
      .replaceAll("10.0.0.", network)
      .replace(/(?<=:)(4001|4002)\b/g, (port) => `${ports[port]}`)
      .replace(/(?<![\w.])\/(etc|var|usr\/local)\//g, `${rootOf(n)}/$1/`);
  const programs = {
    sudo: 'exec "$@"',
    scp: `for last; do :; done
      n=\${last%:}; n=\${n##*.}
      while [ $# -gt 1 ]; do cp "$1" "${root}/$n/home/"; shift; done`,
    ssh: `cd "${root}/\${1##*.}/home" && exec sh -c "$2"`,
    systemctl: 'echo "$*" >> "$MACHINE/asked"',
  };
  const executables = {
    rqlited: `exec "${rqlited}" "$@"`,
    // Without systemd, the test runs the unit that would be installed.
    signalbox: `case "$1 $2" in
      "service install") shift 2
        "${binary}" service print "$@" > "$MACHINE/etc/systemd/system/signalbox.service"
        systemctl enable --now signalbox ;;
      *) exec "${binary}" "$@" ;;
    esac`,
  };
  const writeProgram = (file: string, text: string) => {
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
  };
  mkdirSync(join(root, "bin"));
  for (const [name, text] of Object.entries(programs)) writeProgram(join(root, "bin", name), text);
  for (const n of [1, 2, 3]) {
    mkdirSync(getHome(n), { recursive: true });
    mkdirSync(join(rootOf(n), "etc/systemd/system"), { recursive: true });
    mkdirSync(join(rootOf(n), "var/lib"), { recursive: true });
  }

  /** Interprets the parts of a unit that these units use, like systemd. */
  function start(n: number, name: string) {
    const unit = readFileSync(join(rootOf(n), `etc/systemd/system/${name}.service`), "utf8");
    const credentials = join(rootOf(n), `run/${name}`);
    mkdirSync(credentials, { recursive: true });
    for (const [, key = "", file = ""] of unit.matchAll(/^LoadCredential=([^:]+):(.+)$/gm))
      writeFileSync(
        join(credentials, key),
        readFileSync(adaptCommands(n, file.replace(rootOf(n), ""))),
      );
    const [, command = ""] = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit) ?? [];
    const words = adaptCommands(n, command.replaceAll(rootOf(n), ""))
      .replaceAll("%d", credentials)
      .replaceAll("${CREDENTIALS_DIRECTORY}", credentials);
    const log = Bun.file(join(rootOf(n), `${name}.log`));
    const { PATH } = process.env;
    const child = Bun.spawn(["sh", "-c", `exec ${words}`], {
      stdout: log,
      stderr: log,
      env: { PATH, MACHINE: rootOf(n), SIGNALBOX_PORT: `${ports[3210]}` },
    });
    running.push(child);
    void child.exited.then(() => ended.reject(new Error(`${name} has ended.\n${buildLogs()}`)));
  }

  const buildLogs = () =>
    Bun.spawnSync(["sh", "-c", `tail -n 5 ${root}/*/*.log`])
      .stdout.toString()
      .slice(-4_000);

  return {
    /** The real address for a documented port. */
    hostOf: (n: number, port: 3210 | 4001) => `${network}${n}:${ports[port]}`,
    /** Resolves when Signalbox responds there; rejects when a started process has exited. */
    untilHealthy(n: number) {
      return Promise.race([waitUntilHealthy(`http://${this.hostOf(n, 3210)}`), ended.promise]);
    },
    /** Copies a release into the home of the first machine. */
    release() {
      for (const [name, text] of Object.entries(executables))
        writeProgram(join(getHome(1), name), text);
    },
    /** Runs the commands as documented, and returns their output. */
    async type(n: number, text: string): Promise<string> {
      const path = [join(rootOf(n), "usr/local/bin"), join(root, "bin"), process.env["PATH"]];
      const shell = Bun.spawn(
        ["bash", "-e", "-c", adaptCommands(n, text.replace(/^n=\d$/m, `n=${n}`))],
        {
          cwd: getHome(n),
          stdout: "pipe",
          stderr: "pipe",
          env: { PATH: path.join(":"), MACHINE: rootOf(n), HOME: getHome(n) },
        },
      );
      const [out, error] = await Promise.all([
        new Response(shell.stdout).text(),
        new Response(shell.stderr).text(),
      ]);
      if ((await shell.exited) !== 0) throw new Error(`${text}\n${out}${error}${buildLogs()}`);
      const request = Bun.file(join(rootOf(n), "asked"));
      for (const [, name = ""] of ((await request.exists()) ? await request.text() : "").matchAll(
        /^enable --now (\w+)$/gm,
      ))
        start(n, name);
      await request.delete().catch(() => {});
      return out;
    },
    ca: () => readFileSync(join(getHome(1), "ca.pem"), "utf8"),
    async [Symbol.asyncDispose]() {
      for (const child of running.toReversed()) child.kill("SIGKILL");
      await Promise.all(running.map(({ exited }) => exited));
      rmSync(root, { recursive: true, force: true });
    },
  };
}

describe.skipIf(!hasRqlite)("docs/cluster.md", () => {
  test("creates a cluster of three machines with the commands as shown", async () => {
    await using three = createMachines();
    const steps = readSteps("Three machines from nothing");
    expect(steps.map(({ where }) => where)).toEqual([
      "first",
      "first",
      "first",
      "each",
      "first",
      "first",
      "others",
      "any",
    ]);
    for (const { where, text } of steps) {
      if (text.includes("https://github.com/")) {
        three.release();
        continue;
      }
      const numbers = { first: [1], each: [1, 2, 3], others: [2, 3], any: [3] }[where];
      for (const n of numbers) {
        // A person waits for the start before the next command.
        if (text.includes("secret.key")) await three.untilHealthy(where === "first" ? n : 1);
        if (where !== "any") await three.type(n, text);
      }
    }
    for (const n of [2, 3]) await three.untilHealthy(n);
    const isWhole = (text: string) =>
      text.match(/ alive /g)?.length === 3 &&
      [1, 2, 3].every((n) =>
        new RegExp(`^${three.hostOf(n, 4001)} +(leader|follower) +reachable$`, "m").test(text),
      );
    // A handover between machines takes a moment, and a busy machine responds late.
    let output = "";
    while (!isWhole(output))
      output = await three.type(3, steps.at(-1)?.text ?? "").catch((error: Error) => error.message);
    for (const n of [1, 2, 3]) {
      expect((await fetch(`http://${three.hostOf(n, 3210)}/`)).status).toBe(200);
      const database = `https://${three.hostOf(n, 4001)}/status`;
      expect((await fetch(database, { tls: { ca: three.ca() } })).status).toBe(401);
    }
  });
});
